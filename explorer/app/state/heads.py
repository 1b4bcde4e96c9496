"""State of the Heads page apart from the visit and the measurements: its section, the intervention
being drafted, and the picture on screen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core.address_fields import MOST_INTERVENTIONS, Whole, reported
from explorer.core.errors import InterventionError
from explorer.core.interventions import Intervention, Interventions, RowOverride, Verb
from explorer.core.look import (
    COMPARE,
    NO_INTERVENTIONS,
    OTHER_TEXT,
    SECTIONS,
    Look,
    Request,
    Selection,
)
from explorer.core.section_questions import QUESTIONS, CellQuestion, written
from explorer.core.sites import Head

ALL = -1
"""Number that stands for all layers, or for all heads."""


class InterventionDraftError(InterventionError):
    """The fields filled in do not give an intervention."""

    section = "heads"


class ReportedCell(msgspec.Struct):
    """A cell of a map that was clicked."""

    site: str
    layer: Whole
    head: Whole
    query: Whole
    key: Whole


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields of the next intervention; None = not filled in, the editor shows its default.

    layer, head: `ALL` stands for all of them.
    """

    verb: Verb | None = None
    site: str | None = None
    layer: int | None = None
    head: int | None = None
    how: str | None = None
    query: int | None = None
    key: int | None = None

    def intervention(self, weights: str) -> Intervention:
        """The intervention filled in. Raises `InterventionError`.

        weights: the weights of a row, as typed.
        """
        layer, number = (None if part == ALL else part for part in (self.layer, self.head))
        head = (self.site, layer, number)
        match self.verb:
            case Verb.ABLATE:
                drafted = Interventions.gather(ablate=[(*head, self.how or "zero")])
            case Verb.MASK | Verb.UNMASK:
                cell = (*head, self.query, self.key, self.verb == Verb.UNMASK)
                drafted = Interventions.gather(edit_mask=[cell])
            case Verb.ROW:
                row = (*head, self.query, _weights(weights))
                drafted = Interventions.gather(override_row=[row])
            case _:
                drafted = Interventions.gather(keep=[head])
        (one,) = drafted
        return one


@dataclass(frozen=True, slots=True)
class InitialSelection:
    """Initial selection of a picture. It stays the same while the picture does, so the same bytes
    are not sent again."""

    picture: object
    selection: Selection


@dataclass(frozen=True, slots=True)
class HeadsState:
    """section: the section on screen; "" = the first.
    proposed: interventions that are applied if an experiment with them can be computed.
    shown: the last request that could be traced, with nothing forced.
    initial_head: head that the app last showed a picture with, when nobody had named one.
    moved: number of times the editor moved the picture to another head.
    compared: the second side of a comparison, as in `Look`; "" = the first model that can be
        compared.
    other_text: text compared with last; text_of: the model it was compared in.
    asked: section → what it is asked, as in `QUESTIONS`.
    replaced: number of the token of the first text that another is chosen for; None = none.
    """

    section: str = ""
    draft: Draft = Draft()
    proposed: Interventions = NO_INTERVENTIONS
    shown: Request | None = None
    initial: InitialSelection | None = None
    initial_head: Head | None = None
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
    """The second side of the comparison, as in `Look`; "" = the first model that can be
    compared."""
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


def draft() -> Draft:
    """The intervention being drafted."""
    return session.load(HeadsState).draft


def fill_in(**fields: Any) -> None:
    """Set fields of the draft."""
    state = session.load(HeadsState)
    session.save(replace(state, draft=replace(state.draft, **fields)))


def draft_head(initial_head: Head | None) -> None:
    """Draft an intervention on the head on screen. A draft for all heads or layers stays.

    initial_head: head that the app shows the picture with, when nobody has named one. While
        interventions are in force it is the head that they change most. The draft then keeps its
        own head, so that a person chooses what is applied next.
    """
    state, visit = session.load(HeadsState), visit_state.current()
    by_app = initial_head or state.initial_head
    session.save(replace(state, initial_head=by_app))
    head = visit.selection.named_head or initial_head
    kept = head == by_app and bool(visit.request.interventions) and draft().head is not None
    if head is not None and not kept and ALL not in (draft().layer, draft().head):
        fill_in(site=head.site, layer=head.layer, head=head.head)


def keep_head() -> None:
    """Select the head that the app opened the picture with, if nobody has named one. Another
    picture then opens at it, too."""
    visit = visit_state.current()
    visit_state.select(visit.selection.or_head(session.load(HeadsState).initial_head))


def show_drafted_head() -> None:
    """Move the picture to the head of the draft, if it is a single head."""
    one = draft()
    if one.site is None or one.layer in (None, ALL) or one.head in (None, ALL):
        return
    show_head(Head(one.site, one.layer, one.head))


def show_head(head: Head) -> None:
    """Move the picture to a head."""
    before = visit_state.current().selection
    visit_state.select(Selection(*head, before.step).with_flags_of(before))
    state = session.load(HeadsState)
    session.save(replace(state, moved=state.moved + 1))


def times_moved() -> int:
    """Number of times the editor moved the picture to another head."""
    return session.load(HeadsState).moved


def with_draft(keys: int) -> Interventions:
    """The interventions in force and the drafted one. Raises `InterventionError`.

    keys: number of weights that a row needs.
    """
    weights = str(session.widget_value(session.WEIGHTS) or "")
    drafted = draft().intervention(weights)
    if isinstance(drafted, RowOverride) and len(drafted.weights) != keys:
        raise InterventionDraftError("other_weights", keys=keys, got=len(drafted.weights))
    combined = visit_state.current().request.interventions.plus(drafted)
    if len(combined) > MOST_INTERVENTIONS:
        raise InterventionDraftError("too_many_chips", limit=MOST_INTERVENTIONS)
    return combined


def propose(interventions: Interventions) -> None:
    """Apply these interventions in the next run, if an experiment with them can be computed; none =
    propose none any more."""
    session.save(replace(session.load(HeadsState), proposed=interventions))


def take_proposed() -> Interventions:
    """Return the proposed interventions, and clear them."""
    proposed = session.load(HeadsState).proposed
    propose(NO_INTERVENTIONS)
    return proposed


def read_view(report: dict[str, object]) -> None:
    """Handle a report of a head view: a selection, and a cell that was clicked. These views show
    pieces and hide nothing; Explore keeps showing words, and guessing, if it did so.

    A newly selected head and a clicked cell are filled into the draft.
    """
    before = visit_state.current().selection
    visit_state.read_selection(report.get("selection"))
    now = visit_state.current().selection.with_flags_of(before)
    visit_state.select(now)
    shown = before.named_head or session.load(HeadsState).initial_head
    if (head := now.named_head) is not None and head != shown:
        fill_in(site=head.site, layer=head.layer, head=head.head)
    if (cell := reported(report.get("cell"), ReportedCell)) is not None:
        fill_in(**msgspec.structs.asdict(cell))


def _weights(text: str) -> tuple[float, ...]:
    """Numbers separated by commas or spaces. "nan" is a number here, which `gather` refuses."""
    try:
        numbers = tuple(float(number) for number in text.replace(",", " ").split())
    except ValueError:
        numbers = ()
    if not numbers:
        raise InterventionDraftError("bad_weights")
    return numbers
