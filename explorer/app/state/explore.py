"""State of the Explore page apart from the visit: the picture on screen."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec
from msgspec import Meta

from explorer.app.state import address_bar, session
from explorer.app.state import lesson as lesson_state
from explorer.app.state import visit as visit_state
from explorer.core.address_fields import MOST_INTERVENTIONS, Step, Whole, reported
from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.look import NO_INTERVENTIONS, Request, Selection

NEW_TRACE = ("force", "unforce", "change", "reset")
"""Events of the player that ask for another trace."""

_LONGEST_LINE = 10_000  # characters: the weights of a row
_Line = Annotated[str, Meta(max_length=_LONGEST_LINE)]
_Lines = Annotated[list[_Line], Meta(max_length=2 * MOST_INTERVENTIONS)]


class ChosenToken(msgspec.Struct):
    """A token that the player reports as chosen.

    alone: whether the tokens after it stay; otherwise they are decoded again.
    """

    step: Step
    id: Whole
    alone: bool = False


class Change(msgspec.Struct):
    """Lines of interventions that the player reports as added and as removed."""

    add: _Lines
    remove: _Lines

    def of(self, before: Interventions) -> Interventions:
        """The interventions after this change; those before if they cannot be combined."""
        kept = [line for line in before.texts() if line not in self.remove]
        lines = list(dict.fromkeys((*kept, *self.add)))
        try:
            return Interventions.parse(lines) if len(lines) <= MOST_INTERVENTIONS else before
        except InterventionError:
            return before


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in the player: its request, its initial selection and its language.

    whole: whether it opened with the whole pattern at a step that shows something.
    """

    request: Request
    initial: Selection
    language: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """Inputs of the page except the selection, whose changes the player draws without the
    server."""

    request: Request
    language: str
    models: tuple[str, ...]
    lesson: str
    submissions: int
    times_followed: int


@dataclass(frozen=True, slots=True)
class ExploreState:
    """picture: the picture on screen, which stays when the next request fails.
    submissions: number of times the visitor has submitted the text box.
    drawn: inputs the page was drawn from; None before.
    """

    picture: Picture | None = None
    submissions: int = 0
    drawn: Drawn | None = None


@dataclass(slots=True)
class ShownSelection:
    """The selection on screen. It is mutable, for files made in a thread without a session."""

    selection: Selection = field(default_factory=Selection)


def shown_selection() -> ShownSelection:
    """The session's one `ShownSelection`."""
    shown = session.load(ShownSelection)
    session.save(shown)
    return shown


def submit_text(text: str) -> None:
    """Take the text from the text box; the keyboard's focus then moves to the player."""
    visit_state.set_text(text)
    _note_submission()


def submit_pair(text: str) -> None:
    """Take the second text from its box; the keyboard's focus then moves to the player."""
    visit_state.set_pair(text)
    _note_submission()


def _note_submission() -> None:
    state = session.load(ExploreState)
    session.save(replace(state, submissions=state.submissions + 1))


def remember_drawn(models: Iterable[str], language: str) -> None:
    """Note that the page now shows the present state; models: those offered."""
    state = session.load(ExploreState)
    session.save(replace(state, drawn=_drawn_now(state, models, language)))


def is_outdated(models: Iterable[str], language: str) -> bool:
    """Whether a change is not on the page yet."""
    state = session.load(ExploreState)
    return state.drawn != _drawn_now(state, models, language)


def _drawn_now(state: ExploreState, models: Iterable[str], language: str) -> Drawn:
    return Drawn(
        visit_state.current().request,
        language,
        tuple(models),
        lesson_state.current().name,
        state.submissions,
        address_bar.times_followed(),
    )


def initial_selection(picture: Picture | None, wanted: Request, language: str) -> Selection:
    """Initial selection for `wanted`: the current selection, on a new text without a step.

    The picture on screen keeps its initial selection, so the same bytes are not sent again.
    picture: the one on screen; None before the first one, and for one that a link names.
    """
    now = visit_state.current().selection
    if picture is None:
        return now
    if picture.request == wanted:
        return picture.initial if picture.language == language else now
    before, after = (replace(one.unchanged(), pad=0) for one in (picture.request, wanted))
    return now if before == after else replace(now, step=None, ahead=None)


def opens_whole(
    picture: Picture | None, wanted: Request, language: str, initial: Selection
) -> bool:
    """Whether the player opens with the whole pattern, at a step that shows something.

    This is so without a step in `initial`, and for the picture on screen if it opened so.
    picture: as in the function `initial_selection`.
    """
    if picture is None:
        return initial.step is None
    same = (picture.request, picture.language) == (wanted, language)
    return picture.whole if same else initial.step is None


def remember_picture(picture: Picture, followed_link: bool, last_step: int) -> None:
    """Note the picture on screen, and select its initial selection.

    followed_link: whether the selection comes from a link. Otherwise a new picture selects a step
        at once (by default `last_step`), so that the URL can name it.
    """
    state = session.load(ExploreState)
    if followed_link:
        visit_state.select(picture.initial)
    elif state.picture is not None and state.picture.request != picture.request:
        step = picture.initial.step or last_step or None
        visit_state.select(replace(picture.initial, step=step))
    session.save(replace(state, picture=picture))


def forget_picture() -> None:
    """The picture is no longer on screen: the next one opens at the current selection."""
    session.save(replace(session.load(ExploreState), picture=None))


def restore_changes(shown: Request) -> None:
    """After a failed request: change only what is changed in the picture on screen; where it is of
    another text, what suits any text."""
    now = visit_state.current().request
    same = (shown.model, shown.text) == (now.model, now.text)
    visit_state.set_forced(dict(shown.forced) if same else {})
    kept = shown.interventions
    visit_state.set_interventions(kept if same else kept.on_any_text)


def read_player(report: dict[str, object]) -> None:
    """Handle a report of the player: a selection, a token to force, or one to force no more, or
    other interventions.

    Malformed parts are ignored.
    """
    visit_state.read_selection(report.get("selection"))
    forced = dict(visit_state.current().request.forced)
    if (chosen := reported(report.get("force"), ChosenToken)) is not None:
        step = chosen.step
        kept = {at: token for at, token in forced.items() if chosen.alone or at < step}
        forced = {**kept, step: chosen.id}
        visit_state.select(replace(visit_state.current().selection, step=step))
    if (step := reported(report.get("unforce"), Step)) is not None:
        forced.pop(step, None)
    interventions = visit_state.current().request.interventions
    if (change := reported(report.get("change"), Change)) is not None:
        interventions = change.of(interventions)
    if report.get("reset"):
        forced, interventions = {}, NO_INTERVENTIONS
    visit_state.set_forced(forced)
    visit_state.set_interventions(interventions)
