"""Loaded models and finished traces, cached for all visitors; both are read-only.

`computing` is the one way to compute what is not cached: it limits how much is computed at a time
and by whom.
"""

import gc
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import streamlit as st

from explorer.app.request import Request
from explorer.app.state import visitor
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace
from explorer.model.catalog import (
    CatalogMember,
    CatalogModel,
    StoredModel,
    UploadedModel,
    UploadedTrace,
)

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel

MOST_CELLS = 6_000_000
"""Attention weights of one trace, 24 MB of them; bounds the memory of the cache."""

_SLOTS = threading.Semaphore(2)
"""Computations at a time, as many as a small machine has cores; the others wait."""


class TraceSizeError(ExplorerError):
    """A text whose trace would have too many attention weights."""

    section: ClassVar[str] = "explore"


@contextmanager
def computing() -> Iterator[None]:
    """A block that computes for the visitor, as soon as a core is free.

    Inside it no cached function may be called: another thread that waits for a core may be
    computing its value. Raises `RateLimitError`.
    """
    with visitor.turn():
        visitor.refuse_over_limit()
        with _SLOTS:
            yield


def model_of(member: CatalogModel) -> "ExplorableModel":
    """The loaded model; it is read-only."""
    if isinstance(member, UploadedModel):
        return member.model  # stays in its session
    assert isinstance(member, StoredModel)
    return _load(member.stamp, member.path, member.label)


def trace(member: CatalogMember, request: Request) -> Trace:
    """The trace that `request` asks for; an uploaded trace is itself. Raises `ExplorerError`."""
    if isinstance(member, UploadedTrace):
        return member.trace
    return _trace(member.stamp, request, member)


@st.cache_resource(max_entries=8, show_spinner=False)
def _load(stamp: str, _path: Path, _name: str) -> "ExplorableModel":
    from explorer.model.explorable import load

    model = load(_path, _name)
    gc.freeze()  # these objects stay: later garbage collections skip them
    return model


@st.cache_resource(max_entries=64, show_spinner=False)
def _trace(stamp: str, request: Request, _member: CatalogModel) -> Trace:
    model = model_of(_member)
    config = model.transformer.config
    tokens = len(model.source_vocabulary.encode(request.text)) + 1  # the end of the sequence
    padded = min(tokens + request.pad, config.max_length)
    maps = config.heads * (config.encoder_layers + 2 * config.decoder_layers)
    if tokens <= config.max_length and maps * padded**2 > MOST_CELLS:
        raise TraceSizeError("too_many_cells", maps=maps, most=math.isqrt(MOST_CELLS // maps))
    with computing():
        return model.trace(
            request.text,
            force=dict(request.forced),
            pad_to=padded if tokens <= config.max_length else None,
        )
