"""Requests, selections and visits; a visit as a query, and back; links in circulation."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.core.address_fields import declared, words_of
from explorer.core.errors import RemovedError
from explorer.core.i18n import LANGUAGES, say, section
from explorer.core.interventions import Interventions
from explorer.core.look import (
    MOVED_SECTIONS,
    SECTIONS,
    Look,
    MomentPair,
    Reading,
    Request,
    Selection,
    from_query,
    to_query,
)
from explorer.core.section_questions import QUESTIONS
from explorer.core.trace import Trace
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.core.zoom import Zoom
from tests.support.example_traces import example_trace
from tests.support.shared_examples import shared_examples


@pytest.mark.parametrize("run", ["recorded/reverse", "runs/reverse-3", "runs/my run"])
def test_a_pair_is_read_as_it_was_written(run):
    pair = MomentPair(run, 50, 1000)
    assert str(pair) == f"{run}@50-1000"
    assert MomentPair.parse(str(pair)) == pair


@pytest.mark.parametrize(
    "word",
    [
        "",
        "reverse",
        "recorded/reverse",
        "recorded/reverse@50",
        "other/reverse@1-2",
        "recorded/reverse@1-x",
        "recorded/reverse@-1-2",
        "recorded/@1-2",
        f"runs/{'r' * 81}@1-2",
    ],
)
def test_anything_else_is_none(word):
    assert MomentPair.parse(word) is None


DONE = Interventions.parse(["ablate cross.1.2", "close cross.0.0 1 2", "omit mask"])


def test_an_unchanged_request_keeps_the_rest():
    asked = Request("sort", "1 2", 5, ((2, 7),), DONE)
    assert asked.is_changed
    assert asked.unchanged() == Request("sort", "1 2", 5)
    assert not asked.unchanged().is_changed


def test_another_text_keeps_the_interventions_that_it_can_have():
    asked = Request("sort", "1 2", 5, ((2, 7),), DONE).of_text(text="3 4 5")
    kept = Interventions.parse(["ablate cross.1.2", "omit mask"])
    assert asked == Request("sort", "3 4 5", 5, interventions=kept)


@pytest.mark.parametrize(
    ("selection", "kept", "missing"),
    [
        (Selection("cross", 1, 3, 6), Selection("cross", 1, 3, 6), ()),
        (Selection("cross", 2, 3, 7), Selection("cross", None, 3, None), ("layer", "step")),
        (Selection("decoder", 0, 4, 0), Selection("decoder", 0, None, None), ("head", "step")),
        (Selection("memory", 0, 0, 2), Selection(step=2), ("site",)),
        (Selection("cross", zoom=Zoom(0, 5, 3, 7)), Selection("cross", zoom=Zoom(0, 5, 3, 7)), ()),
        (Selection("cross", zoom=Zoom(0, 6, 3, 7)), Selection("cross"), ("zoom",)),
        (Selection("cross", zoom=Zoom(0, 5, 3, 8)), Selection("cross"), ("zoom",)),
    ],
)
def test_a_selection_is_reduced_to_what_a_trace_has(selection, kept, missing):
    assert selection.within(example_trace()) == (kept, missing)


def test_a_trace_without_a_target_has_no_steps():
    trace = Trace.from_arrays(["a"], encoder=[[[[1.0]]]])
    assert Selection("encoder", 0, 0, 1).within(trace) == (Selection("encoder", 0, 0), ("step",))
    assert Selection("encoder", 0, 0).within(trace) == (Selection("encoder", 0, 0), ())


def test_the_steps_of_an_encoder_alone_are_its_mask_tokens():
    columns = {
        "step": np.array([2]),
        "rank": np.array([1]),
        "id": np.array([5]),
        "probability": np.array([0.5], np.float32),
        "chosen": np.array([True]),
        "forced": np.array([False]),
    }
    weights = np.full((1, 1, 2, 2), 0.5)
    trace = Trace.from_arrays(["a", "[MASK]"], encoder=weights)
    arrays = {**trace.arrays, **{f"steps.{name}": column for name, column in columns.items()}}
    masked = replace(trace, arrays=arrays, candidate_tokens=("x",))
    assert Selection("encoder", 0, 0, 2).within(masked) == (Selection("encoder", 0, 0, 2), ())
    assert Selection("encoder", 0, 0, 1).within(masked)[1] == ("step",)


def test_what_a_model_is_given_is_a_text_or_a_message():
    none = {"source_language": None, "target_language": None}
    assert Request("m", "x", 2, ((1, 2),)).given == {"text": "x", "pair": None, **none}
    assert Request("m", "x", pair="").given["pair"] is None
    assert Request("m", "x", pair="y").given["pair"] == "y"
    asked = Request("m", "x", reading=Reading("fr", "de", chat=True))
    languages = {"source_language": "fr", "target_language": "de"}
    assert asked.given == {"messages": [{"role": "user", "content": "x"}], **languages}


def test_what_is_on_stays_and_the_rest_is_of_the_model_that_is_looked_at():
    seen = Selection("cross", 1, 2, 3, "input", guess=True, cell=(2, 0), shows="alti", words=True)
    assert Selection("decoder").with_flags_of(seen) == Selection("decoder", guess=True, words=True)
    assert seen.with_flags_of(Selection()) == replace(seen, guess=None, words=None)


def test_a_page_without_a_server_computes_nothing():
    seen = Selection("cross", 1, 2, 3, inside="score", cell=(2, 0), shows="alti", next="heads")
    assert seen.without_server() == replace(seen, shows=None, next=None)


def test_a_report_is_read_part_by_part():
    report = {"site": "../x", "layer": 1.0, "head": "2", "step": 0, "cell": [1, 2], "more": 3}
    assert Selection.reported(report) == Selection(layer=1, cell=(1, 2))


KINDS = (Request, Reading, Look, Selection)
INITIAL_REQUESTS = {
    "reverse": Request("reverse", "7 3 9 1 4"),
    "sort": Request("sort", "甲 乙"),
}
LINES = ("ablate cross.1.2 mean", "close cross.*.* 3 4", "row cross.0.0 1 0.5,0.5")
PERMALINK = Look(
    Request("sort", "1 <b> 甲", 5, ((2, 7), (11, 2)), Interventions.parse(LINES)),
    Selection(
        "decoder",
        1,
        0,
        3,
        "input",
        guess=True,
        ahead=False,
        cell=(2, 1),
        inside="depth",
        shows="alti",
        next="heads",
        words=True,
    ),
    section="removal",
)


def test_a_link_restores_the_visit_it_was_made_from():
    assert from_query(to_query(PERMALINK), INITIAL_REQUESTS) == (PERMALINK, ())


def test_a_url_without_a_query_opens_the_first_model_with_its_text():
    permalink, refused = from_query({}, INITIAL_REQUESTS)
    assert permalink == Look(Request("reverse", "7 3 9 1 4"))
    assert refused == ()


REVERSE = Request("reverse", "1 2 3")  # padding only where a link names it
OLD_LINKS = [
    ({"model": "sort"}, Look(Request("sort", "甲 乙"))),
    ({"text": "1 2 3"}, Look(REVERSE)),
    (
        {"model": "reverse", "text": "1 2 3", "pad": "0", "step": "4"},
        Look(Request("reverse", "1 2 3", 0), Selection(step=4)),
    ),
    (
        {"text": "1 2 3", "force": "2.9_3.7", "site": "decoder", "layer": "1", "head": "2"},
        Look(Request("reverse", "1 2 3", 0, ((2, 9), (3, 7))), Selection("decoder", 1, 2)),
    ),
    ({"text": "1 2 3", "part": "metrics"}, Look(REVERSE, section="metrics")),
    (
        {
            "text": "1 2 3",
            "part": "removal",
            "do": "ablate cross.1.2;ablate encoder.0.1 mean;keep decoder.0.1;"
            "close cross.1.2 3 4;open decoder.*.* 2 5;row cross.1.2 3 0.5,0.25,1e-07,2",
        },
        Look(
            replace(
                REVERSE,
                interventions=Interventions.gather(
                    ablate=[("cross", 1, 2), ("encoder", 0, 1, "mean")],
                    keep=[("decoder", 0, 1)],
                    edit_mask=[("cross", 1, 2, 3, 4), ("decoder", None, None, 2, 5, True)],
                    override_row=[("cross", 1, 2, 3, (0.5, 0.25, 1e-07, 2.0))],
                ),
            ),
            section="removal",
        ),
    ),
]


@pytest.mark.parametrize(("query", "permalink"), OLD_LINKS)
def test_links_made_by_earlier_versions_open_the_same_visit(query, permalink):
    assert from_query(query, INITIAL_REQUESTS) == (permalink, ())
    assert query.items() <= to_query(permalink).items()


EXAMPLES = shared_examples("address")


def as_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of JSON, with the pairs of a look."""
    pairs = {"forced": lambda pairs: tuple(map(tuple, pairs)), "cell": tuple}
    pairs["interventions"] = Interventions.parse
    return {name: pairs.get(name, lambda value: value)(value) for name, value in fields.items()}


