"""State of the Heads page apart from the visit and the measurements: its section and the picture on
screen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core.look import (
    COMPARE,
    OTHER_TEXT,
    SECTIONS,
    Look,
    Request,
    Selection,
)
from explorer.core.section_questions import QUESTIONS, CellQuestion, written
from explorer.core.sites import Head


@dataclass(frozen=True, slots=True)
class InitialSelection:
    """Initial selection of a picture. It stays the same while the picture does, so the same bytes
    are not sent again."""

    picture: object
    selection: Selection


@dataclass(frozen=True, slots=True)
class HeadsState:
    """section: the section on screen; "" = the first.
    shown: the last request that could be traced, with nothing forced.
    moved: number of times a control moved the picture to another head.
    compared: the second side of a comparison, as in `Look`; "" = `OTHER_TEXT`.
    other_text: text compared with last; text_of: the model it was compared in.
    asked: section → what it is asked, as in `QUESTIONS`.
    replaced: number of the token of the first text that another is chosen for; None = none.
    """

    section: str = ""
    shown: Request | None = None
    initial: InitialSelection | None = None
    moved: int = 0
    compared: str = ""
    other_text: str = ""
    text_of: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)
    replaced: int | None = None


def section() -> str:
    """The section on screen."""
    return session.load(HeadsState).section or SECTIONS[0]


def show_section(name: str) -> None:
    """Show another section; "" = the first."""
    session.save(replace(session.load(HeadsState), section=name))


def look() -> Look:
    """The visit and the section on screen, with the text that is shown if another was refused."""
    shown, visit = section(), visit_state.current()
    if requested() != shown_request() and shown_request().model == visit.request.model:
        interventions = visit.request.interventions
        visit = replace(visit, request=replace(shown_request(), interventions=interventions))
    other = compared() if shown == COMPARE else ""
    text = other_text() if other == OTHER_TEXT else ""
    return replace(
        visit,
        section="" if shown == SECTIONS[0] else shown,
        compared=other,
        other_text=text,
        ask=written(shown, asked(shown)) if shown in QUESTIONS else "",
    )


def compared() -> str:
    """The second side of the comparison, as in `Look`; "" = `OTHER_TEXT`."""
    return session.load(HeadsState).compared


def other_text() -> str:
    """The text compared with last in the chosen model; "" before."""
    state = session.load(HeadsState)
    return state.other_text if state.text_of == visit_state.current().request.model else ""


def compare_with(name: str) -> None:
    """Compare with another second side, see `compared`, and select the initial head of such a
    comparison on it."""
    remember_compared(name)
    visit_state.select(replace(visit_state.current().selection, other=None))


def remember_compared(name: str) -> None:
    """Note the second side, see `compared`."""
    session.save(replace(session.load(HeadsState), compared=name))


def remember_other_text(text: str, model: str) -> None:
    """Note the text that is compared with in a model; "" = the one offered first."""
    session.save(replace(session.load(HeadsState), other_text=text, text_of=model))


def asked(section: str) -> Any:
    """What a section is asked, as in `QUESTIONS`."""
    return session.load(HeadsState).asked.get(section, QUESTIONS[section].unset)


def ask(section: str, question: Any) -> None:
    """Ask a section another question; None = what it is asked at first."""
    state = session.load(HeadsState)
    value = QUESTIONS[section].unset if question is None else question
    session.save(replace(state, asked={**state.asked, section: value}))


def ask_word(section: str, word: str) -> None:
    """Ask a section what a word of an address says, and all others what they are asked at
    first."""
    session.save(replace(session.load(HeadsState), asked={}))
    if word:
        ask(section, QUESTIONS[section].read(word))


def cell_question() -> CellQuestion:
    """The cells that a corpus is searched for."""
    found: CellQuestion = asked("search")
    return found


def replaced() -> int | None:
    """Number of the token of the first text that another is chosen for; None = none."""
    return session.load(HeadsState).replaced


def choose_replaced(number: int) -> None:
    """Choose the token of the first text that is replaced."""
    session.save(replace(session.load(HeadsState), replaced=number))


def requested() -> Request:
    """The visitor's request. On this page no token is forced."""
    return visit_state.current().request.unchanged()


def shown_request() -> Request:
    """The request on screen: the last one that could be traced."""
    return session.load(HeadsState).shown or requested()


def remember_shown(request: Request) -> None:
    """Note that `request` is on screen."""
    session.save(replace(session.load(HeadsState), shown=request))


def initial_selection(picture: object) -> Selection:
    """Initial selection of `picture`: the current selection when it is first shown."""
    state = session.load(HeadsState)
    if state.initial is None or state.initial.picture != picture:
        state = replace(state, initial=InitialSelection(picture, visit_state.current().selection))
        session.save(state)
    assert state.initial is not None
    return state.initial.selection


def forget_initial() -> None:
    """Let the next picture open at the current selection, after a visit to another page."""
    session.save(replace(session.load(HeadsState), initial=None))


def show_head(head: Head) -> None:
    """Move the picture to a head."""
    before = visit_state.current().selection
    visit_state.select(Selection(*head, before.step).with_flags_of(before))
    state = session.load(HeadsState)
    session.save(replace(state, moved=state.moved + 1))


def times_moved() -> int:
    """Number of times a control moved the picture to another head."""
    return session.load(HeadsState).moved


def read_view(report: dict[str, object]) -> None:
    """Take the selection that a head view reports. These views show pieces and hide nothing;
    Explore keeps showing words, and guessing, if it did so."""
    before = visit_state.current().selection
    visit_state.read_selection(report.get("selection"))
    visit_state.select(visit_state.current().selection.with_flags_of(before))
