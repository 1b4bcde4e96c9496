import math
from ast import literal_eval

import numpy as np
import pytest

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions, removed_heads
from explorer.core.interventions import expected_errors as expected
from explorer.core.verbs import VERBS, Ablation, CellEdit, Keep, RowOverride, typed, word_of

LINES = (
    "ablate cross.1.2",
    "ablate encoder.0.1 mean",
    "ablate decoder.1.*",
    "keep decoder.0.1",
    "close cross.1.2 3 4",
    "open decoder.*.* 2 5",
    "row cross.1.2 3 0.5,0.25,1e-07,2",
    "omit mask",
    "draw 0.8 7",
)


def test_lines_are_read_and_written_back():
    done = Interventions.parse(LINES)
    assert done.texts() == LINES
    assert done.ablate == (
        ("cross", 1, 2, "zero"),
        ("encoder", 0, 1, "mean"),
        ("decoder", 1, None, "zero"),
    )
    assert done.keep == (Keep("decoder", 0, 1),)
    assert done.edit_mask[1] == CellEdit("decoder", None, None, 2, 5, open=True)
    assert done.override_row == (RowOverride("cross", 1, 2, 3, (0.5, 0.25, 1e-7, 2.0)),)
    assert Interventions.parse(done.texts()) == done
    assert hash(done) == hash(Interventions.gather(**done.options()))


def test_an_attention_is_edited_by_what_names_its_layer_or_all_layers():
    done = Interventions.parse(LINES)
    masked, unmasked = done.edit_mask
    assert done.on_attention("cross", 1) == ([masked], list(done.override_row))
    assert done.on_attention("decoder", 7) == ([unmasked], [])
    assert done.on_attention("cross", 0) == done.on_attention("encoder", 1) == ([], [])


def test_words_of_the_command_line_are_read_as_those_of_links():
    typed = ["mask cross.1.2 3 4", "unmask decoder.*.* 2 5", "override-row cross.1.2 3 0.5,0.5"]
    linked = ["close cross.1.2 3 4", "open decoder.*.* 2 5", "row cross.1.2 3 0.5,0.5"]
    assert Interventions.parse(typed) == Interventions.parse(linked)
    assert list(Interventions.parse(typed).texts()) == linked


@pytest.mark.parametrize("weights", ["0.5, 0,1", "0.5 0 1", " 0.5 ,0, 1,"])
def test_weights_of_a_row_may_stand_apart(weights):
    done = Interventions.parse([f"row cross.1.2 3 {weights}"])
    assert done.texts() == ("row cross.1.2 3 0.5,0,1",)


def test_tuples_are_accepted_and_no_interventions_are_false():
    done = Interventions.gather(ablate=[("cross", 1, 2)], keep=[["cross", 0, 0]])
    assert done.ablate == (Ablation("cross", 1, 2),)
    assert done
    assert not Interventions()
    assert not Interventions.parse([])


def test_numbers_of_numpy_are_read_as_those_of_python():
    cell = ("cross", 1, 2, *np.argwhere(np.eye(2))[1])
    done = Interventions.gather(
        ablate=[("cross", 1, head) for head in np.arange(2)], edit_mask=[cell]
    )
    lines = ("ablate cross.1.0", "ablate cross.1.1", "close cross.1.2 1 1")
    assert done.texts() == Interventions.parse(lines).texts() == lines
    with pytest.raises(InterventionError):
        Interventions.gather(ablate=[("cross", np.float64(1), 0)])


def test_one_is_removed_and_a_repeated_line_counts_once():
    done = Interventions.parse([*LINES, LINES[0]])
    assert done.texts() == LINES
    assert done.without(done.edit_mask[0]).texts() == LINES[:4] + LINES[5:]
    assert Interventions.of((*done.without(done.keep[0]), done.keep[0])) == done
    assert Interventions.of(reversed(tuple(done))).on_heads.keep == done.keep


def test_each_object_has_its_verb():
    done = Interventions.parse(LINES)
    assert len(done) == len(LINES)
    assert [word_of(one) for one in done] == [line.split()[0] for line in LINES]
    assert {word_of(one) for one in done} == set(VERBS)
    assert Interventions.of(done) == done


