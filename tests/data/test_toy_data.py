import pytest
import torch

from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.task_names import TASK_NAMES
from explorer.data.toy_data import FIRST, find_task, held_out


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_batch_agrees_with_the_answers_to_single_sequences(name, generator):
    task = find_task(name)
    batch = task.batch(200, 9, 20, generator)
    assert batch.source.shape == (200, 10)
    assert batch.target.shape == (200, 11)
    for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True):
        size = source.index(EOS)
        symbols = source[:size]
        assert 1 <= size <= 9
        assert min(symbols) >= FIRST
        assert max(symbols) < FIRST + 20
        assert target == [BOS, *task.answer(symbols), EOS, *[PAD] * (9 - size)]
        assert source[size + 1 :] == [PAD] * (9 - size)


def test_every_length_is_drawn(generator):
    batch = find_task("copy").batch(2000, 16, 20, generator)
    lengths = (batch.source == EOS).int().argmax(1)
    counts = torch.bincount(lengths, minlength=17)[1:]
    assert counts.min() > 60


@pytest.mark.parametrize("symbols", [1, 2, 20, 100])
def test_training_batches_have_no_held_out_sequence(symbols, generator):
    batch = find_task("copy").batch(20_000, 8, symbols, generator)
    lengths = (batch.source == EOS).int().argmax(1)
    ids = (batch.source[:, :-1] - FIRST).clamp(min=0)
    seen = held_out(ids, lengths)
    if symbols == 1:  # one symbol makes one sequence a length: nothing else to put there
        assert (ids == 0).all()
    else:
        assert not seen.any()


def test_evaluation_batches_have_only_held_out_sequences(generator):
    batch = find_task("reverse").held_out_batch(300, 6, 20, generator)
    ids = batch.source[:, :6] - FIRST
    assert batch.source.shape == (300, 7)
    assert held_out(ids, torch.full((300,), 6)).all()
    assert len(ids.unique(dim=0)) > 290


def test_no_short_sequence_is_held_out(generator):
    batch = find_task("reverse").held_out_batch(300, 2, 20, generator)
    assert batch.source.shape == (300, 3)


def test_equal_seeds_give_equal_batches():
    one, other = (
        find_task("sort").batch(9, 7, 11, torch.Generator().manual_seed(3)) for _ in range(2)
    )
    assert torch.equal(one.source, other.source)
