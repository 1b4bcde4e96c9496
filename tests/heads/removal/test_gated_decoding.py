"""Outputs with fewer heads, against traces with these heads removed."""

from dataclasses import replace

import pytest
import torch

from explorer.heads.removal.gated_decoding import decoded, decoded_each, translator
from explorer.model.explorable import ExplorableModel

PAIRS = [("1 2 3", "3 2 1"), ("甲", "甲"), ("3 3 1 2 2", "2 2 1 3 3"), ("2 2", "2 2")]
REMOVED = ([2, 9], [], [0, 1, 14])


@pytest.fixture
def batch(explorable):
    return explorable.passes.pairs(PAIRS, "pairs")


@pytest.fixture
def expected(explorable):
    """The outputs of one sentence at a time, for each of `REMOVED`."""
    heads = explorable.passes.heads
    return [
        [explorable.trace(source, ablate=[heads[n] for n in numbers]).text for source, _ in PAIRS]
        for numbers in REMOVED
    ]


@pytest.fixture
def gates():
    rows = torch.ones(len(REMOVED), 15)
    for row, numbers in zip(rows, REMOVED, strict=True):
        row[numbers] = 0
    return rows


def test_a_translator_is_trained_here_and_without_a_toy_task(explorable):
    facts = {name: fact for name, fact in explorable.facts.items() if name != "task"}
    untrained = ExplorableModel(replace(explorable.checkpoint, facts=facts), "translator")
    assert translator(untrained) is untrained
    toy = replace(explorable.checkpoint, facts={**facts, "task": "reverse"})
    assert translator(ExplorableModel(toy, "toy")) is None


@pytest.mark.parametrize("together", [64, 1])
def test_each_sentence_is_decoded_as_alone(
    explorable, batch, gates, expected, monkeypatch, together
):
    monkeypatch.setattr("explorer.heads.removal.gated_decoding._DECODED_TOGETHER", together)
    assert [decoded(explorable, batch, row) for row in gates] == expected


@pytest.mark.parametrize("most", [256, 1])
def test_several_gates_are_decoded_as_one(explorable, batch, gates, expected, monkeypatch, most):
    monkeypatch.setattr("explorer.heads.removal.gated_decoding._MOST_ROWS", most)
    done: list[float] = []
    assert decoded_each(explorable, batch, gates, progress=done.append) == expected
    assert done == sorted(done)
    assert done[-1] == 1
