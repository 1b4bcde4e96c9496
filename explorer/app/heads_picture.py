"""The pictures of Heads: their keys and their initial selection."""

from dataclasses import replace

from explorer.app.initial_view import initial_selection
from explorer.app.mount import PictureKey
from explorer.app.state import address_bar
from explorer.app.state import heads as heads_state
from explorer.core.interventions import Interventions
from explorer.core.look import NO_INTERVENTIONS, Selection
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember


def initial_of(
    picture: object, member: CatalogMember, trace: Trace, changed: Head | None = None
) -> Selection:
    """Initial selection of a picture, as in Explore. An experiment starts at the head it
    changes."""
    wanted, _ = heads_state.initial_selection(picture).or_head(changed).within(trace)
    with_step = wanted.step is None
    return initial_selection(wanted, member, trace, with_step=with_step)


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
