"""Sites: the three attention paths of a Transformer. Also the name of one head at a site."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeVar

_Side = TypeVar("_Side")

SITES = ("encoder", "decoder", "cross")
"""Self-attention of the source, masked self-attention of the target, target over source."""

SIDES: tuple[Literal["source", "target"], ...] = ("source", "target")
"""The two sides of a pair of sentences."""


def sides(source: _Side, target: _Side) -> dict[str, tuple[_Side, _Side]]:
    """By site, the pair (value for its queries, value for its keys).

    source, target: the value for each of the two sequences, such as its tokens or their number.
    """
    return {"encoder": (source, source), "decoder": (target, target), "cross": (target, source)}


class Head(NamedTuple):
    """One head, its layer and number counted from 0.

    Wherever a head is an argument, a plain tuple (site, layer, head) is accepted as well, and its
    text, as links and the command line write it: "cross.1.2".
    """

    site: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.site}.{self.layer}.{self.head}"


def given_head(given: object, heads: Iterable[Head]) -> Head | None:
    """The one of `heads` that is `given`, a tuple or a text; None if it is not among them."""
    named = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else given
    return next((head for head in heads if named in (head, str(head))), None)
