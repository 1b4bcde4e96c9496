"""How long a text is for a model."""

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
    model: "ExplorableModel | HuggingFaceModel", text: str, pair: str | None = None
) -> SourceExtent:
    """The extent of `text`, and of a second one, in `model`.

    Raises `VocabularyError` on a text that it cannot read, `ConfigError` on a second one that its
    tokenizer does not join.
    """
    from explorer.model.explorable import ExplorableModel  # late: with torch

    if isinstance(model, ExplorableModel):
        config = model.transformer.config
        tokens = len(model.source_vocabulary.encode(text)) + 1  # the end of the sequence
        return SourceExtent(tokens, config.max_length)
    return SourceExtent(len(model.tokens.read(text, pair).ids), model.positions or LONGEST_TEXT)
