"""Where attention happens in a Transformer, and the name of one head there."""

from typing import Literal, NamedTuple

SITES = ("encoder", "decoder", "cross")
"""Self-attention of the source, masked self-attention of the target, target over source."""

SIDES: tuple[Literal["source", "target"], ...] = ("source", "target")
"""Of a pair of sentences."""


class Head(NamedTuple):
    """One head, its layer and number counted from 0.

    Wherever a head is an argument, a plain tuple (site, layer, head) is accepted as well.
    """

    site: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.site}.{self.layer}.{self.head}"
