"""Loaded models and finished traces, cached for all visitors; both are read-only.

`computing` is the one way to compute what is not cached: it limits how much is computed at a time
and by whom.
"""

import gc
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import streamlit as st

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import rate_limit
from explorer.app.server.contributions_route import Contribute
from explorer.app.server.offered_traces import Compute
from explorer.app.server.score_route import Split
from explorer.app.source_extent import extent_of
from explorer.app.state import visitor
from explorer.components.inside.page_parts import CaptureLayer
from explorer.components.inside.score_vectors import score_vectors
from explorer.components.player.attribution import attribution_payload
from explorer.components.player.contributions import contributions_payload
from explorer.core.look import SHOWN_MAPS, Request
from explorer.core.memory import half_of_memory
from explorer.core.sites import SITES, Head
from explorer.core.trace import Trace
from explorer.core.trace_size import FIT
from explorer.model.catalog import CatalogMember, CatalogModel, OwnModel
from explorer.model.model_directory import DirectoryModel

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel
    from explorer.model.huggingface.traced_model import HuggingFaceModel

Model: TypeAlias = "ExplorableModel | HuggingFaceModel"

_Value = TypeVar("_Value")

MOST_TRACE_BYTES = 2**30
"""Bytes of all cached traces, and of what is computed from them, together."""

_LABEL_BYTES = 200  # of one label of a trace in memory, roughly
_SLOTS = threading.Semaphore(2)
"""Computations at a time, as many as a small machine has cores; the others wait."""

_OPENING = threading.Lock()


@contextmanager
def computing() -> Iterator[None]:
    """A block that computes for the visitor, as soon as a core is free.

    Inside it no cached function may be called: another thread that waits for a core may be
    computing its value. Raises `RateLimitError`.
    """
    with visitor.turn():
        rate_limit.refuse_over_limit()
        with _SLOTS:
            yield


@overload
def model_of(member: OwnModel) -> "ExplorableModel": ...
@overload
def model_of(member: DirectoryModel) -> "HuggingFaceModel": ...
def model_of(member: CatalogModel) -> Model:
    """The loaded model; it is read-only. Raises `ExplorerError`."""
    if not member.is_own:
        return _open(member)
    if not member.can_share:
        return member.model  # stays in its session
    return _load(member.stamp, member.path, member.label)


def digest(member: CatalogModel) -> str:
    """The digest of the model's weights, by which head reports are found."""
    return _digest(member.stamp, member)


def opened(member: CatalogMember) -> "HuggingFaceModel | None":
    """The model in a directory if it is loaded; None before, and of other members."""
    return _directories.find(member.stamp)


def trace(member: CatalogMember, request: Request) -> Trace:
    """The trace that `request` asks for; an uploaded trace is itself. Raises `ExplorerError`."""
    if not member.can_trace:
        return member.trace
    return kept((member.stamp, request), lambda: _trace(member, request), trace_bytes)


def greedy_trace(member: CatalogMember, request: Request) -> Trace:
    """The text without any intervention, decoded greedily."""
    return trace(member, request.without_forced())


def layer_capture(member: CatalogMember, request: Request, shown: Trace) -> CaptureLayer | None:
    """What captures one layer of a trace on screen in full, from any thread; None where nothing
    can, as for an uploaded trace, and for a model of which the weights alone are known.

    It holds neither the model nor `shown`: what was dropped from memory meanwhile stays so.
    """
    if not member.can_trace or shown.facts.get("weights_only"):
        return None
    model, stamp = weakref.ref(model_of(member)), member.stamp
    numbers = {site: shown.layer_numbers(site) for site in shown.sites}

    def capture(site: str, layer: int, without: tuple[str, ...] = ()) -> Trace | None:
        found = model()
        if found is None:
            return None
        number = numbers[site][layer]
        omitted: dict[str, Any] = {"without": without} if without else {}  # only of our own

        def compute() -> Trace:
            with _SLOTS:
                return found.trace(
                    **request.given,
                    force=dict(request.forced),
                    pad_to=_padded(found, request),
                    layers=[number],
                    sites=[site],
                    capture="full",
                    **omitted,
                )

        return kept((stamp, request, site, number, without), compute, trace_bytes)

    return capture


def contributions(member: CatalogMember, request: Request) -> Contribute | None:
    """What computes the contributions in a trace on screen by a method; None where `_computation`
    is."""

    def by(method: str) -> Compute | None:
        def compute(model: "ExplorableModel", shown: Trace) -> bytes:
            from explorer.heads.contribution_agreement import agreement_on_trace
            from explorer.heads.layer_contributions import layer_contributions

            with _SLOTS:
                found = layer_contributions(model, shown, method)
                agreement = agreement_on_trace(model, shown, found) if found.drops else {}
            return contributions_payload(
                shown, found.layers, found.source_share, found.drops, agreement
            )

        return _computation(member, (request, "contributions", method), compute)

    ways = {method: way for method in SHOWN_MAPS if (way := by(method))}
    return (lambda shown, method: ways[method](shown)) if ways else None