@pytest.mark.parametrize(("selection", "words"), EXAMPLES["selections"])
def test_a_selection_is_written(selection, words):
    look = Look(INITIAL_REQUESTS["reverse"], Selection(**as_tuples(selection)))
    assert to_query(look) == to_query(Look(look.request)) | words


@pytest.mark.parametrize("example", EXAMPLES["visits"])
def test_a_link_opens_what_it_opens_on_a_page_without_a_server(example):
    """The examples are those of the test of `address.ts`."""
    initial_requests = {"reverse": Request("reverse", "7 3 9"), "sort": Request("sort", "甲 乙")}
    look, refused = from_query(example["query"], initial_requests)
    assert look == Look(
        Request(**as_tuples(example["request"])), Selection(**as_tuples(example["view"]))
    )
    assert sorted(refused) == sorted(example["refused"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", "/etc/reverse.safetensors"),
        ("model", "reverse\x00"),
        ("force", "__import__('os')"),
        ("force", "_".join(["1.2"] * 200)),
        ("do", "ablate cross.1"),
        ("do", "ablate cross.1.2;rm -rf /"),
        ("do", "row cross.1.2 3 nan"),
        ("do", ";".join(["close cross.0.0 1 1"] * 99)),
        ("part", "../train"),
        ("ask", "4"),  # of a section that is asked nothing
        ("step", "9" * 400),
        ("text", "1 " * 5_000),
        ("pair", "A dog."),  # to a model that reads one text
        ("text", "1" * (LONGEST_LINKED_TEXT + 1)),
    ],
)
def test_an_invalid_parameter_is_left_out_and_named(name, value):
    permalink, refused = from_query({**to_query(PERMALINK), name: value}, INITIAL_REQUESTS)
    assert refused == (name,)
    for language in LANGUAGES:
        assert say(f"explore.part_{name}", language, longest=9)
    assert permalink.request.model in INITIAL_REQUESTS
    assert value not in to_query(permalink).values()


