"""The shipped model of the task reverse, whose heads are known."""

from pathlib import Path

import pytest

from explorer.heads.evaluation_batches import EvaluationBatch, task_sentences
from explorer.model.explorable import ExplorableModel, load

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture(scope="session")
def reverse_model() -> ExplorableModel:
    return load(CHECKPOINTS / "reverse.safetensors")


@pytest.fixture(scope="session")
def reverse_batch(reverse_model: ExplorableModel) -> EvaluationBatch:
    return task_sentences(reverse_model, 64)
