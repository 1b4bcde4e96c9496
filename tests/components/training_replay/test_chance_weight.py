"""The chance weight against heads that look everywhere alike, on many sequences."""

from dataclasses import replace

import pytest
import torch

from explorer.components.training_replay.chance_weight import chance_weight
from explorer.core.vocabulary import EOS
from explorer.data.toy_data import find_task
from explorer.training.config import TrainingConfig


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_the_chance_weight_is_that_of_a_uniform_head(task):
    config = TrainingConfig(task=task, longest=6, symbols=("1", "2", "3", "4"))
    rule = find_task(task)
    batch = rule.batch(3000, 6, 4, torch.Generator().manual_seed(0))
    weights = []
    for source in batch.source.tolist():
        size = source.index(EOS)
        weights.append(rule.alignment(source[:size]).sum(1).mean() / (size + 1))
    assert chance_weight(config) == pytest.approx(sum(weights) / len(weights), abs=0.01)


def test_a_translation_has_no_chance_weight():
    assert chance_weight(replace(TrainingConfig(), pairs="x.tsv")) is None