def test_tokens_forced_on_an_unknown_model_are_not_forced_on_another():
    query = to_query(PERMALINK) | {"model": "gone"}
    permalink, refused = from_query(query, INITIAL_REQUESTS)
    assert permalink.request.forced == ()
    assert not permalink.request.interventions
    assert refused == ("model",)


def test_a_text_as_long_as_a_link_may_carry_is_taken():
    permalink, refused = from_query({"text": "1" * LONGEST_LINKED_TEXT}, INITIAL_REQUESTS)
    assert (len(permalink.request.text), refused) == (LONGEST_LINKED_TEXT, ())


def test_a_second_text_is_in_the_link_of_a_model_that_reads_one():
    initial_requests = {"bert": Request("bert", "The cat.", 0, pair="")}
    asked = Look(Request("bert", "The cat.", 0, pair="A dog & <b>"))
    assert from_query(to_query(asked), initial_requests) == (asked, ())
    bare, refused = from_query({"model": "bert"}, initial_requests)
    assert (bare.request, refused) == (initial_requests["bert"], ())
    assert "pair" not in to_query(bare)
    longest = {"pair": "1" * (LONGEST_LINKED_TEXT + 1)}
    assert from_query(longest, initial_requests)[1] == ("pair",)


def test_a_translator_opens_without_padding_unless_the_link_names_some():
    initial_requests = {"own": Request("own", "Hello.", 0)}
    bare, _ = from_query({"model": "own"}, initial_requests)
    linked, _ = from_query({"model": "own", "text": "Good day.", "pad": "2"}, initial_requests)
    assert bare.request == Request("own", "Hello.", 0)
    assert linked.request == Request("own", "Good day.", 2)


def test_a_comparison_is_in_the_link_and_the_head_beside_only_there():
    visit = Look(Request("reverse", "7 3", 2), Selection("cross", 1, 2, other=(0, 3)))
    compared = replace(visit, section="compare", compared="sort")
    query = to_query(compared)
    assert (query["with"], query["other"]) == ("sort", "0.3")
    assert from_query(query, INITIAL_REQUESTS) == (compared, ())
    assert "other" not in to_query(replace(visit, section="removal"))
    moments = replace(visit, section="compare", compared="recorded/reverse@50-1000")
    assert from_query(to_query(moments), INITIAL_REQUESTS) == (moments, ())


def test_another_text_is_in_the_link_and_needs_no_model():
    compared = Look(
        INITIAL_REQUESTS["reverse"], section="compare", compared="@text", other_text="3 2 1"
    )
    query = to_query(compared)
    assert query["other_text"] == "3 2 1"
    assert "with" not in query
    assert from_query(query, INITIAL_REQUESTS) == (compared, ())
    both, refused = from_query({**query, "with": "sort"}, INITIAL_REQUESTS)
    assert (both, refused) == (compared, ("with",))
    changes = Look(INITIAL_REQUESTS["reverse"], section="compare", compared="@changes")
    assert from_query(to_query(changes), INITIAL_REQUESTS) == (changes, ())


