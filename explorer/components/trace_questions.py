"""Questions about a trace besides its payload: a name, a place in the trace, and the bytes of the
answer.

The app answers by one route, a saved page holds the answers near its initial view, and the page
without a server asks its worker. A new question is one more entry of `TRACE_QUESTIONS`, and the
view in the browser that shows it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from explorer.components.inside.payload import (
    early_layers,
    head_vectors,
    library_path,
    omission,
    score_vectors,
    token_path,
)
from explorer.components.payload import pack_payload
from explorer.components.player.contributions import attribution_payload, contributions_payload
from explorer.components.player.payload import integrity_checks
from explorer.components.player.pictures import Maps, axes_of, pictures_payload
from explorer.components.player.weights import MEAN, Unit, head_payload, is_large, units_of
from explorer.core.errors import TraceError
from explorer.core.look import SHOWN_MAPS
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.verbs import OMISSIONS
from explorer.core.zoom import Zoom

if TYPE_CHECKING:  # with torch
    from explorer.heads.contributions.layer_contributions import LayerContributions
    from explorer.heads.contributions.logit_attribution import LogitAttribution
    from explorer.heads.contributions.score_parts import PartVectors
    from explorer.model.huggingface.streams.layer_path import LayerPath


class AskedModel(Protocol):
    """The model of a trace, for questions about that trace, from any thread.

    Each method raises `ExplorerError` if it has no answer, for example when the model is no longer
    in memory.
    """

    @property
    def trained_here(self) -> bool:
        """Whether it is a Transformer of this package, all values of which are known and parts of
        which can be left out."""

    def checked(self) -> Trace:
        """The trace itself, computed again with its checks."""

    def layer(self, site: str, layer: int, without: tuple[str, ...] = ()) -> Trace:
        """A trace of one layer of an attention path alone, with full capture.

        layer: index among the layers of the trace.
        without: parts of the model to leave out, of `OMISSIONS`; the text is then decoded again.
        """

    def contributions(
        self, trace: Trace, method: str
    ) -> tuple["LayerContributions", Mapping[str, int]]:
        """Contributions of keys by a method and, for leave-one-out, `agreement_on_trace`."""

    def attribution(self, trace: Trace) -> "LogitAttribution":
        """The parts that heads have in the choice of each token."""

    def early(self, trace: Trace) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Of a model of the library, arrays and facts of `Trace.early_predictions`."""

    def layer_path(self, trace: Trace, site: str, layer: int) -> "LayerPath":
        """Of a model of the library, the way of the queries of `site` through a layer."""

    def score_parts(self, trace: Trace, head: Head) -> "PartVectors":
        """The parts that the queries and keys of a head are sums of."""

    def decisive_head(self, trace: Trace) -> Head:
        """The head without which the output is least probable."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place in a trace of a question. Each question uses some of the fields.

    layer: index among the layers of the trace. map: a head, or `MEAN`. part: one of `OMISSIONS`.
    zoom: in `unit`.
    """

    unit: Unit = "pieces"
    site: str = ""
    layer: int = 0
    head: int = 0
    map: int = 0
    part: str = ""
    method: str = ""
    zoom: Zoom | None = None


Found: TypeAlias = Mapping[str, Any]
"""Fields of a place that were read."""

Places: TypeAlias = Iterator[tuple[Place, ...]]
"""Places, the most useful first. Those in one tuple are useful together."""


@dataclass(frozen=True, slots=True)
class TraceQuestion:
    """A question that can be asked about a trace.

    name, fields: its address is "NAME/FIELD/…", such as "vectors/cross/1/2"; a field is one of
        `Place`.
    payload: the answer, see `payload.py`, which the browser expects compressed with gzip.
    offered: (the trace, its model or None) → whether it can be asked.
    asks_model: whether the answer takes the model.
    near: places whose answers a saved page holds, near an initial head, whose panel *Inside* may be
        open (True); None = a saved page has none.
    """

    name: str
    fields: tuple[str, ...]
    payload: Callable[[Trace, Place, AskedModel], bytes]
    offered: Callable[[Trace, AskedModel | None], bool]
    asks_model: bool = True
    near: Callable[[Trace, Head, bool], Places] | None = None

    def place(self, text: str, trace: Trace) -> Place:
        """The place in `trace` that the end of an address names. Raises `TraceError`."""
        words = text.split("/") if text else []
        found: dict[str, Any] = {}
        try:
            for field, word in zip(self.fields, words, strict=True):
                found[field] = _READ[field](word, trace, found)
        except ValueError:
            raise TraceError("not_of_trace", name=self.name, place=text) from None
        return Place(**found)

    def address(self, place: Place) -> str:
        """Name and place, as the browser asks for them."""
        values = [getattr(place, field) for field in self.fields]
        words = ("mean" if value == MEAN else str(value) for value in values)
        return f"{self.name}/{'/'.join(words)}"

    def answer(self, trace: Trace, model: AskedModel | None, place: Place) -> bytes:
        """The payload of a place. Raises `ExplorerError`, also if the question is not offered."""
        if not self.offered(trace, model):
            raise TraceError("not_of_trace", name=self.name, place=self.address(place))
        return self.payload(trace, place, cast(AskedModel, model))  # not None if it is needed