def attribution(member: CatalogMember, request: Request) -> Compute | None:
    """What computes the parts of heads in the choice of each token of a trace on screen; None where
    `_computation` is."""

    def compute(model: "ExplorableModel", shown: Trace) -> bytes:
        from explorer.heads.logit_attribution import attribution_of

        with _SLOTS:
            found = attribution_of(model, shown)
        return attribution_payload(found.parts, found.rest, found.difference, found.runner_up)

    return _computation(member, (request, "attribution"), compute)


def score_split(member: CatalogMember, request: Request) -> Split | None:
    """What computes of which parts the scores of a head of a trace on screen are summed; None where
    `_computation` is."""
    model, stamp = _trained_here(member), member.stamp
    if model is None:
        return None

    def split(shown: Trace, head: Head) -> bytes | None:
        from explorer.heads.repeated_pass import captured_again
        from explorer.heads.score_parts import part_vectors, refuse_missing

        refuse_missing(shown, head)
        found = model()
        if found is None:
            return None

        def capture() -> Trace:
            with _SLOTS:
                return captured_again(found, shown, SITES)

        whole = kept((stamp, request, "captured again"), capture, trace_bytes)
        parts = part_vectors(found, whole, head)
        return score_vectors(parts.queries, parts.keys, parts.scale)

    return split


def _computation(
    member: CatalogMember,
    name: tuple[Hashable, ...],
    compute: Callable[["ExplorableModel", Trace], bytes],
) -> Compute | None:
    """`compute` with the model of a trace on screen, from any thread, its result cached by `name`;
    None for a trace without its model, and for a model that was not trained here."""
    model, stamp = _trained_here(member), member.stamp
    if model is None:
        return None

    def computed(shown: Trace) -> bytes | None:
        found = model()
        return None if found is None else kept((stamp, *name), lambda: compute(found, shown), len)

    return computed


def _trained_here(member: CatalogMember) -> "weakref.ref[ExplorableModel] | None":
    """The model of a trace on screen, held as in `layer_capture`; None for a trace without its
    model, and for a model that was not trained here."""
    return weakref.ref(model_of(member)) if member.can_trace and member.is_own else None


def kept(key: Hashable, compute: Callable[[], _Value], size_of: Callable[[_Value], int]) -> _Value:
    """What `compute` returns, among the cached traces; see `LimitedCache.get`."""
    return _traces.get(key, compute, size_of)


def trace_bytes(trace: Trace) -> int:
    """Bytes of a trace in memory, roughly."""
    tokens = (trace.source_tokens, trace.target_tokens, trace.predicted_tokens)
    labels = sum(map(len, (*tokens, trace.candidate_tokens)))
    return sum(array.nbytes for array in trace.arrays.values()) + _LABEL_BYTES * labels


@st.cache_resource(max_entries=8, show_spinner=False)
def _load(stamp: str, _path: Path, _name: str) -> "ExplorableModel":
    from explorer.model.explorable import load

    model = load(_path, _name)
    gc.freeze()  # these objects stay: later garbage collections skip them
    return model


@st.cache_resource(max_entries=64, show_spinner=False)
def _digest(stamp: str, _member: CatalogModel) -> str:
    return model_of(_member).digest


def _open(member: DirectoryModel) -> "HuggingFaceModel":
    """The model in a directory, opened by one visitor at a time: each counts the free memory."""
    # Imported late: with torch, and the library only where it is installed.
    from explorer.model.opening import load_directory

    def compute() -> "HuggingFaceModel":
        with visitor.turn():
            rate_limit.refuse_over_limit()
            with _OPENING:
                return load_directory(member.path, member.name)

    return _directories.get(member.stamp, compute, lambda model: model.memory, member.weight_bytes)


def _free_memory() -> None:
    """Free what dropped models took: modules are in circles, which `gc.freeze` hides."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


_traces = LimitedCache(MOST_TRACE_BYTES)
_directories = LimitedCache(half_of_memory(), _free_memory)


def _trace(member: CatalogModel, request: Request) -> Trace:
    model = model_of(member)
    pad_to = _padded(model, request)
    with computing():
        return model.trace(
            **request.given,
            force=dict(request.forced),
            pad_to=pad_to,
            layers=FIT,
        )


def _padded(model: Model, request: Request) -> int | None:
    """The length to which the text is padded; None for one that is too long anyway."""
    extent = extent_of(model, **request.given)
    padded = min(extent.tokens + request.pad, extent.longest)
    return padded if extent.tokens <= extent.longest else None
