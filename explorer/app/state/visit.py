"""The visit that Explore and Heads share: what is asked for, and what is looked at."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from explorer.app.request import (
    INSIDE_VIEWS,
    MOST_PADDING,
    NEXT_VIEWS,
    SHOWN_MAPS,
    Reading,
    Request,
    Selection,
    Visit,
)
from explorer.app.state import messages, session
from explorer.core.alignment import TIMINGS
from explorer.core.errors import ExplorerError
from explorer.core.interventions import Interventions
from explorer.core.sites import SITES
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.model.catalog import TRAINED_PREFIX, CatalogMember

_MOST_INTEGER = 2**31


class MissingModelError(ExplorerError):
    """The chosen model is no longer listed."""

    section: ClassVar[str] = "explore"


def current() -> Visit:
    """The visit; the address bar starts it before a page is drawn."""
    visit = session.find(Visit)
    assert visit is not None
    return visit


def default_request(catalog: Mapping[str, CatalogMember]) -> Request:
    """What a URL without a query asks for: the first model's first example."""
    return opening_request(next(iter(catalog.values())))


def opening_request(member: CatalogMember) -> Request:
    """What a model opens with: its first example, and where it reads pairs no second text yet. A
    trace has a text of its own."""
    if not member.can_trace:
        return Request(member.name, "")
    pair = "" if member.reads_pairs else None
    reading = None if member.is_own else Reading()
    return Request(member.name, member.examples[0], pair=pair, reading=reading)


def leave_missing(catalog: Mapping[str, CatalogMember]) -> None:
    """Choose the first model where the chosen one is no longer listed, and report that."""
    missing = current().request.model
    if missing in catalog:
        return
    first = next(iter(catalog.values()))
    session.save(Visit(opening_request(first)))
    shown = missing.removeprefix(TRAINED_PREFIX)
    messages.report(MissingModelError("model_gone", name=shown, shown=first.name))


def set_text(text: str) -> None:
    """Ask for another text, decoded greedily."""
    _ask(replace(current().request, text=text, forced=()))


def set_pair(text: str) -> None:
    """Ask for another second text, or for none, where the model reads one."""
    if current().request.pair is not None:
        _ask(replace(current().request, pair=text if text.strip() else "", forced=()))


def set_language(name: str, codes: Collection[str], code: object) -> None:
    """Ask for another language of the text or the output, "source" or "target", or with "" for the
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
    _ask(replace(current().request, reading=reading, forced=()))


def set_padding(count: object) -> None:
    """Ask for `count` padding tokens; anything but a number that is offered is ignored."""
    if isinstance(count, int) and 0 <= count <= MOST_PADDING:
        _ask(replace(current().request, pad=count))


def set_forced(forced: Mapping[int, int]) -> None:
    """Force these tokens, id by step, and no others."""
    _ask(replace(current().request, forced=tuple(sorted(forced.items()))))


def choose_model(name: str, catalog: Mapping[str, CatalogMember]) -> None:
    """Ask another model, whose heads are selected anew; a text that means nothing to it is replaced
    by its first example. Padding stays, who guesses goes on guessing, and who reads words goes on
    reading words.

    A model that is not listed is ignored: a connection may report any name.
    """
    if name not in catalog:
        return
    member, request = catalog[name], current().request
    opening, before = opening_request(member), catalog.get(request.model)
    text = request.text if _can_read(member, request.text, before) else opening.text
    before_it = current().selection
    kept = Selection(guess=before_it.guess, words=before_it.words)
    pair = None if opening.pair is None else request.pair or ""
    asked = replace(opening, model=name, text=text, pad=request.pad, pair=pair)
    session.save(Visit(asked, kept))


def return_to(visit: Visit) -> None:
    """Ask for what was asked for before."""
    session.save(visit)


def set_interventions(interventions: Interventions) -> None:
    """Apply these interventions, and no others."""
    session.save(replace(current(), interventions=interventions))


def select(selection: Selection) -> None:
    """Look at another part of the trace."""
    session.save(replace(current(), selection=selection))


def read_selection(report: object) -> None:
    """Take the selection that a component in the browser reports; ignore what is malformed."""
    if not isinstance(report, dict):
        return
    names = ("site", "alignment", "ahead", "inside", "shows", "next")
    site, alignment, ahead, inside, shows, following = (report.get(name) for name in names)
    select(
        Selection(
            site if site in SITES else None,
            whole(report.get("layer")),
            whole(report.get("head")),
            step_number(report.get("step")),
            alignment if alignment in TIMINGS else None,
            report.get("guess") is True or None,
            ahead if isinstance(ahead, bool) else None,
            _cell(report.get("cell")),
            inside if inside in INSIDE_VIEWS else None,
            shows if shows in SHOWN_MAPS else None,
            _cell(report.get("other")),
            following if following in NEXT_VIEWS else None,
            report.get("words") is True or None,
        )
    )


def visit_of_cell(opening: Request, report: Mapping[str, object]) -> Visit:
    """Where Explore shows how the weight of a cell is computed.

    opening: what the model opens with. report: a browser's, with the head, "query" and "key" of the
    cell, and the "text"; what is malformed is left out.
    """
    text, site = report.get("text"), report.get("site")
    cell = _cell([report.get("query"), report.get("key")])
    selection = Selection(
        site if site in SITES else None,
        whole(report.get("layer")),
        whole(report.get("head")),
        None if cell is None or site == "encoder" else cell[0] + 1,
        cell=cell,
    )
    if isinstance(text, str) and 0 < len(text) <= LONGEST_LINKED_TEXT:
        opening = replace(opening, text=text)
    return Visit(opening, selection)


def _cell(value: object) -> tuple[int, int] | None:
    """Query and key, reported as a list of two numbers."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    query, key = whole(value[0]), whole(value[1])
    return None if query is None or key is None else (query, key)


def whole(value: object) -> int | None:
    """`value` if it is a whole number from 0; JavaScript sends 3 or 3.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < _MOST_INTEGER and value == int(value) else None


def step_number(value: object) -> int | None:
    """`value` if it is a step: they count from 1, and a trace without a target has none."""
    return whole(value) or None


def _can_read(member: CatalogMember, text: str, before: CatalogMember | None) -> bool:
    """Whether a text of the model `before` means something to a model: mask tokens are those of
    one model, and so are sentences chosen as its examples. A trace reads none."""
    if not member.can_trace:
        return True
    examples = before.examples if before and before.can_trace else ()
    if member.summary.reads_sentences and text in examples and text not in member.examples:
        return False
    foreign = before.mask if before and before.can_trace else ""
    return member.reads(text) and not (foreign and foreign != member.mask and foreign in text)


def _ask(request: Request) -> None:
    session.save(replace(current(), request=request))
