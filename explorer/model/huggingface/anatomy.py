"""The attention of a model, in the order of its calls, and the output head."""

from dataclasses import dataclass
from enum import StrEnum

from explorer.core.sites import SITES, Head, sides
from explorer.core.trace_size import SiteSize
from explorer.model.row_logits import BLOCK


class Kind(StrEnum):
    """The stacks a model has."""

    ENCODER_DECODER = "encoder-decoder"
    DECODER_ONLY = "decoder-only"
    ENCODER_ONLY = "encoder-only"


@dataclass(frozen=True, slots=True)
class Place:
    """Site and layer of one call of attention, and its sizes.

    layer: counted from 0 among the layers with attention at `site`.
    number: number of that layer in the model, counting layers without attention too.
    heads: of the queries; with grouped queries there are fewer heads of keys.
    width: of the values of a head; 0 if only the weights are known.
    window: distance from which on keys are outside the local window, if only the weights are known;
        None = no window.
    """

    site: str
    layer: int
    number: int
    heads: int
    width: int
    window: int | None = None


@dataclass(frozen=True, slots=True)
class OutputHead:
    """The part of a model that maps hidden states to logits.

    width: number of logits of a row.
    body: path of the module that returns the hidden states; "" unless the logits of some rows are
        known to be computable without those of the others.
    block: the most bytes of logits that are computed at once.
    """

    width: int = 0
    body: str = ""
    block: int = BLOCK


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The calls of attention in a pass of the encoder and of the decoder, and the output head.

    Calls are told apart by their order: some models run one module for all layers.
    """

    kind: Kind
    encoder: tuple[Place, ...] = ()
    decoder: tuple[Place, ...] = ()
    head: OutputHead = OutputHead()

    @property
    def places(self) -> tuple[Place, ...]:
        return self.encoder + self.decoder

    @property
    def weights_only(self) -> bool:
        """Whether only the weights are known, as the library returns them. Such a model allows no
        interventions."""
        return bool(self.places) and not any(place.width for place in self.places)

    @property
    def all_heads(self) -> tuple[Head, ...]:
        """Every head, in the order of all tables of heads."""
        order = sorted(self.places, key=lambda place: (SITES.index(place.site), place.layer))
        return tuple(
            Head(place.site, place.layer, head) for place in order for head in range(place.heads)
        )

    def layers(self, site: str) -> int:
        """Number of layers with attention at `site`."""
        return sum(place.site == site for place in self.places)

    def heads(self, site: str) -> int:
        """Number of heads of a layer at `site`; 0 without such a site."""
        return next((place.heads for place in self.places if place.site == site), 0)

    def sizes(self, source: int, target: int, *, full: bool) -> dict[str, SiteSize]:
        """Sizes, by site, of the attention of a text with `source` and `target` tokens.

        full: with scores, values and outputs.
        """
        axes = sides(source, target)
        sizes: dict[str, SiteSize] = {}
        for place in self.places:
            numbers = (*(sizes[place.site].numbers if place.site in sizes else ()), place.number)
            width = place.width if full else 0
            sizes[place.site] = SiteSize(numbers, place.heads, *axes[place.site], width)
        return {site: sizes[site] for site in SITES if site in sizes}

    def layer_numbers(self) -> dict[str, list[int]]:
        """Layer numbers by site, only for sites whose numbers are not 0, 1, 2, …"""
        numbers: dict[str, list[int]] = {}
        for place in self.places:
            numbers.setdefault(place.site, []).append(place.number)
        return {site: own for site, own in numbers.items() if own != list(range(len(own)))}