def test_what_a_section_is_asked_is_in_its_link_alone():
    section, ask = "search", "key=%E2%96%81cat&offset=-1"
    asked = Look(INITIAL_REQUESTS["reverse"], section=section, ask=ask)
    query = to_query(asked)
    assert query["ask"] == ask
    assert from_query(query, INITIAL_REQUESTS) == (asked, ())
    assert "ask" not in to_query(replace(asked, section="metrics"))
    assert section in QUESTIONS.keys() <= set(SECTIONS)
    refused = from_query({**query, "ask": "heads"}, INITIAL_REQUESTS)
    assert refused == (replace(asked, ask=""), ("ask",))


@pytest.mark.parametrize("section", MOVED_SECTIONS)
def test_a_link_to_a_section_that_is_gone_opens_what_remains(section):
    assert section not in SECTIONS
    assert MOVED_SECTIONS[section]["part"] in SECTIONS
    look = replace(PERMALINK, section="")
    link = to_query(look) | {"part": section, "ask": "6"}
    found, refused = from_query(link, INITIAL_REQUESTS)
    assert (found.request, found.selection, refused) == (look.request, look.selection, ())
    assert words_of(found) == MOVED_SECTIONS[section]
    for language in LANGUAGES:
        assert RemovedError(f"section_{section}").in_language(language)


def test_what_is_patched_is_in_the_link_of_two_texts_and_of_no_other_comparison():
    texts = Look(
        INITIAL_REQUESTS["reverse"],
        section="compare",
        compared="@text",
        other_text="3",
        ask="heads",
    )
    assert from_query(to_query(texts), INITIAL_REQUESTS) == (texts, ())
    models = replace(texts, compared="sort", other_text="")
    query = to_query(models)
    assert "ask" not in query
    refused = from_query({**query, "ask": "heads"}, INITIAL_REQUESTS)
    assert refused == (replace(models, ask=""), ("ask",))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("other_text", "1" * (LONGEST_LINKED_TEXT + 1)),
        ("with", "@text"),
        ("with", "nonsense"),
        ("with", "../x"),
        ("ask", "heads"),  # without another text
        ("other", "1"),
        ("other", "a.b"),
    ],
)
def test_a_comparison_with_what_is_not_there_is_refused(name, value):
    permalink, refused = from_query({"part": "compare", name: value}, INITIAL_REQUESTS)
    assert refused == (name,)
    assert permalink == Look(INITIAL_REQUESTS["reverse"], section="compare")


def test_languages_and_a_chat_are_in_the_link_of_a_model_of_the_library():
    initial_requests = {
        "m2m": Request("m2m", "Hello.", reading=Reading()),
        "own": Request("own", "1 2"),
    }
    reading = Reading("fra_Latn", "zho_Hans", chat=True)
    asked = Look(Request("m2m", "Bonjour.", reading=reading))
    query = to_query(asked)
    assert query["source_language"] == "fra_Latn"
    assert query["chat"] == "1"
    assert from_query(query, initial_requests) == (asked, ())
    bare, refused = from_query({"model": "m2m"}, initial_requests)
    assert (bare.request, refused) == (initial_requests["m2m"], ())
    assert not to_query(bare).keys() & {"source_language", "target_language", "chat"}
    for name, word in [("source_language", "<b>"), ("target_language", "x" * 99), ("chat", "2")]:
        for model in initial_requests:
            permalink, refused = from_query({"model": model, name: word}, initial_requests)
            assert permalink.request == initial_requests[model]
            assert refused == (name,)
    _, refused = from_query(query | {"model": "own"}, initial_requests)
    assert refused == ("source_language", "target_language", "chat")


def test_every_parameter_has_a_name_to_be_refused_by():
    words = {one.word for kind in KINDS for one in declared(kind).values()}
    for language in LANGUAGES:
        assert {f"part_{word}" for word in words} <= section("explore", language).keys()


def test_what_a_random_query_names_is_written_as_it_was_read():
    """Whatever of it is refused; what is written names the same look again."""
    rng = random.Random(5)
    initial_requests = INITIAL_REQUESTS | {
        "bert": Request("bert", "The cat.", pair=""),
        "m2m": Request("m2m", "Hello.", reading=Reading()),
    }
    words = {one.word: one.kind for kind in KINDS for one in declared(kind).values()}
    texts = [
        "",
        "0",
        "1",
        "3",
        "17",
        "1.2",
        "x",
        "9999",
        "10000",
        "bert",
        "m2m",
        "1.4_3.5",
        "@text",
    ]
    for _ in range(2_000):
        named = rng.sample(sorted(words), rng.randrange(12))
        query = {word: rng.choice([*texts, *words[word].choices]) for word in named}
        look, refused = from_query(query, initial_requests)
        assert set(refused) <= query.keys() | {"with"}
        again, none = from_query(to_query(look), initial_requests)
        assert none == ()
        assert to_query(again) == to_query(look)
