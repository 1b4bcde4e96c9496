"""Models of the library in memory, without tokens: texts are ids."""

from collections.abc import Callable

import pytest

from explorer.model.huggingface.opening.wrapping import wrapped
from explorer.model.huggingface.traced_model import HuggingFaceModel
from tests.support.huggingface_families import tiny_model


@pytest.fixture(scope="package")
def tiny() -> Callable[[str], HuggingFaceModel]:
    """By family: the model, wrapped once."""
    known: dict[str, HuggingFaceModel] = {}

    def made(name: str) -> HuggingFaceModel:
        if name not in known:
            known[name] = wrapped(tiny_model(name), None, name)
        return known[name]

    return made
