"""The visit that Explore and Heads share: the request and the selection."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from explorer.app.state import session
from explorer.core.address_fields import Whole, reported
from explorer.core.errors import ExplorerError
from explorer.core.interventions import Interventions
from explorer.core.look import MOST_PADDING, Look, Reading, Request, Selection, to_query
from explorer.core.vocabulary import LONGEST_LINKED_TEXT, LONGEST_TEXT
from explorer.model.catalog import TRAINED_PREFIX, CatalogMember

_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]


class AskedRequest(msgspec.Struct):
    """A request, as a browser asks for it."""

    model: str
    text: _Text
    pad: Annotated[int, Meta(ge=0, le=MOST_PADDING)] = 0
    pair: _Text | None = None
    reading: Reading | None = None

    def request(self, initial: Request) -> Request:
        """The request to the model of `initial`, without what that does not read."""
        return replace(
            initial,
            text=self.text,
            pad=self.pad,
            pair=None if initial.pair is None else self.pair or "",
            reading=None if initial.reading is None else self.reading or initial.reading,
        )


@dataclass(frozen=True, slots=True)
class ReadReport:
    """number: of the last report of the row of controls that was read; 0 before."""

    number: int = 0


class MissingModelError(ExplorerError):
    """The chosen model is no longer listed."""

    section: ClassVar[str] = "explore"


def current() -> Look:
    """The visit; the address bar starts it before a page is drawn."""
    visit = session.find(Look)
    assert visit is not None
    return visit


def default_request(catalog: Mapping[str, CatalogMember]) -> Request:
    """The request of a URL without a query: the first model's first example."""
    return initial_request(next(iter(catalog.values())))


def initial_request(member: CatalogMember) -> Request:
    """The initial request of a model: its first example and, if it reads pairs, no second text yet.
    A trace has its own text."""
    if not member.can_trace:
        return Request(member.name, "")
    pair = "" if member.reads_pairs else None
    reading = None if member.is_own else Reading()
    return Request(member.name, member.examples[0], pair=pair, reading=reading)


def shared_query(member: CatalogMember, request: Request) -> Mapping[str, str] | None:
    """Query with which another visitor asks for the trace; None for an upload, and for a text too
    long for a link."""
    query = to_query(Look(request))
    short = all(len(value) <= LONGEST_LINKED_TEXT for value in query.values())
    return query if member.can_share and short else None


def leave_missing(catalog: Mapping[str, CatalogMember]) -> MissingModelError | None:
    """Choose the first model if the chosen one is no longer listed. Returns the error to report."""
    missing = current().request.model
    if missing in catalog:
        return None
    first = next(iter(catalog.values()))
    session.save(Look(initial_request(first)))
    shown = missing.removeprefix(TRAINED_PREFIX)
    return MissingModelError("model_gone", name=shown, shown=first.name)


def read_request(report: object, catalog: Mapping[str, CatalogMember]) -> None:
    """Take the request that the row of controls reports. Another model is asked for the texts that
    the row reports, if it reads them; else see `choose_model`. What is malformed is ignored, and a
    model that is not listed."""
    if not isinstance(report, dict):
        return
    if (number := reported(report.get("number"), Whole)) is not None:
        session.save(ReadReport(number))
    asked, before = reported(report, AskedRequest), current().request
    member = catalog.get(asked.model) if asked else None
    if asked is None or member is None:
        return
    if asked.model != before.model:
        choose_model(asked.model, catalog)
        chosen = current().request
        fits = member.can_trace and member.reads(asked.text)
        text = asked.text if fits else chosen.text
        _ask(replace(chosen, text=text, pair=asked.request(chosen).pair))
    elif member.can_trace:
        wanted = asked.request(before)
        padded = replace(before, pad=wanted.pad)
        read = {"text": wanted.text, "pair": wanted.pair, "reading": wanted.reading}
        _ask(padded if padded == wanted else padded.of_text(**read))


def last_read() -> int:
    """Number of the last report of the row of controls that was read; 0 before."""
    return session.load(ReadReport).number


def choose_model(name: str, catalog: Mapping[str, CatalogMember]) -> None:
    """Choose another model and reset the selected head. A text that it cannot read is replaced by
    its first example. Padding, guessing and reading words stay as they are.

    A model that is not listed is ignored: a connection may report any name.
    """
    if name not in catalog:
        return
    member, request = catalog[name], current().request
    initial, before = initial_request(member), catalog.get(request.model)
    text = request.text if _can_read(member, request.text, before) else initial.text
    pair = None if initial.pair is None else request.pair or ""
    asked = replace(initial, model=name, text=text, pad=request.pad, pair=pair)
    session.save(Look(asked, Selection().with_flags_of(current().selection)))


def return_to(visit: Look) -> None:
    """Go back to an earlier visit."""
    session.save(visit)


def set_interventions(interventions: Interventions) -> None:
    """Apply these interventions, and no others."""
    _ask(replace(current().request, interventions=interventions))


def select(selection: Selection) -> None:
    """Look at another part of the trace."""
    session.save(replace(current(), selection=selection))


def read_selection(report: object) -> None:
    """Take the selection that a component in the browser reports; ignore malformed ones."""
    if isinstance(report, dict):
        select(Selection.reported(report))


def visit_of_cell(initial: Request, report: Mapping[str, object]) -> Look:
    """The visit of Explore that shows how the weight of a cell is computed.

    initial: the model's initial request. report: a browser's report with the head, "query" and
        "key" of the cell, and the "text"; malformed parts are left out.
    """
    text, cell = report.get("text"), [report.get("query"), report.get("key")]
    head = {name: report.get(name) for name in ("site", "layer", "head")}
    seen = Selection.reported({**head, "cell": cell})
    if seen.cell is not None and seen.site != "encoder":
        seen = replace(seen, step=seen.cell[0] + 1)
    if isinstance(text, str) and 0 < len(text) <= LONGEST_LINKED_TEXT:
        initial = replace(initial, text=text)
    return Look(initial, seen)


def _can_read(member: CatalogMember, text: str, before: CatalogMember | None) -> bool:
    """Whether a model can read a text of the model `before`. Mask tokens belong to one model, and
    so do sentences chosen as its examples. A trace reads no text."""
    if not member.can_trace:
        return True
    examples = before.examples if before and before.can_trace else ()
    if member.summary.reads_sentences and text in examples and text not in member.examples:
        return False
    foreign = before.mask if before and before.can_trace else ""
    return member.reads(text) and not (foreign and foreign != member.mask and foreign in text)


def _ask(request: Request) -> None:
    session.save(replace(current(), request=request))
