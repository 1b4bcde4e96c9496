import math

import pytest
import torch

from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.task_names import RULE_TASKS
from explorer.data.toy_data import (
    FIRST,
    draw_small_alphabets,
    find_task,
    has_held_out,
    held_out,
)


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


@pytest.mark.parametrize("name", RULE_TASKS)
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


@pytest.mark.parametrize("small_alphabets", [0.0, 0.8])
@pytest.mark.parametrize("symbols", [1, 2, 20, 100])
def test_training_batches_have_no_held_out_sequence(symbols, small_alphabets, generator):
    task = find_task("copy")
    batch = task.batch(20_000, 8, symbols, generator, small_alphabets=small_alphabets)
    lengths = (batch.source == EOS).int().argmax(1)
    ids = (batch.source[:, :-1] - FIRST).clamp(min=0)
    assert ids.max() == symbols - 1
    assert not held_out(ids, lengths).any()


def test_evaluation_batches_have_only_held_out_sequences(generator):
    batch = find_task("reverse").held_out_batch(300, 6, range(20), generator)
    ids = batch.source[:, :6] - FIRST
    assert batch.source.shape == (300, 7)
    assert held_out(ids, torch.full((300,), 6)).all()
    assert len(ids.unique(dim=0)) > 290


def test_no_short_sequence_is_held_out(generator):
    batch = find_task("reverse").held_out_batch(300, 2, range(20), generator)
    assert batch.source.shape == (300, 3)


def test_equal_seeds_give_equal_batches():
    one, other = (
        find_task("sort").batch(9, 7, 11, torch.Generator().manual_seed(3)) for _ in range(2)
    )
    assert torch.equal(one.source, other.source)


def test_one_symbol_repeated_is_never_held_out():
    for length in range(1, 17):
        x = torch.arange(20)[:, None].expand(20, 16)
        assert not held_out(x, torch.full((20,), length)).any()
    almost = torch.zeros(20, 6, dtype=torch.long)
    almost[:, 0] = torch.arange(20)
    assert not held_out(almost, torch.full((20,), 6)).any()  # the sum is the first symbol


def test_other_sequences_are_held_out_as_before():
    x = torch.randint(20, (50_000, 9), generator=torch.Generator().manual_seed(1))
    weights = torch.tensor([3**position % 127 for position in range(9)])
    expected = (x * weights).sum(1) % 127 == 0
    assert torch.equal(held_out(x, torch.full((50_000,), 9)), expected)
    assert 300 < int(expected.sum()) < 500


def test_an_alphabet_with_few_held_out_sequences_is_evaluated_on_all(generator):
    assert has_held_out(5, 20)
    assert not has_held_out(4, 20)
    assert next(length for length in range(1, 17) if has_held_out(length, 3)) == 9
    for alphabet in (range(1), range(2)):  # none or one of these is held out
        batch = find_task("copy").held_out_batch(300, 5, alphabet, generator)
        assert set((batch.source[:, :5] - FIRST).flatten().tolist()) == set(alphabet)


def test_an_evaluation_batch_has_the_symbols_of_its_alphabet(generator):
    batch = find_task("sort").held_out_batch(300, 8, range(16, 20), generator)
    ids = batch.source[:, :8] - FIRST
    assert set(ids.flatten().tolist()) == {16, 17, 18, 19}
    assert held_out(ids, torch.full((300,), 8)).all()


def test_without_small_alphabets_a_batch_is_as_it_always_was():
    """Runs from before there were any go on with the same data."""
    batch = find_task("copy").batch(3, 6, 20, torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 7, (3,), generator=generator)
    symbols = torch.randint(20, (3, 6), generator=generator) + FIRST
    for source, length, row in zip(batch.source, lengths, symbols, strict=True):
        assert source.tolist()[:length] == row.tolist()[:length]


def test_the_logarithm_of_a_small_alphabets_size_is_uniform(generator):
    rows = draw_small_alphabets(4000, 200, 20, generator, share=1.0)
    sizes = torch.tensor([len(set(row)) for row in rows.tolist()])
    for size in (1, 2, 3, 4):
        share = math.log((size + 1) / size) / math.log(21)
        assert (sizes == size).double().mean().item() == pytest.approx(share, abs=0.02)


def test_the_share_of_small_alphabets_is_kept(generator):
    rows = draw_small_alphabets(4000, 200, 20, generator, share=0.25)
    all_used = [len(set(row)) == 20 for row in rows.tolist()]
    uniform = 0.75 + 0.25 * math.log(21 / 20) / math.log(21)
    assert sum(all_used) / 4000 == pytest.approx(uniform, abs=0.03)


def test_each_symbol_is_in_a_small_alphabet_equally_often(generator):
    rows = draw_small_alphabets(20_000, 8, 20, generator, share=1.0)
    counts = torch.bincount(rows.flatten(), minlength=20)
    assert counts.min() > 0.9 * counts.max()
