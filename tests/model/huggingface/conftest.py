"""Tiny models of the library, each built and opened once for all tests of this folder."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.traced_model import HuggingFaceModel
from tests.support.huggingface_families import ALL, saved, tiny_model

# Trained weights are installed by `make verify` alone.
collect_ignore = [] if ALL else ["test_trained_weights.py"]


@pytest.fixture(autouse=True)
def as_if_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are shared, but each trace is checked like the first one of its kind."""
    monkeypatch.setattr(HuggingFaceModel, "_proven", property(lambda _: set()))


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """By family: a directory that the library wrote; tests that change one need their own."""
    return cache(lambda name: saved(tiny_model(name), tmp_path_factory.mktemp(name)))


@pytest.fixture(scope="session")
def opened(directory: Callable[[str], Path]) -> Callable[[str], HuggingFaceModel]:
    """By family: the model opened from its directory."""
    return cache(lambda name: open_directory(directory(name)))
