"""The visit that Explore and Heads share: what is asked for, and what is looked at."""

from collections.abc import Mapping
from dataclasses import replace

from explorer.app.request import NO_INTERVENTIONS, Request, Selection, Visit
from explorer.app.state import session
from explorer.core.interventions import Interventions
from explorer.core.sites import SITES
from explorer.model.catalog import CatalogMember, CatalogModel, UploadedTrace

_MOST_INTEGER = 2**31


def current() -> Visit:
    """The visit; the address bar starts it before a page is drawn."""
    visit = session.find(Visit)
    assert visit is not None
    return visit


def default_request(catalog: Mapping[str, CatalogMember]) -> Request:
    """What a URL without a query asks for: the first model's first example."""
    first = next(iter(catalog.values()))
    return Request(first.name, opening_text(first))


def opening_text(member: CatalogMember) -> str:
    """The text a model opens with; a trace has its own."""
    return "" if isinstance(member, UploadedTrace) else member.examples[0]


def set_text(text: str) -> None:
    """Ask for another text, decoded greedily."""
    _ask(replace(current().request, text=text, forced=()))


def set_padding(count: int) -> None:
    """Ask for `count` padding tokens."""
    _ask(replace(current().request, pad=count))


def set_forced(forced: Mapping[int, int]) -> None:
    """Force these tokens, id by step, and no others."""
    _ask(replace(current().request, forced=tuple(sorted(forced.items()))))


def choose_model(name: str, catalog: Mapping[str, CatalogMember]) -> None:
    """Ask another model; a text it cannot read is replaced by its first example."""
    member, text = catalog[name], current().request.text
    if isinstance(member, CatalogModel) and not member.summary.reads(text):
        text = member.examples[0]
    _ask(replace(current().request, model=name, text=text, forced=()))
    set_interventions(NO_INTERVENTIONS)  # another model has other heads


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
    site = report.get("site")
    select(
        Selection(
            site if site in SITES else None,
            whole(report.get("layer")),
            whole(report.get("head")),
            step_number(report.get("step")),
        )
    )


def whole(value: object) -> int | None:
    """`value` if it is a whole number from 0; JavaScript sends 3 or 3.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < _MOST_INTEGER and value == int(value) else None


def step_number(value: object) -> int | None:
    """`value` if it is a step: they count from 1, and a trace without a target has none."""
    return whole(value) or None


def _ask(request: Request) -> None:
    session.save(replace(current(), request=request))
