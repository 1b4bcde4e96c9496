"""The stage: the player mounted in a Streamlit page, and what is kept so that it is quick.

Visitors share loaded models and finished traces; both are read-only. A payload's bytes are
kept whole, because Streamlit does not send again what has not changed.
"""

import gc
import math
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from explorer.app.permalink import Request, Selection
from explorer.app.state.explore import PLAYER, VisitError
from explorer.components.player.payload import View, player_payload
from explorer.components.shared.bundle import script, styles
from explorer.core.trace import Trace
from explorer.model.catalog import Entry

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel

MOST_CELLS = 6_000_000
"""Attention weights of one trace, 24 MB of them; what is kept for all visitors is bounded by it."""

TWO_AT_A_TIME = threading.Semaphore(2)
"""Traces computed at once, as many as a small machine has cores; the others queue."""


@st.cache_resource(max_entries=8, show_spinner=False)
def _loaded(stamp: str, _entry: Entry) -> "ExplorableModel":
    """A listed model, loaded once for all visitors; the first one brings torch along."""
    loaded = _entry.load()
    gc.freeze()  # what is here now stays: no later collection need look at it again
    return loaded


@st.cache_resource(max_entries=64, show_spinner=False)
def _traced(stamp: str, request: Request, _entry: Entry) -> Trace:
    loaded = model_of(_entry)
    config = loaded.transformer.config
    tokens = len(loaded.source_vocabulary.encode(request.text)) + 1  # the end of the sequence
    padded = min(tokens + request.pad, config.max_length)
    maps = config.heads * (config.encoder_layers + 2 * config.decoder_layers)
    if tokens <= config.max_length and maps * padded**2 > MOST_CELLS:
        raise VisitError("too_many_cells", maps=maps, most=math.isqrt(MOST_CELLS // maps))
    with TWO_AT_A_TIME:
        return loaded.trace(
            request.text,
            force=dict(request.forced),
            pad_to=padded if tokens <= config.max_length else None,
        )


def model_of(entry: Entry) -> "ExplorableModel":
    """The model of an entry that is no trace, loaded once for all visitors; it is read-only."""
    return entry.model or _loaded(entry.stamp, entry)  # an upload's stays with its visitor


def trace(entry: Entry, request: Request) -> Trace:
    """What `request` shows, from `entry`. Raises `ExplorerError`."""
    return entry.trace or _traced(entry.stamp, request, entry)


@dataclass(frozen=True, slots=True)
class Occasion:
    """For what and whom a payload is made, and nothing of it anybody can choose: an upload's
    stamp is computed here, while the digest in its header is the word of whoever wrote it.

    visit: how often this visitor followed the address bar.
    """

    stamp: str
    request: Request
    language: str
    visit: int


@st.cache_data(max_entries=64, show_spinner=False)
def _packed(occasion: Occasion, view: View, _trace: Trace) -> bytes:
    # The visit's number stands behind the payload, where nobody reads it: a visitor who comes
    # back to an earlier place is sent it again, or the player would stay where it is.
    made = player_payload(_trace, language=occasion.language, view=view)
    return made + struct.pack("<I", occasion.visit)


def view_of(entry: Entry, request: Request, shown: Trace, opening: Selection) -> View:
    """How the player opens: with chips for forced tokens, beside the model's own output."""
    taken = shown.predicted_tokens
    at_end = opening.step == len(shown.target_tokens)
    forced = tuple((step, taken[step - 1]) for step, _ in request.forced)
    free = Request(request.model, request.text, request.pad)
    return View(
        site=opening.site,
        layer=opening.layer,
        head=opening.head,
        step=None if at_end else opening.step,  # the whole pattern, as on a first visit
        what_if=entry.trace is None,
        forced=forced,
        original=trace(entry, free).predicted_tokens if forced else (),
    )


def mount(occasion: Occasion, shown: Trace, view: View, report: Callable[[], None]) -> None:
    """Show a trace in the player; `report` is called when the visitor did something there."""
    _player()(
        key=PLAYER,
        data=_packed(occasion, view, shown),
        on_selection_change=report,
        on_force_change=report,
        on_unforce_change=report,
        on_reset_change=report,
    )


def focus(count: int) -> None:
    """Move the keyboard's focus to the player whenever `count` has grown."""
    _focus()(key="focus", data={"count": count})


@cache
def _focus() -> ComponentRenderer:
    source = Path(__file__).with_name("focus.js").read_text(encoding="utf-8")
    return st.components.v2.component("attention_focus", js=source)


@cache
def _player() -> ComponentRenderer:
    return st.components.v2.component("attention_player", css=styles("player"), js=script("player"))
