"""The easel: the gallery's rooms mounted in a Streamlit page.

It is no part of the page's own file, because Streamlit runs that anew each time, and a component
that is declared anew may be mounted anew. Bytes are kept whole: what has not changed is not sent.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.components.v2.types import ComponentRenderer

from explorer.app.permalink import Request, Selection, within
from explorer.app.state import heads as heads_state
from explorer.components import head_views
from explorer.components.head_views.bundle import Room
from explorer.components.player import View
from explorer.core.trace import Trace
from explorer.heads.head_report import HeadReport
from explorer.heads.trace_comparison import TraceComparison

Norms = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Sitting:
    """For what and whom a picture is made; see `stage.Occasion`.

    batch: by its key, of which measurements it speaks; "" for none.
    visit: how often this visitor followed the address bar.
    """

    stamp: str
    request: Request
    language: str
    visit: int
    batch: str = ""


def overview(
    sitting: Sitting, trace: Trace, findings: HeadReport | None, norms: Norms | None
) -> None:
    """Every head, and the one looked at; with `norms`, those in the place of the weights."""
    view = _view(trace, heads_state.opening((sitting, norms is None)))
    data = _overview(sitting, norms is None, view, trace, findings, norms)
    _mount("overview", _once(data, sitting))


def twin(sitting: Sitting, contrast: TraceComparison) -> None:
    """A text with and without the interventions."""
    view = _view(contrast.original, heads_state.opening((sitting, "twin")))
    _mount("twin", _once(_twin(sitting, view, contrast), sitting))


def matrix(findings: HeadReport, language: str) -> None:
    """The metrics by layer and head."""
    _mount("matrix", head_views.matrix(findings, language=language))


@st.cache_data(max_entries=16, show_spinner=False)
def _overview(
    sitting: Sitting,
    weights: bool,
    view: View,
    _trace: Trace,
    _findings: HeadReport | None,
    _norms: Norms | None,
) -> bytes:
    return head_views.overview(
        _trace, _findings, language=sitting.language, view=view, norms=_norms
    )


@st.cache_data(max_entries=16, show_spinner=False)
def _twin(sitting: Sitting, view: View, _contrast: TraceComparison) -> bytes:
    return head_views.twin(_contrast, language=sitting.language, view=view)


def _view(trace: Trace, opening: Selection) -> View:
    """How a picture opens: as far as the trace has the place, at the last step with all of it."""
    seen, _ = within(opening, trace)
    step = None if seen.step == len(trace.target_tokens) else seen.step
    return View(site=seen.site, layer=seen.layer, head=seen.head, step=step)


def _once(data: bytes, sitting: Sitting) -> bytes:
    """`data` marked with the visit, so that whoever comes back by a link is sent it again."""
    return data + struct.pack("<I", sitting.visit)


def _mount(room: Room, data: bytes) -> None:
    report = partial(heads_state.read_room, room)
    _room(room)(
        key=f"{heads_state.ROOM}{room}",
        data=data,
        on_selection_change=report,
        on_cell_change=report,
    )


@cache
def _room(room: Room) -> ComponentRenderer:
    return st.components.v2.component(
        f"attention_{room}", css=head_views.styles(), js=head_views.bundle(room)
    )
