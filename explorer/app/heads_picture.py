"""The pictures of Heads: their keys and their initial selection."""

from dataclasses import replace

from explorer.app.initial_view import initial_selection
from explorer.app.mount import PictureKey
from explorer.app.state import address_bar
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.core.interventions import Interventions
from explorer.core.look import NO_INTERVENTIONS, Selection
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember


def initial_of(picture: object, member: CatalogMember, trace: Trace) -> Selection:
    """Initial selection of a picture, as in Explore."""
    wanted, _ = heads_state.initial_selection(picture).within(trace)
    with_step = wanted.step is None
    return initial_selection(wanted, member, trace, with_step=with_step)


def searched_head(member: CatalogMember, trace: Trace) -> Head:
    """The head that a corpus is searched for, see `head_on_screen`. Where nobody has chosen a head,
    it is selected, so that the picture shows it."""
    head = head_on_screen(member, trace)
    visit_state.select(visit_state.current().selection.or_head(head))
    return head


def head_on_screen(member: CatalogMember, trace: Trace) -> Head:
    """The selected head or, if none is, the one that a picture opens with. Of the mean of a layer's
    heads, the first."""
    wanted, _ = visit_state.current().selection.within(trace)
    opened = initial_selection(wanted, member, trace, with_step=False)
    return Head(opened.site or trace.sites[-1], opened.layer or 0, opened.head or 0)


def picture_key(
    member: CatalogMember,
    language: str,
    interventions: Interventions = NO_INTERVENTIONS,
    report: str = "",
    other: str = "",
) -> PictureKey:
    """The key of a picture; interventions, report and the other model change only the pictures
    that show them."""
    request = replace(heads_state.shown_request(), interventions=interventions)
    moved = address_bar.times_followed() + heads_state.times_moved()
    return PictureKey(member.stamp, request, language, moved, report, other)
