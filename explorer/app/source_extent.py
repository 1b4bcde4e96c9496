"""How long a text is for a model, and how many maps the model draws of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.core.sites import SITES
from explorer.core.vocabulary import LONGEST_TEXT

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel
    from explorer.model.huggingface.traced_model import HuggingFaceModel


@dataclass(frozen=True, slots=True)
class SourceExtent:
    """tokens: of the text, with those the model adds.
    longest: the most tokens that the model takes.
    maps: heads of all layers and attentions.
    """

    tokens: int
    longest: int
    maps: int


def extent_of(model: "ExplorableModel | HuggingFaceModel", text: str) -> SourceExtent:
    """The extent of `text` in `model`. Raises `VocabularyError` on a text that it cannot read."""
    from explorer.model.explorable import ExplorableModel  # late: with torch

    if isinstance(model, ExplorableModel):
        config = model.transformer.config
        tokens = len(model.source_vocabulary.encode(text)) + 1  # the end of the sequence
        maps = config.heads * (config.encoder_layers + 2 * config.decoder_layers)
        return SourceExtent(tokens, config.max_length, maps)
    ids, _ = model.tokens.source(text)
    anatomy = model.anatomy
    maps = sum(anatomy.layers(site) * anatomy.heads(site) for site in SITES)
    return SourceExtent(len(ids), model.positions or LONGEST_TEXT, maps)
