"""The tree of a beam search, and the traces of its nodes."""

import pytest

from explorer.core.errors import ConfigError
from explorer.model.beam import Beam
from explorer.model.beam_search import beam
from explorer.model.beam_tree import BeamNode, Fate, penalty


@pytest.fixture
def found(explorable) -> Beam:
    return beam(explorable, "1 2 3", width=3, max_new_tokens=5)


def test_the_table_has_a_row_for_each_node(found):
    table = found.table
    assert list(table.index) == list(range(len(found.nodes)))
    assert list(table.columns) == [
        *("parent", "step", "id", "token", "log_probability", "sum", "fate", "text")
    ]
    firsts = table[table.parent.isna()]
    assert (firsts.step == 1).all()
    others = table[table.parent.notna()]
    parents = table.loc[others.parent.astype(int)]
    assert (parents.step.to_numpy() + 1 == others.step.to_numpy()).all()
    assert set(table.fate) <= {"kept", "ended", "pruned"}


def test_the_trace_of_a_node_has_its_tokens_and_no_more(found):
    for node in (found.best, next(one for one in found.nodes if one.fate == Fate.PRUNED)):
        trace = found.trace(node)
        path = found.path(node)
        assert trace.predicted_tokens == tuple(one.token for one in path)
        assert trace.text == node.text
        assert -trace.losses.sum() == pytest.approx(node.sum, abs=1e-4)
    assert found.trace(found.best.number, capture="full").scores("cross") is not None


def test_the_path_of_greedy_decoding_goes_as_far_as_the_tree(found, explorable):
    greedy = found.greedy
    tokens = explorable.trace("1 2 3").predicted_tokens
    assert tuple(one.token for one in greedy) == tokens[: len(greedy)]
    assert all(one.fate == Fate.KEPT for one in greedy[:-1])


def test_the_best_is_the_first_output(found):
    scores = [found.score(node) for node in found.outputs]
    assert scores == sorted(scores, reverse=True)
    assert found.best == found.outputs[0]
    assert repr(found) == f"Beam(width 3: {len(found.nodes)} nodes, best {found.best.text!r})"


@pytest.mark.parametrize("wrong", [-1, 10_000, "0", 1.0, True])
def test_a_node_that_does_not_exist_is_refused(found, wrong):
    with pytest.raises(ConfigError) as caught:
        found.trace(wrong)
    assert caught.value.key == "no_beam_node"


def test_the_penalty_of_one_token_is_one():
    assert penalty(1, 0.7) == 1
    assert penalty(7, 0) == 1
    assert penalty(7, 1) == pytest.approx(2)


def test_a_node_is_compared_by_what_it_holds():
    one = BeamNode(0, None, 1, 5, "x", -1.0, -1.0, Fate.KEPT, "x")
    assert one == BeamNode(0, None, 1, 5, "x", -1.0, -1.0, Fate.KEPT, "x")
