"""The section of Heads with the tree of a beam search. A node or an output opens on Explore."""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import model_cache, mount
from explorer.app.state import address_bar, session
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.app.widgets.downloads import download_name
from explorer.app.widgets.messages import literal, show_error
from explorer.components import beam_figure
from explorer.components.chart_payload import chart_payload
from explorer.core.errors import ExplorerError
from explorer.core.i18n import in_a_row, say
from explorer.core.look import Look, Request
from explorer.core.number_format import percent, short_number
from explorer.core.section_questions import BEAM_WIDTHS
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten
from explorer.model.beam_tree import BeamNode, BeamTree, Fate
from explorer.model.catalog import CatalogModel

MOST_TOKENS = 32
"""The longest output that is searched: a person reads the tree, and the address of a node names
each of its tokens."""

_EXPLORE = Path(__file__).parents[1] / "views" / "explore.py"
_NODE_BYTES = 500  # of one in memory, roughly


def beam_section(member: CatalogModel, _: Trace, language: str, messages: DeltaGenerator) -> None:
    """Draw the choice of the width, the tree, and the outputs found."""
    request, width = heads_state.shown_request(), heads_state.asked("beam")
    with st.container(key="beam-width", horizontal=True, vertical_alignment="center"):
        _choose_width(width, language)
    try:
        tree = tree_of(member, request, width)
    except ExplorerError as error:
        show_error(error, language, messages)
        return
    about = _about(tree, language)
    payload = chart_payload(
        beam_figure.beam_chart(tree, language),
        name=say("beam.chart", language),
        title=say("beam.title", language, model=member.label, text=shorten(request.text)),
        captions=[about],
        file_name=download_name("beam", member.label, f"width-{width}"),
        language=language,
        picks=True,
    )
    with st.container(key="beam"):
        picked = mount.chart("beam-chart", payload)
        st.caption(literal(in_a_row([about, say("beam.click", language)], language)))
        pressed = _outputs(tree, language)
    number = pressed.number if pressed else picked
    if isinstance(number, int) and 0 <= number < len(tree.nodes):
        address_bar.open_page(_EXPLORE, visit_of_node(request, tree, tree.nodes[number]))


def tree_of(member: CatalogModel, request: Request, width: int) -> BeamTree:
    """The tree of a text, decoded by the model as it is; computed once. Raises `ExplorerError`."""

    def compute() -> BeamTree:
        from explorer.model.beam_search import beam_tree

        model = model_cache.model_of(member)
        given = {name: value for name, value in request.given.items() if value is not None}
        with model_cache.computing():
            return beam_tree(model, given, width, MOST_TOKENS)

    key = ("beam", member.stamp, request.unchanged(), width)
    return model_cache.kept(key, compute, lambda tree: _NODE_BYTES * len(tree.nodes))


def visit_of_node(request: Request, tree: BeamTree, node: BeamNode) -> Look:
    """The visit of Explore with the tokens of a node as the output, at the step of the node."""
    forced = tuple((one.step, one.id) for one in tree.path(node))
    seen = replace(visit_state.current().selection, step=node.step, cell=None, inside=None)
    return Look(replace(request, forced=forced), seen)


def _choose_width(width: int, language: str) -> None:
    key = session.shown_as("beam-width", language, width)
    st.segmented_control(
        say("beam.width", language),
        BEAM_WIDTHS,
        key=key,
        required=True,
        on_change=partial(session.read_choice, key, partial(heads_state.ask, "beam")),
        help=say("beam.width_title", language),
    )


def _about(tree: BeamTree, language: str) -> str:
    """How the tree is read, and how its best output compares with that of greedy decoding."""
    sentences = [say("beam.about", language, width=tree.width)]
    greedy = tree.greedy[-1]
    if greedy == tree.best:
        sentences.append(say("beam.same", language))
    elif greedy in tree.outputs:
        factor = short_number(math.exp(tree.best.sum - greedy.sum))
        sentences.append(say("beam.better", language, factor=factor))
    else:
        sentences.append(say("beam.lost", language))
    if any(node.fate == Fate.KEPT for node in tree.outputs):
        sentences.append(say("beam.cut_off", language, most=MOST_TOKENS))
    return in_a_row(sentences, language)


def _outputs(tree: BeamTree, language: str) -> BeamNode | None:
    """A button for each output. Returns the one that was pressed."""
    st.caption(say("beam.outputs", language))
    pressed = None
    for node in tree.outputs:
        facts = {"text": node.text or say("beam.empty", language), "p": percent(math.exp(node.sum))}
        label = literal(say("beam.output", language, **facts))
        if st.button(label, key=f"beam-output-{node.number}", type="tertiary"):
            pressed = node
    return pressed
