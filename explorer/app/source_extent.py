"""The length of a text in a model's tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.core.vocabulary import LONGEST_TEXT

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel
    from explorer.model.huggingface.traced_model import HuggingFaceModel


@dataclass(frozen=True, slots=True)
class SourceExtent:
    """tokens: of the text, with those the model adds.
    longest: the most tokens that the model takes.
    """

    tokens: int
    longest: int


def extent_of(
    model: "ExplorableModel | HuggingFaceModel",
    text: str | None = None,
    pair: str | None = None,
    messages: Sequence[Mapping[str, str]] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> SourceExtent:
    """Extent of a model's input; the arguments are the options of `trace`.

    Raises `VocabularyError` on a text that the model cannot read, `ConfigError` on any other input
    that it does not read.
    """
    from explorer.model.explorable import ExplorableModel  # late: with torch

    if isinstance(model, ExplorableModel):
        config = model.transformer.config
        tokens = len(model.source_vocabulary.encode(text or "")) + 1  # the end of the sequence
        return SourceExtent(tokens, config.max_length)
    spoken = model.in_languages(source_language, target_language)
    return SourceExtent(len(spoken.read(text, pair, messages).ids), model.positions or LONGEST_TEXT)