def test_those_on_whole_heads_and_those_on_cells_are_distinguished():
    done = Interventions.parse(LINES)
    assert done.on_heads.texts() == LINES[:4]
    assert done.on_cells.texts() == LINES[4:7]
    assert done.on_any_text.texts() == (*LINES[:4], *LINES[7:])
    assert not done.on_heads.on_cells


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("", "bad_intervention"),
        ("ablate", "bad_intervention"),
        ("ablate cross.1", "bad_intervention"),
        ("ablate cross.1.x", "bad_intervention"),
        ("ablate cross.*.1", "bad_intervention"),
        ("row cross.1.* 0 1", "bad_intervention"),
        ("ablate cross.1.2 median", "bad_intervention"),
        ("close cross.1.2 1_0 4", "bad_intervention"),
        (f"ablate cross.1.{'9' * 5000}", "bad_intervention"),
        (f"close cross.1.2 3 {10**12}", "bad_intervention"),
        ("remove cross.1.2", "bad_intervention"),
        ("close cross.1.2 3", "bad_intervention"),
        ("row cross.1.2 3", "bad_intervention"),
        ("row cross.1.2 3 a,b", "bad_intervention"),
        ("row cross.1.2 3 ,", "bad_intervention"),
        ("ablate middle.1.2", "no_such_site"),
        ("row cross.1.2 3 nan,1", "bad_row"),
        ("row cross.1.2 3 inf", "bad_row"),
        ("row cross.1.2 3 1,-1", "bad_row"),
        ("row cross.1.2 3 0,0", "bad_row"),
    ],
)
def test_an_unreadable_line_is_refused(line, key):
    with pytest.raises(InterventionError) as caught:
        Interventions.parse([line])
    assert caught.value.key == key


@pytest.mark.parametrize("weights", [(), (math.nan, 1.0), (-1.0, 2.0)])
def test_invalid_weights_of_a_row_are_refused(weights):
    with pytest.raises(InterventionError):
        Interventions.gather(override_row=[("cross", 0, 0, 0, weights)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"ablate": [("cross", 1)]},
        {"ablate": [("cross", None, 1)]},
        {"ablate": [("cross", "1", 1)]},
        {"ablate": [("cross", 1.0, 1)]},
        {"keep": [("cross", 0, 0, 0)]},
        {"edit_mask": [("cross", 0, 0, None, 1)]},
        {"override_row": [("cross", 0, 0, 0, ["x"])]},
        {"override_row": [("cross", 0, 0, 0, 3)]},
        {"override_row": [("cross", None, 0, 0, 3)]},
        {"override_row": [("cross", 0, None, 0, (1.0,))]},
        {"ablate": "cross.1.2"},
        {"keep": None},
    ],
)
def test_invalid_tuples_are_refused(wrong):
    with pytest.raises(InterventionError):
        Interventions.gather(**wrong)


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ({"ablate": [("cross", 1)]}, ["(site, layer, head, how)", "was ('cross', 1)."]),
        ({"ablate": ("cross", 1, 2)}, ["list of (site, layer, head, how)", "was 'cross'."]),
        (
            {"edit_mask": [("cross", 0, 0, None, 1)]},
            ["(site, layer, head, query, key, open)", 'as [("cross", 1, 2, 3, 0)], or'],
        ),
        (
            {"override_row": [("cross", 1, 2)]},
            ["(site, layer, head, query, weights)", 'as [("cross", 1, 2, 3, (0.5, 0.5))], or'],
        ),
    ],
)
def test_the_sentence_on_an_invalid_tuple_names_its_fields(wrong, parts):
    with pytest.raises(InterventionError) as caught:
        Interventions.gather(**wrong)
    assert caught.value.key == "bad_intervention_tuple"
    assert all(part in str(caught.value) for part in parts)


