"""The visit that Explore and Heads share: the request and the selection."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from explorer.app.state import session
from explorer.core.errors import ExplorerError
from explorer.core.interventions import Interventions
from explorer.core.look import MOST_PADDING, Look, Reading, Request, Selection, to_query
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.model.catalog import TRAINED_PREFIX, CatalogMember


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


def set_text(text: str) -> None:
    """Request another text, decoded greedily."""
    _ask(current().request.of_text(text=text))


def set_pair(text: str) -> None:
    """Request another second text, or none, if the model reads one."""
    if current().request.pair is not None:
        _ask(current().request.of_text(pair=text if text.strip() else ""))


def set_language(name: str, codes: Collection[str], code: object) -> None:
    """Request another language of the text ("source") or the output ("target"), or with "" the
    model's own choice. Anything but one of `codes` is ignored."""
    reading = current().request.reading
    if reading is not None and isinstance(code, str) and (not code or code in codes):
        of_text = name == "source"
        _read_as(
            replace(reading, source_language=code)
            if of_text
            else replace(reading, target_language=code)
        )


def set_chat(chosen: object) -> None:
    """Read the text as a user's message, or as it is."""
    reading = current().request.reading
    if reading is not None and isinstance(chosen, bool):
        _read_as(replace(reading, chat=chosen))


def _read_as(reading: Reading) -> None:
    _ask(current().request.of_text(reading=reading))


def set_padding(count: object) -> None:
    """Request `count` padding tokens. Anything but a number that is offered is ignored."""
    if isinstance(count, int) and 0 <= count <= MOST_PADDING:
        _ask(replace(current().request, pad=count))


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
