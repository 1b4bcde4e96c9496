"""The head views mounted in a Streamlit page.

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
from explorer.components.head_views.payload import (
    comparison_payload,
    head_grid_payload,
    metric_matrix_payload,
)
from explorer.components.player.payload import View
from explorer.components.shared.bundle import Component, script, styles
from explorer.core.trace import Trace
from explorer.heads.head_report import Findings
from explorer.heads.trace_comparison import Contrast

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


def head_grid(
    sitting: Sitting, trace: Trace, findings: Findings | None, norms: Norms | None
) -> None:
    """Every head, and the one looked at; with `norms`, those in the place of the weights."""
    view = _view(trace, heads_state.opening((sitting, norms is None)))
    data = _head_grid(sitting, norms is None, view, trace, findings, norms)
    _mount("head_grid", _once(data, sitting))


def comparison(sitting: Sitting, contrast: Contrast) -> None:
    """A text with and without the interventions."""
    view = _view(contrast.original, heads_state.opening((sitting, "comparison")))
    _mount("comparison", _once(_comparison(sitting, view, contrast), sitting))


def metric_matrix(findings: Findings, language: str) -> None:
    """The metrics by layer and head."""
    _mount("metric_matrix", metric_matrix_payload(findings, language=language))


@st.cache_data(max_entries=16, show_spinner=False)
def _head_grid(
    sitting: Sitting,
    weights: bool,
    view: View,
    _trace: Trace,
    _findings: Findings | None,
    _norms: Norms | None,
) -> bytes:
    return head_grid_payload(_trace, _findings, language=sitting.language, view=view, norms=_norms)


@st.cache_data(max_entries=16, show_spinner=False)
def _comparison(sitting: Sitting, view: View, _contrast: Contrast) -> bytes:
    return comparison_payload(_contrast, language=sitting.language, view=view)


def _view(trace: Trace, opening: Selection) -> View:
    """How a picture opens: as far as the trace has the place, at the last step with all of it."""
    seen, _ = within(opening, trace)
    step = None if seen.step == len(trace.target_tokens) else seen.step
    return View(site=seen.site, layer=seen.layer, head=seen.head, step=step)


def _once(data: bytes, sitting: Sitting) -> bytes:
    """`data` marked with the visit, so that whoever comes back by a link is sent it again."""
    return data + struct.pack("<I", sitting.visit)


def _mount(view: Component, data: bytes) -> None:
    report = partial(heads_state.read_view, view)
    _component(view)(
        key=f"{heads_state.VIEW}{view}",
        data=data,
        on_selection_change=report,
        on_cell_change=report,
    )


@cache
def _component(view: Component) -> ComponentRenderer:
    return st.components.v2.component(f"attention_{view}", css=styles(view), js=script(view))
