import pytest
import torch

from explorer.model.huggingface.logits import BLOCK, NO_LOGITS, Logits, rows_of_block

LOGITS = torch.arange(2 * 7 * 3, dtype=torch.float32).view(2, 7, 3)


def in_blocks(logits, step, computed):
    def compute(first, end):
        computed.append((first, end))
        return logits[:, first:end]

    return Logits.computed(logits.size(1), logits.size(2), step, compute)


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
    parts = [in_blocks(LOGITS[:, :4], 3, []), *(Logits.of(LOGITS[:, [row]]) for row in (4, 5, 6))]
    joined = Logits.joined(parts)
    assert (joined.rows, joined.width, joined.step) == (7, 3, 3)
    for first in range(7):
        for end in range(first + 1, 8):
            assert torch.equal(joined.read(first, end), LOGITS[:, first:end])
    assert torch.equal(joined.whole(), LOGITS)


def test_one_output_of_a_whole_text_is_one_row():
    logits = Logits.of(LOGITS[:, 0])
    assert (logits.rows, logits.width) == (1, 3)
    assert torch.equal(logits.whole(), LOGITS[:, :1])
    assert NO_LOGITS.rows == 0
    assert not list(NO_LOGITS.blocks())


def test_a_block_takes_four_bytes_a_logit():
    assert rows_of_block(4 * 2 * 3 * 5, 2, 3) == 5
    assert rows_of_block(4 * 2 * 3 * 5 - 1, 2, 3) == 4
    assert rows_of_block(1, 2, 3) == 1
    large = Logits.of(torch.empty(1, 1).expand(1, BLOCK // 4)[:, None].expand(1, 5, -1))
    assert list(large.blocks()) == [(row, row + 1) for row in range(5)]
