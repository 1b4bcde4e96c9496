import numpy as np
import pytest
import torch

from explorer.model import row_logits
from explorer.model.row_logits import (
    BLOCK,
    CANDIDATES,
    NO_LOGITS,
    RowLogits,
    candidate_columns,
    largest_difference,
    rows_of_block,
    step_columns,
)

LOGITS = torch.arange(2 * 7 * 3, dtype=torch.float32).view(2, 7, 3)


def in_blocks(logits, step, computed):
    def compute(first, end):
        computed.append((first, end))
        return logits[:, first:end]

    return RowLogits.computed(logits.size(1), logits.size(2), step, compute)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 9])
def test_rows_are_read_by_whole_blocks(step):
    computed = []
    logits = in_blocks(LOGITS, step, computed)
    for first in range(7):
        for end in range(first + 1, 8):
            assert torch.equal(logits.read(first, end), LOGITS[:, first:end])
    assert set(computed) <= {(first, min(first + step, 7)) for first in range(0, 7, step)}
    computed.clear()
    found = [logits.read(first, end) for first, end in logits.blocks()]
    assert torch.equal(torch.cat(found, 1), LOGITS)
    assert computed == list(logits.blocks())  # each block once


def test_parts_that_are_joined_are_read_across_their_borders():
    parts = [
        in_blocks(LOGITS[:, :4], 3, []),
        *(RowLogits.of(LOGITS[:, [row]]) for row in (4, 5, 6)),
    ]
    joined = RowLogits.joined(parts)
    assert (joined.rows, joined.width, joined.step) == (7, 3, 3)
    for first in range(7):
        for end in range(first + 1, 8):
            assert torch.equal(joined.read(first, end), LOGITS[:, first:end])
    assert torch.equal(joined.whole(), LOGITS)


@pytest.mark.parametrize("block", [2**30, 40])
def test_logits_are_computed_when_they_are_read_and_those_of_one_row_alone(monkeypatch, block):
    monkeypatch.setattr(row_logits, "BLOCK", block)
    states, given = torch.arange(2 * 7 * 2, dtype=torch.float32).view(2, 7, 2), []

    def head(some):
        given.append(some.shape[:-1])
        return some @ torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])

    logits = RowLogits.when_read(states, head, 3)
    assert not given
    rows = torch.tensor([6, 2])
    picked = logits.picked(rows)
    assert given == [(2,)]
    expected = head(states)
    assert torch.equal(picked, expected[range(2), rows])
    assert torch.equal(logits.whole(), expected)
    assert torch.equal(RowLogits.of(expected).picked(rows), picked)
    given.clear()
    logits.whole()
    assert not given or block == 40  # a single block is kept


def test_the_logits_of_several_sequences_are_computed_once():
    logits, reads = torch.arange(24.0).view(2, 3, 4), []
    whole = RowLogits.computed(3, 4, 3, lambda one, end: reads.append(one) or logits[:, one:end])
    first, second = whole.each(2)
    assert not reads
    assert torch.equal(first.read(1, 3), logits[:1, 1:3])
    assert torch.equal(second.whole(), logits[1:])
    assert reads == [0]
    assert whole.each(1) == [whole]


def test_each_step_of_decoding_is_one_row():
    steps = RowLogits.of_steps([LOGITS[:, row] for row in range(7)])
    assert (steps.rows, steps.width) == (7, 3)
    assert torch.equal(steps.whole(), LOGITS)


def test_one_output_of_a_whole_text_is_one_row():
    logits = RowLogits.of(LOGITS[:, 0])
    assert (logits.rows, logits.width) == (1, 3)
    assert torch.equal(logits.whole(), LOGITS[:, :1])
    assert NO_LOGITS.rows == 0
    assert not list(NO_LOGITS.blocks())


def test_a_block_takes_four_bytes_a_logit():
    assert rows_of_block(4 * 2 * 3 * 5, 2, 3) == 5
    assert rows_of_block(4 * 2 * 3 * 5 - 1, 2, 3) == 4
    assert rows_of_block(1, 2, 3) == 1
    large = RowLogits.of(torch.empty(1, 1).expand(1, BLOCK // 4)[:, None].expand(1, 5, -1))
    assert list(large.blocks()) == [(row, row + 1) for row in range(5)]


def test_a_head_runs_over_a_block_of_hidden_states(monkeypatch):
    states, weights = torch.randn(2, 7, 4), torch.randn(4, 3)
    seen = []

    def head(rows):
        seen.append(rows.size(1))
        return rows @ weights

    kept = RowLogits.of_states(states, head, 3)
    assert torch.equal(kept.whole(), kept.whole())
    assert seen == [7]
    monkeypatch.setattr(row_logits, "BLOCK", 4 * 2 * 3 * 3)
    logits = RowLogits.of_states(states, head, 3)
    assert seen == [7]  # nothing until it is read
    torch.testing.assert_close(logits.whole(), states @ weights)
    assert seen == [7, 3, 3, 1]


def test_chosen_rows_come_from_their_blocks_alone():
    computed = []
    logits = in_blocks(LOGITS, 2, computed)
    rows = torch.tensor([0, 4, 5])
    found = list(logits.at(rows))
    assert [own.tolist() for own, _ in found] == [[True, False, False], [False, True, True]]
    assert torch.equal(torch.cat([own for _, own in found]), LOGITS[0, rows])
    assert computed == [(0, 2), (4, 6)]


def test_the_largest_difference_is_that_of_all_blocks():
    other = LOGITS.clone()
    other[1, 4, 2] -= 2
    other[0, 6, 0] += 0.5
    assert largest_difference(in_blocks(LOGITS, 2, []), in_blocks(other, 3, [])) == 2


def test_the_token_that_follows_is_listed_with_its_rank_however_low():
    probabilities = torch.arange(20.0).softmax(0).flip(0)[None]  # column 0 is the best
    columns = candidate_columns(
        probabilities.repeat(2, 1), torch.tensor([3, 17]), torch.tensor([False, True]), first_id=2
    )
    steps = columns["steps.step"]
    assert [(steps == step).sum() for step in (1, 2)] == [CANDIDATES, CANDIDATES + 1]
    chosen = columns["steps.chosen"]
    assert columns["steps.rank"][chosen].tolist() == [4, 18]
    assert columns["steps.id"][chosen].tolist() == [5, 19]
    assert columns["steps.forced"][chosen].tolist() == [False, True]
    np.testing.assert_allclose(columns["steps.probability"][0], probabilities[0, 0])


def test_the_columns_of_some_rows_are_joined_from_blocks():
    logits = torch.randn(1, 7, 20, generator=torch.Generator().manual_seed(0))
    rows, chosen = torch.tensor([0, 3, 4, 6]), torch.tensor([2, 19, 5, 7])
    forced = torch.tensor([False, True, False, False])
    whole = RowLogits.of(logits)
    found = step_columns(RowLogits.computed(7, 20, 2, whole.read), rows, chosen, forced, first_id=2)
    expected = candidate_columns(logits[0, rows].softmax(-1)[:, 2:], chosen - 2, forced, 2)
    assert found.keys() == expected.keys()
    steps = (rows + 1).numpy()[expected.pop("steps.step") - 1]
    np.testing.assert_array_equal(found["steps.step"], steps)
    for name, column in expected.items():
        np.testing.assert_allclose(found[name], column, rtol=1e-6)