@pytest.mark.parametrize("name", ["ablate", "keep", "edit_mask", "override_row"])
def test_the_example_of_a_sentence_is_one_of_its_own_kind(name):
    for wrong in (3, [3]):
        with pytest.raises(InterventionError) as caught:
            Interventions.gather(**{name: wrong})
        example = literal_eval(str(caught.value.facts["example"]))
        assert str(caught.value.facts["example"]) in caught.value.in_language("zh")
        (one,) = Interventions.gather(**{name: [example]})
        fields = caught.value.facts.get("fields", "")
        assert not fields or len(str(fields).split(", ")) == len(type(one)._fields)


def test_what_a_person_reads_has_the_words_of_the_command_line():
    lines = ["ablate cross.1.* mean", "keep encoder.0.1", "mask cross.*.* 3 4"]
    lines += ["unmask decoder.0.1 2 5", "override-row cross.1.2 3 0.5,0.5"]
    assert [typed(one) for one in Interventions.parse(lines)] == lines


def test_unmasking_a_cell_makes_an_integrity_check_fail():
    assert expected({}) == set()
    assert expected({"interventions": ["ablate cross.1.2", "close decoder.0.0 1 0"]}) == set()
    assert expected({"interventions": ["open decoder.*.* 1 2"]}) == {"cached_equals_full"}
    assert expected({"interventions": ["open cross.0.0 1 2"]}) == {"padding_changes_nothing"}
    assert expected({"config": {"causal": False}}) == {"cached_equals_full"}
    assert expected({"config": {"causal": True}}) == expected({"config": 3}) == set()
    assert expected({"interventions": 3}) == set()  # a malformed file
    assert expected({"interventions": ["open", None, "open x"]}) == set()
    assert Interventions.parse(["open decoder.0.0 1 2"]).counterfactual
    assert not Interventions.parse(["close decoder.0.0 1 0"]).counterfactual


def test_only_an_unmasked_later_position_excuses_the_check_of_decoding():
    for line, excused in (
        ("open decoder.*.* 3 1", set()),
        ("open decoder.*.* 1 3", {"cached_equals_full"}),
        ("open cross.0.0 1 3", {"padding_changes_nothing"}),
        ("nonsense", set()),
    ):
        assert expected({"interventions": [line]}) == excused, line


def test_a_head_is_removed_in_one_way_and_not_kept_as_well():
    assert Interventions.parse(["ablate cross.0.0 mean", "ablate cross.0.0"]).texts() == (
        "ablate cross.0.0",
    )
    with pytest.raises(InterventionError, match="both removed and kept"):
        Interventions.parse(["ablate cross.0.0", "keep cross.0.0"])
    for kept in ("keep cross.0.1", "keep cross.0.*"):
        with pytest.raises(InterventionError, match="both removed and kept"):
            Interventions.parse(["ablate cross.0.*", kept])


def test_the_removed_heads_of_a_site_are_those_named_and_those_not_kept():
    done = Interventions.parse(["ablate cross.1.*", "ablate cross.1.0 mean", "keep decoder.0.*"])
    assert done.removed("cross", 2, 3) == {(1, 0): "mean", (1, 1): "zero", (1, 2): "zero"}
    assert done.removed("decoder", 2, 2) == {(1, 0): "zero", (1, 1): "zero"}
    assert done.removed("encoder", 2, 2) == {}
    assert removed_heads({"interventions": list(done.texts())}, "decoder", 2, 2) == done.removed(
        "decoder", 2, 2
    )


@pytest.mark.parametrize("facts", [{}, {"interventions": 7}, {"interventions": ["ablate", None]}])
def test_malformed_facts_remove_no_head(facts):
    assert removed_heads(facts, "cross", 2, 2) == {}


@pytest.mark.parametrize(
    "parts",
    [
        {"ablate": [(np.ones((2, 2)), 0, 0)]},
        {"ablate": [("cross", 0, 0, np.ones((2, 2)))]},
        {"keep": [(np.ones((2, 2)), 0, 0)]},
        {"edit_mask": [(np.ones((2, 2)), 0, 0, 1, 1)]},
        {"edit_mask": [("cross", 0, 0, 1, 1, np.ones((2, 2)))]},
        {"override_row": [(np.ones((2, 2)), 0, 0, 1, [1.0])]},
    ],
)
def test_a_matrix_is_no_part_of_an_intervention(parts):
    with pytest.raises(InterventionError):
        Interventions.gather(**parts)
