"""Where a trace opens: at the head and step that show most, with the tokens a visitor forced."""

from dataclasses import replace

import streamlit as st

from explorer.app import first_trace, model_cache
from explorer.app.state.visit import initial_request
from explorer.components.player.payload import View, view_of_changes
from explorer.core.errors import ExplorerError
from explorer.core.look import Request, Selection
from explorer.core.trace import Trace
from explorer.heads.initial_head import InitialChoice, initial_choice, initial_step
from explorer.model.catalog import CatalogMember, CatalogModel


def initial_selection(
    wanted: Selection, member: CatalogMember, trace: Trace, *, with_step: bool
) -> Selection:
    """`wanted` with a head: if it names none, the one that shows most.

    The head is the same for all texts of a model, so it stays when the text changes.
    trace: the one on screen.
    with_step: whether the step is the one that shows most of what is selected.
    """
    filled = _with_head(wanted, member, trace)
    if not with_step:
        return filled
    site = filled.site or trace.sites[-1]
    return replace(filled, step=initial_step(trace, site, filled.layer, filled.head))


def chosen_head(wanted: Selection, member: CatalogMember, trace: Trace) -> InitialChoice | None:
    """The head that `initial_selection` fills in, and why. None if `wanted` names a head or an
    attention other than the one with gold, and if the component in the browser chooses."""
    if wanted.site not in (None, trace.gold_site) or (wanted.layer, wanted.head) != (None, None):
        return None
    try:
        if member.can_trace and member.is_own:
            chosen = _initial_choice(member.stamp, member)
        else:  # the digest of a model in a directory takes seconds
            chosen = initial_choice(trace)
    except ExplorerError:
        return None
    if chosen is None or Selection().or_head(chosen.head).within(trace)[1]:
        return None
    return chosen


def _with_head(wanted: Selection, member: CatalogMember, trace: Trace) -> Selection:
    chosen = chosen_head(wanted, member, trace)
    if chosen is None:
        return wanted
    site, layer, head = chosen.head
    return replace(wanted, site=site, layer=layer, head=head)


@st.cache_resource(max_entries=64, show_spinner=False)
def _initial_choice(stamp: str, _member: CatalogModel) -> InitialChoice | None:
    first = first_trace.stored(_member, initial_request(_member))
    return measured_choice(_member) if first is None else first_trace.choice_of(first)


def measured_choice(member: CatalogModel) -> InitialChoice | None:
    """The head to open a model of our own with, by its report if there is one."""
    from explorer.heads.reports.report_store import stored_reports  # which imports pandas

    stored = stored_reports(model_cache.digest(member))
    trace = model_cache.greedy_trace(member, initial_request(member))
    return initial_choice(trace, stored[0].report if stored else None)


def initial_view(
    member: CatalogMember, request: Request, trace: Trace, initial: Selection, whole: bool
) -> View:
    """Initial view of the player, with the forced tokens and the output without changes.

    whole: whether the rows after the step are shown.
    """
    changed, guessing = changed_view(member, request, trace), bool(initial.guess)
    if whole and guessing:
        initial = replace(initial, step=1)
    last = initial.step == len(trace.target_tokens)
    at_end = last and initial.ahead is None and not guessing
    ahead = True if whole and initial.ahead is None and not at_end else initial.ahead
    return View.of(
        initial,
        step=None if at_end else initial.step,  # the last step opens with the whole pattern
        ahead=None if guessing else ahead,
        what_if=member.can_trace,
        suggested=whole and not at_end and not guessing,
        forced=changed.forced,
        original=changed.original,
    )


def changed_view(member: CatalogMember, request: Request, trace: Trace) -> View:
    """View with the forced tokens of `request` and the output of the model as it is."""
    if not request.is_changed:
        return View()
    return view_of_changes(request, trace, model_cache.trace(member, request.unchanged()))
