"""How many bytes the attention of a trace takes, and the choice of the layers that are captured.

Counted as in a `Trace`: float32, 4 bytes a number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self, TypeAlias

from explorer.core.errors import ConfigError, TraceSizeError
from explorer.core.memory import all_memory
from explorer.core.vocabulary import shorten

SHARED_TRACE = 512 * 2**20
"""Most bytes of all attention in one trace where several people share the memory of a process, or
it has little."""

_SHARE = 8  # of the memory: the app keeps a trace while it computes two more
_shared = False

FIT: Literal["fit"] = "fit"
"""Value of `layers`: as many of the first layers as a trace may hold."""

Layers: TypeAlias = Iterable[int] | Literal["fit"] | None
"""Which layers to capture, by the numbers they have in the model; None = all."""

_NUMBER = 4  # bytes of a float32


def largest_trace() -> int:
    """Most bytes of all attention in one trace; a larger capture is refused before the run."""
    return SHARED_TRACE if _shared else max(SHARED_TRACE, all_memory() // _SHARE)


def largest_logits() -> int:
    """Most bytes of the logits of one run, if all have to be in memory together."""
    return largest_trace() // 2


def share_memory() -> None:
    """From now on, several people have this process compute traces."""
    global _shared
    _shared = True


@dataclass(frozen=True, slots=True)
class SiteSize:
    """The attention that a model has at one site, for one text.

    numbers: of the layers with attention, as the model counts them.
    width: of the vectors of a head, captured beside the weights; 0 = not captured.
    beside: numbers captured for each query beside those of the heads.
    """

    numbers: Sequence[int]
    heads: int
    queries: int
    keys: int
    width: int = 0
    beside: int = 0

    @property
    def layer_bytes(self) -> int:
        """Bytes of one layer: the weights and, with a width, scores and four kinds of vectors too.

        Queries and outputs have one for each query, keys and values one for each key.
        """
        numbers = self.queries * self.keys
        if self.width:
            numbers += numbers + 2 * (self.queries + self.keys) * self.width
        return _NUMBER * (self.heads * numbers + self.queries * self.beside)


Sizes = Mapping[str, SiteSize]
"""Site → its attention."""

Places = Mapping[str, tuple[int, ...]]
"""Captured site → the indices of its captured layers, among its layers with attention."""


@dataclass(frozen=True, slots=True)
class LayerChoice:
    """The part of a model to capture.

    layers: numbers of layers, `FIT`, or None for all.
    sites: None = all.
    """

    layers: tuple[int, ...] | Literal["fit"] | None = None
    sites: tuple[str, ...] | None = None

    @classmethod
    def of(cls, layers: Layers, sites: Iterable[str] | None) -> Self:
        """The choice that a caller made. Raises `ConfigError` if it names no layers or sites."""
        if sites is not None:
            sites = _listed(sites, str, "bad_sites")
        if layers is None or layers == FIT:
            return cls(layers, sites)
        return cls(tuple(int(number) for number in _listed(layers, Integral, "bad_layers")), sites)

    def within(self, sizes: Sizes) -> Places:
        """The layers to capture. A site that has none of those chosen is left out.

        Raises `ConfigError` on a layer or site that the model does not have, and
        `TraceSizeError` when their attention is larger than a trace may be.
        """
        for site in self.sites or ():
            if site not in sizes:
                raise ConfigError("unknown_path", site=site, sites=", ".join(sizes))
        offered = {site: size for site, size in sizes.items() if site in (self.sites or sizes)}
        places = _numbered(offered, self.layers)
        numbers = _numbers(offered, places)
        for count in range(len(numbers), 0, -1):
            fitting = _only(offered, places, numbers[:count])
            if _bytes(offered, fitting) <= largest_trace():
                break
        else:
            raise _error("layer_too_large", offered, _only(offered, places, numbers[:1]))
        if count < len(numbers) and self.layers != FIT:
            raise _error("attention_too_large", offered, places, fits=count)
        return fitting


def refuse_logits(rows: int, width: int) -> None:
    """Raise `TraceSizeError` when the logits of so many rows take more than `largest_logits`."""
    needed, limit = _NUMBER * rows * width, largest_logits()
    if needed > limit:
        sizes = {"needed": _megabytes(needed), "limit": _whole_megabytes(limit)}
        fits = limit // (_NUMBER * width)
        raise TraceSizeError("logits_too_large", rows=rows, entries=width, fits=fits, **sizes)


def layer_facts(sizes: Sizes, places: Places) -> dict[str, Any]:
    """Facts of a trace about its layers; empty if it has all of them, counted from 0.

    layer_numbers: by site, the numbers of its layers, if these do not count from 0 on.
    model_layers: by site, how many layers of the model have attention, if the trace lacks any;
    captured_layers: then by site, the index of its layers among those.
    """
    numbers = {
        site: [sizes[site].numbers[index] for index in indices] for site, indices in places.items()
    }
    numbered = {site: own for site, own in numbers.items() if own != list(range(len(own)))}
    if all(len(places.get(site, ())) == len(size.numbers) for site, size in sizes.items()):
        return {"layer_numbers": numbered} if numbered else {}
    counts = {site: len(size.numbers) for site, size in sizes.items()}
    captured = {site: list(indices) for site, indices in places.items()}
    return {"layer_numbers": numbered, "model_layers": counts, "captured_layers": captured}


def _numbered(sizes: Sizes, layers: Sequence[int] | Literal["fit"] | None) -> Places:
    """The layers with these numbers, or all of them."""
    if layers is None or isinstance(layers, str):
        return {site: tuple(range(len(size.numbers))) for site, size in sizes.items()}
    for number in layers:
        if not any(number in size.numbers for size in sizes.values()):
            known = sorted({number for size in sizes.values() for number in size.numbers})
            raise ConfigError("unknown_layer", layer=number, known=", ".join(map(str, known)))
    return _only(sizes, _numbered(sizes, None), layers)


def _only(sizes: Sizes, places: Places, numbers: Sequence[int]) -> Places:
    """The places whose layer has one of these numbers; a site without any is left out."""
    kept = {
        site: tuple(index for index in own if sizes[site].numbers[index] in numbers)
        for site, own in places.items()
    }
    return {site: own for site, own in kept.items() if own}


def _numbers(sizes: Sizes, places: Places) -> list[int]:
    """The numbers of all layers, from the first on."""
    return sorted({sizes[site].numbers[index] for site, own in places.items() for index in own})


def _bytes(sizes: Sizes, places: Places) -> int:
    return sum(len(own) * sizes[site].layer_bytes for site, own in places.items())


def _error(key: str, sizes: Sizes, places: Places, **facts: int) -> TraceSizeError:
    facts |= {"count": len(_numbers(sizes, places))}
    needed, limit = _megabytes(_bytes(sizes, places)), _whole_megabytes(largest_trace())
    return TraceSizeError(key, needed=needed, limit=limit, **facts)


def _megabytes(size: int) -> str:
    return f"{-(-size // 2**20):,}"  # rounded up: what is refused is never shown as the limit


def _whole_megabytes(size: int) -> str:
    return f"{size // 2**20:,}"


def _listed(given: Any, kind: type, key: str) -> tuple[Any, ...]:
    """The items of a list. Raises `ConfigError` on a string, an empty list or another item."""
    items = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if not items or not all(isinstance(one, kind) and not isinstance(one, bool) for one in items):
        raise ConfigError(key, got=shorten(repr(given)))
    return items
