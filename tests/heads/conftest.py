"""The shipped model of the task reverse, whose heads are known."""

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.heads.metrics.evaluation_batches import EvaluationBatch, task_sentences
from explorer.model.explorable import ExplorableModel, load

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture(scope="session")
def reverse_model() -> ExplorableModel:
    return load(CHECKPOINTS / "reverse.safetensors")


@pytest.fixture(scope="session")
def reverse_batch(reverse_model: ExplorableModel) -> EvaluationBatch:
    return task_sentences(reverse_model, 64)


@pytest.fixture(params=["pre", "post"])
def normed_model(request, explorable: ExplorableModel, make_model) -> ExplorableModel:
    """The model `explorable` with two layers on each side, with pre-norm and with post-norm."""
    config = replace(explorable.transformer.config, norm=request.param, encoder_layers=2)
    checkpoint = replace(explorable.checkpoint, model=make_model(config, seed=5))
    return ExplorableModel(checkpoint, request.param)
