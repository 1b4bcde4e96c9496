"""Loaded models and finished traces, cached for all visitors; both are read-only.

Everything that is not cached is computed inside `computing`, which limits how much is computed at a
time.
"""

import gc
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

import streamlit as st

from explorer.app.limited_cache import LimitedCache
from explorer.core.interventions import Interventions
from explorer.core.look import Request
from explorer.core.memory import half_of_memory
from explorer.core.trace import Trace
from explorer.core.trace_size import FIT, largest_trace
from explorer.core.vocabulary import LONGEST_TEXT
from explorer.data.task_names import task_of
from explorer.heads.metrics import batch_names
from explorer.model.catalog import CatalogMember, CatalogModel, OwnModel
from explorer.model.model_directory import DirectoryModel

if TYPE_CHECKING:
    from explorer.heads.comparison.trace_comparison import TraceComparison
    from explorer.model.actions import MeanOutputs
    from explorer.model.evaluation_batch import EvaluationBatch
    from explorer.model.explorable import ExplorableModel
    from explorer.model.huggingface.traced_model import HuggingFaceModel
    from explorer.model.measurable import MeasurableModel


Model: TypeAlias = "ExplorableModel | HuggingFaceModel"

_Value = TypeVar("_Value")

MOST_TRACE_BYTES = largest_trace() + 2**29
"""Bytes of all cached traces and of everything computed from them, together: the largest one does
not push itself out."""

_BATCH = 256
"""Sentences that a mean is taken over."""

_LABEL_BYTES = 200  # of one label of a trace in memory, roughly
_SLOTS = threading.Semaphore(2)
"""Limit on simultaneous computations: 2, the cores of a small machine. Further ones wait."""

_OPENING = threading.Lock()


@contextmanager
def computing() -> Iterator[None]:
    """A block that computes for the visitor, once a core is free.

    Inside it no cached function may be called: another thread that waits for a core may be
    computing its value.
    """
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
    """The digest of the model's weights, used to look up head reports."""
    return _digest(member.stamp, member)


def opened(member: CatalogMember) -> "HuggingFaceModel | None":
    """The model in a directory if it is loaded. None before, and for other members."""
    return _directories.find(member.stamp)


def trace(member: CatalogMember, request: Request) -> Trace:
    """The trace that `request` asks for; an uploaded trace is itself. Raises `ExplorerError`."""
    if not member.can_trace:
        return member.trace
    return kept((member.stamp, request), lambda: _trace(member, request), trace_bytes)


def greedy_trace(member: CatalogMember, request: Request) -> Trace:
    """The text without any intervention, decoded greedily."""
    return trace(member, request.unchanged())


def means_for(member: CatalogModel, interventions: Interventions) -> "MeanOutputs | None":
    """Mean outputs of all heads, if `interventions` replace a head by its mean."""
    return mean_outputs(member.stamp, member) if interventions.needs_mean_outputs else None


def kept(key: Hashable, compute: Callable[[], _Value], size_of: Callable[[_Value], int]) -> _Value:
    """The result of `compute`, cached among the traces; see `LimitedCache.get`."""
    return _traces.get(key, compute, size_of)


def kept_comparison(key: Hashable, compute: "Callable[[], TraceComparison]") -> "TraceComparison":
    """As `kept`, for a comparison."""

    def size_of(compared: "TraceComparison") -> int:
        return sum(map(trace_bytes, (compared.original, compared.changed, compared.forced)))

    return kept(key, compute, size_of)


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


@st.cache_resource(max_entries=8, show_spinner=False)
def mean_outputs(stamp: str, _member: CatalogModel) -> "MeanOutputs":
    """Mean outputs of all heads over an `evaluation_batch`."""
    from explorer.heads.removal import counterfactuals

    model = model_of(_member)
    with computing():
        return counterfactuals.mean_outputs(model, evaluation_batch(model, _member))


def evaluation_batch(model: "MeasurableModel", member: CatalogModel) -> "EvaluationBatch":
    """Sentences generated by the model's task. Without a task: those stored in its checkpoint and
    those the page offers.

    Raises `EvaluationBatchError` if there are none.
    """
    from explorer.heads.metrics.evaluation_batches import task_sentences

    if task_of(model.facts) is not None:
        return task_sentences(model, _BATCH)
    stored = model.facts.get("examples")
    listed = stored if isinstance(stored, list) else []
    texts = [text for text in (*listed, *member.examples) if isinstance(text, str) and text.strip()]
    name = batch_names.written("examples", name=model.name)
    return model.passes.texts(list(dict.fromkeys(texts))[:_BATCH], name)


def _open(member: DirectoryModel) -> "HuggingFaceModel":
    """The model in a directory, opened by one visitor at a time: each counts the free memory."""
    # Imported late: with torch, and the library only where it is installed.
    from explorer.model.opening import load_directory

    def compute() -> "HuggingFaceModel":
        with _OPENING:
            return load_directory(member.path, member.name)

    return _directories.get(member.stamp, compute, lambda model: model.memory, member.weight_bytes)


def _free_memory() -> None:
    """Free the memory of dropped models. Their modules are in reference cycles, which `gc.freeze`
    hides."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


_traces = LimitedCache(MOST_TRACE_BYTES)
_directories = LimitedCache(half_of_memory(), _free_memory)


def _trace(member: CatalogModel, request: Request) -> Trace:
    model = model_of(member)
    pad_to, means = padded(model, request), means_for(member, request.interventions)
    with computing():
        return model.trace(
            **request.given,
            **request.interventions.options(),
            force=dict(request.forced),
            means=means,
            pad_to=pad_to,
            layers=FIT,
            check="always",
        )


def padded(model: Model, request: Request) -> int | None:
    """Length that the text is padded to, or None if the text alone exceeds the model's limit."""
    extent = extent_of(model, **request.given)
    padded = min(extent.tokens + request.pad, extent.longest)
    return padded if extent.tokens <= extent.longest else None


@dataclass(frozen=True, slots=True)
class SourceExtent:
    """tokens: of the text, with those the model adds.
    longest: the most tokens, padding included; a model trained here pads no prompt.
    """

    tokens: int
    longest: int


def extent_of(
    model: Model,
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
        tokens = len(model.source_vocabulary.encode(text or "")) + 1  # its end, or its beginning
        most = min(tokens, config.max_length) if config.decoder_only else config.max_length
        return SourceExtent(tokens, most)
    spoken = model.in_languages(source_language, target_language)
    return SourceExtent(len(spoken.read(text, pair, messages).ids), model.positions or LONGEST_TEXT)