def offered(trace: Trace, model: AskedModel | None) -> tuple[TraceQuestion, ...]:
    """All questions that can be asked about a trace. model: None = there is none.

    A model of the library may still refuse one in a sentence, after a pass that shows of what its
    layers are made.
    """
    return tuple(one for one in TRACE_QUESTIONS.values() if one.offered(trace, model))


def methods_offered(trace: Trace, model: AskedModel | None) -> tuple[str, ...]:
    """The methods of contributions, of `SHOWN_MAPS`, that can be asked for about a trace."""
    if model is None or not _unchanged(trace, model):
        return ()
    if not _is_seen_inside(trace, model):
        return ("rollout",)
    chooses = bool(trace.predicted_tokens)
    return tuple(one for one in SHOWN_MAPS if chooses or one != "leave_one_out")


def _one_of(word: str, choices: Sequence[str]) -> str:
    return choices[choices.index(word)]


def _numbered(word: str, trace: Trace, found: Found, axis: int) -> int:
    """The layer (axis 0) or head (axis 1) that `word` counts from 0."""
    return tuple(map(str, range(trace.attention(found["site"]).shape[axis]))).index(word)


def _zoom(word: str, trace: Trace, found: Found) -> Zoom:
    """The part of the maps, written as `str` writes it: one place has one address."""
    maps, zoom = Maps.of(trace, found["site"], axes_of(trace, found["unit"])), Zoom.parse(word)
    if zoom is None or str(zoom) != word or not zoom.is_within(*maps.shape[2:]):
        raise ValueError(word)
    return zoom


_READ: Mapping[str, Callable[[str, Trace, Found], object]] = {
    "unit": lambda word, trace, _: _one_of(word, units_of(trace)),
    "site": lambda word, trace, _: _one_of(word, trace.sites),
    "layer": lambda word, trace, found: _numbered(word, trace, found, 0),
    "head": lambda word, trace, found: _numbered(word, trace, found, 1),
    "map": lambda word, trace, found: MEAN if word == "mean" else _numbered(word, trace, found, 1),
    "part": lambda word, *_: _one_of(word, OMISSIONS),
    "method": lambda word, *_: _one_of(word, SHOWN_MAPS),
    "zoom": _zoom,
}
"""Field → reader of its word, given the trace and the fields before it; raises `ValueError`."""


def _head_by_head(trace: Trace, _: AskedModel | None) -> bool:
    return is_large(trace)


def _checked_later(trace: Trace, model: AskedModel | None) -> bool:
    """The checks read all weights, or wait for the model."""
    return is_large(trace) or (model is not None and not trace.measured)


def _is_seen_inside(trace: Trace, model: AskedModel | None) -> bool:
    """Not in a family that computes its attention in its own way."""
    return model is not None and not trace.facts.get("weights_only")


def _of_own_models(_: Trace, model: AskedModel | None) -> bool:
    return model is not None and model.trained_here


def _unchanged(trace: Trace, model: AskedModel | None) -> bool:
    """The answer is a pass of its own over the whole trace, by the model as it is."""
    changed = bool(trace.facts.get("interventions"))
    return not is_large(trace) and not changed and model is not None


def _of_the_library(trace: Trace, model: AskedModel | None) -> bool:
    seen = _is_seen_inside(trace, model) and not _of_own_models(trace, model)
    return seen and not is_large(trace)


def _decoding_library(trace: Trace, model: AskedModel | None) -> bool:
    """A model trained here has its early predictions in the path of each layer."""
    return _of_the_library(trace, model) and bool(trace.predicted_tokens)


def _unchanged_inside(trace: Trace, model: AskedModel | None) -> bool:
    return _unchanged(trace, model) and _is_seen_inside(trace, model)


def _choosing_tokens(trace: Trace, model: AskedModel | None) -> bool:
    return bool(trace.predicted_tokens) and _unchanged_inside(trace, model)


def _weights(trace: Trace, place: Place, _: AskedModel) -> bytes:
    return head_payload(trace, place.unit, place.site, place.layer, place.map)


def _pictures(trace: Trace, place: Place, _: AskedModel) -> bytes:
    assert place.zoom is not None
    return pictures_payload(trace, place.unit, place.site, place.zoom)


def _integrity(trace: Trace, _: Place, model: AskedModel | None) -> bytes:
    if model is not None and not trace.measured:
        trace = model.checked()
    return pack_payload({"integrity": integrity_checks(trace)}, {})


