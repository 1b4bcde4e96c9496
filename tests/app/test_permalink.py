import pytest

from explorer.app.permalink import (
    LONGEST_TEXT,
    PAD,
    Place,
    Request,
    Selection,
    from_query,
    to_query,
    within,
)
from explorer.core.trace import Trace
from tests.support.example_traces import example_trace

TEXTS = {"reverse": "7 3 9 1 4", "sort": "甲 乙"}
DONE = ("ablate cross.1.2 mean", "close cross.*.* 3 4", "row cross.0.0 1 0.5,0.5")
PLACE = Place(
    Request("sort", "1 <b> 甲", 5, ((2, 7), (11, 2)), DONE),
    Selection("decoder", 1, 0, 3),
    "experiments",
)


def test_a_link_restores_the_place_it_was_made_from():
    assert from_query(to_query(PLACE), TEXTS) == (PLACE, ())


def test_a_bare_address_opens_the_first_model_with_its_text():
    place, refused = from_query({}, TEXTS)
    assert place == Place(Request("reverse", "7 3 9 1 4", PAD))
    assert refused == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", "../../etc/passwd"),
        ("model", "/etc/reverse.safetensors"),
        ("model", "reverse\x00"),
        ("pad", "99"),
        ("pad", "-1"),
        ("pad", "²"),
        ("force", "2"),
        ("force", "2.7_x"),
        ("force", "__import__('os')"),
        ("force", "_".join(["1.2"] * 200)),
        ("do", "ablate cross.1"),
        ("do", "ablate cross.1.2;rm -rf /"),
        ("do", "row cross.1.2 3 nan"),
        ("do", ";".join(["close cross.0.0 1 1"] * 99)),
        ("part", "../train"),
        ("site", "Cross"),
        ("layer", "1e3"),
        ("head", "0x1"),
        ("step", "9" * 400),
        ("text", "1 " * 5_000),
        ("text", "1" * (LONGEST_TEXT + 1)),
    ],
)
def test_what_cannot_be_is_left_out_and_named(name, value):
    place, refused = from_query({**to_query(PLACE), name: value}, TEXTS)
    assert refused == (name,)
    assert place.request.model in TEXTS
    assert value not in to_query(place).values()


def test_tokens_forced_on_an_unknown_model_are_not_forced_on_another():
    query = to_query(PLACE) | {"model": "gone"}
    place, refused = from_query(query, TEXTS)
    assert place.request.forced == place.request.done == ()
    assert refused == ("model",)


@pytest.mark.parametrize(
    ("selection", "kept", "missing"),
    [
        (Selection("cross", 1, 3, 6), Selection("cross", 1, 3, 6), ()),
        (Selection("cross", 2, 3, 7), Selection("cross", None, 3, None), ("layer", "step")),
        (Selection("decoder", 0, 4, 0), Selection("decoder", 0, None, None), ("head", "step")),
        (Selection("memory", 0, 0, 2), Selection(step=2), ("site",)),
    ],
)
def test_a_selection_is_cut_down_to_what_a_trace_has(selection, kept, missing):
    assert within(selection, example_trace()) == (kept, missing)


def test_a_text_as_long_as_a_link_may_carry_is_taken():
    place, refused = from_query({"text": "1" * LONGEST_TEXT}, TEXTS)
    assert (len(place.request.text), refused) == (LONGEST_TEXT, ())


def test_a_trace_without_a_target_has_no_steps():
    trace = Trace.from_arrays(["a"], encoder=[[[[1.0]]]])
    assert within(Selection("encoder", 0, 0, 1), trace) == (Selection("encoder", 0, 0), ("step",))
    assert within(Selection("encoder", 0, 0), trace) == (Selection("encoder", 0, 0), ())
