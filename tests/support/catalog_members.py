"""Members of the catalog without files: to be listed and described, not loaded."""

from pathlib import Path
from typing import Any

from explorer.model.catalog import ShippedModel, UploadedModel
from explorer.model.listed_model import ModelSummary


def summary(symbols: str = "", **changes: Any) -> ModelSummary:
    """A model of one-letter `symbols`, or of sentences without any, trained on up to 5 tokens."""
    sizes = {"most_tokens": 8, "trained_tokens": 5, **changes}
    return ModelSummary(symbols=tuple(symbols), **sizes)


def shipped(name: str, symbols: str = "", **changes: Any) -> ShippedModel:
    """A model with the `summary` of these arguments; its stamp is its name."""
    return ShippedModel(name, name, summary(symbols, **changes), Path(f"{name}.safetensors"))


def uploaded(name: str, stamp: str, symbols: str = "a") -> UploadedModel:
    """An upload with the contents `stamp`, of a model that was trained on up to 3 tokens."""
    model: Any = None
    return UploadedModel(name, stamp, summary(symbols, most_tokens=3, trained_tokens=3), model)