def _near_weights(trace: Trace, head: Head, _opened: bool) -> Places:
    """The head itself, then all heads and means, the nearest layers first. Within a layer, those of
    its site come before the other sites. Each in pieces and in words."""

    def of(site: str, layer: int, shown: int) -> tuple[Place, ...]:
        return tuple(Place(unit, site, layer, map=shown) for unit in units_of(trace))

    yield of(*head)
    sites = sorted(trace.sites, key=lambda site: site != head.site)
    shapes = {site: trace.attention(site).shape[:2] for site in sites}
    deepest = max(layers for layers, _ in shapes.values())
    for layer in sorted(range(deepest), key=lambda layer: abs(layer - head.layer)):
        for site, (layers, heads) in shapes.items():
            for shown in (*range(heads), MEAN) if layer < layers else ():
                yield of(site, layer, shown)


def _vectors(_: Trace, place: Place, model: AskedModel) -> bytes:
    return head_vectors(model.layer(place.site, place.layer), place.site, 0, place.head)


def _near_vectors(trace: Trace, head: Head, _opened: bool) -> Places:
    """The head, then the others of its layer."""
    heads = range(trace.attention(head.site).shape[1])
    for other in sorted(heads, key=lambda other: other != head.head):
        yield (Place(site=head.site, layer=head.layer, head=other),)


def _path(_: Trace, place: Place, model: AskedModel) -> bytes:
    return token_path(model.layer(place.site, place.layer), place.site)


def _near_path(trace: Trace, head: Head, _opened: bool) -> Places:
    """The layer, then the others, whose predictions are compared. An encoder predicts nothing, so
    only its own layer."""
    layers = range(trace.attention(head.site).shape[0]) if head.site != "encoder" else (head.layer,)
    for layer in sorted(layers, key=lambda layer: layer != head.layer):
        yield (Place(site=head.site, layer=layer),)


def _layer(trace: Trace, place: Place, model: AskedModel) -> bytes:
    return library_path(trace, place.site, model.layer_path(trace, place.site, place.layer))


def _without(_: Trace, place: Place, model: AskedModel) -> bytes:
    return omission(model.layer(place.site, place.layer, (place.part,)), place.site, place.head)


def _near_without(_: Trace, head: Head, opened: bool) -> Places:
    """The head without each part, only if the panel is open, as the text is decoded again."""
    for part in OMISSIONS if opened else ():
        yield (Place(site=head.site, layer=head.layer, head=head.head, part=part),)


def _contributions(trace: Trace, place: Place, model: AskedModel) -> bytes:
    found, agreement = model.contributions(trace, place.method)
    share = found.source_share if trace.predicted_tokens else None
    return contributions_payload(trace, found.layers, share, found.drops, agreement)


def _attribution(trace: Trace, _: Place, model: AskedModel) -> bytes:
    found = model.attribution(trace)
    return attribution_payload(found.parts, found.rest, found.difference, found.runner_up)


def _decisive(trace: Trace, _: Place, model: AskedModel) -> bytes:
    return pack_payload(model.decisive_head(trace)._asdict(), {})


def _early(trace: Trace, _: Place, model: AskedModel) -> bytes:
    arrays, facts = model.early(trace)
    return early_layers(facts["early_tokens"], arrays["early.probability"])


def _score(trace: Trace, place: Place, model: AskedModel) -> bytes:
    parts = model.score_parts(trace, Head(place.site, place.layer, place.head))
    return score_vectors(parts.queries, parts.keys, parts.scale, parts.distance)


_HEAD = ("site", "layer", "head")

TRACE_QUESTIONS: Mapping[str, TraceQuestion] = {
    one.name: one
    for one in (
        TraceQuestion(
            "head",
            ("unit", "site", "layer", "map"),
            _weights,
            _head_by_head,
            asks_model=False,
            near=_near_weights,
        ),
        TraceQuestion(
            "pictures", ("unit", "site", "zoom"), _pictures, _head_by_head, asks_model=False
        ),
        TraceQuestion("integrity", (), _integrity, _checked_later, asks_model=False),
        TraceQuestion("vectors", _HEAD, _vectors, _is_seen_inside, near=_near_vectors),
        TraceQuestion("path", ("site", "layer"), _path, _of_own_models, near=_near_path),
        TraceQuestion("layer", ("site", "layer"), _layer, _of_the_library),
        TraceQuestion("without", (*_HEAD, "part"), _without, _of_own_models, near=_near_without),
        TraceQuestion("contributions", ("method",), _contributions, _unchanged),
        TraceQuestion("attribution", (), _attribution, _choosing_tokens),
        TraceQuestion("early", (), _early, _decoding_library),
        TraceQuestion("score", _HEAD, _score, _unchanged_inside),
        TraceQuestion("decisive", (), _decisive, _of_own_models),
    )
}
"""By name: the weights of a head of a large trace; pictures of a part of its maps; its integrity
checks; the inputs of a head's weights; the path of tokens through a layer, of a model trained here
and of one of the library; a head of the model without a part; the contributions of keys; the parts
of heads in choices of tokens; the predictions after each layer; the parts that scores are sums of;
the head that the output depends on most."""
