"""Route that traces what the page Explore asks for.

Only models of the catalog can be asked. A visitor's own models are named by a token that ends with
the session, see `visitor_catalog`.
"""

from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from explorer.app import first_trace, model_cache
from explorer.app.asked_model import asked_model
from explorer.app.initial_view import initial_selection, initial_view
from explorer.app.reading_choices import reading_choices
from explorer.app.server import access, preparation, trace_route
from explorer.app.server.rate_limit import charged_for
from explorer.app.state.visit import AskedRequest, initial_request, shared_query
from explorer.app.trace_notes import trace_notes
from explorer.app.visitor_catalog import catalog_of
from explorer.components.player.payload import player_payload
from explorer.core import json_values
from explorer.core.address_fields import MOST_FORCED, MOST_INTERVENTIONS, Step, Whole
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES
from explorer.core.interventions import Interventions
from explorer.core.look import Request, Selection
from explorer.core.trace import Trace
from explorer.model.catalog import CatalogMember

LARGEST = 2**20
"""Most bytes of a question."""

_NOT_STORED = {"Cache-Control": "no-store"}

_Forced = Annotated[list[tuple[Step, Whole]], Meta(max_length=MOST_FORCED)]
_Lines = Annotated[list[str], Meta(max_length=MOST_INTERVENTIONS)]


class Asked(AskedRequest):
    """What the page asks for: a request, and what of its trace is to be looked at; `bodyOf` in
    `serverBackend.ts`.

    view: as `Selection.reported` takes it.
    """

    forced: _Forced = msgspec.field(default_factory=list)
    interventions: _Lines = msgspec.field(default_factory=list)
    view: dict[str, Any] = msgspec.field(default_factory=dict)
    language: str = "en"

    def request(self, initial: Request) -> Request:
        """The request to the model of `initial`, without what that does not read.

        Raises `InterventionError`.
        """
        return replace(
            AskedRequest.request(self, initial),
            forced=tuple(sorted(self.forced)),
            interventions=Interventions.parse(self.interventions),
        )


async def serve(request: HttpRequest) -> Response:
    """The payload of the player, without sentences; for what the model refuses JSON with the key
    and the facts of a sentence.

    400 for what the page never asks, 404 for a model that is not listed, 429 for an address over
    the limit. A refusal is none of them: browsers report those as errors of the page.
    """
    body = await request.body()
    try:
        if len(body) > LARGEST:
            raise ValueError("too large")
        asked = msgspec.convert(json_values.parse_object(body), Asked)
    except ValueError:  # or a `ValidationError`
        return _without_content(400)
    return await run_in_threadpool(partial(_answer, request, asked))


def _answer(request: HttpRequest, asked: Asked) -> Response:
    member = catalog_of(request.headers.get("x-visitor", "")).get(asked.model)
    if member is None:
        return _without_content(404)
    language = asked.language if asked.language in LANGUAGES else "en"
    with charged_for(request) as admitted:
        if not admitted:
            return _without_content(429)
        opened = False
        try:
            unchanged = not asked.interventions
            first = first_trace.shown_first(member, _request(member, asked)) if unchanged else None
            if first is None and member.can_trace:
                model_cache.model_of(member)
            opened = True
            wanted = _request(member, asked)
            trace = first or model_cache.trace(member, wanted)
            data = explore_payload(member, wanted, trace, Selection.reported(asked.view), language)
        except ExplorerError as error:
            return _refusal(error, opened, language)
    return Response(
        data,
        media_type="application/octet-stream",
        headers=_NOT_STORED,
        background=BackgroundTask(preparation.go_on),
    )


def _request(member: CatalogMember, asked: Asked) -> Request:
    """Raises `InterventionError`. A trace without its model reads nothing."""
    initial = initial_request(member)
    return asked.request(initial) if member.can_trace else initial


def explore_payload(
    member: CatalogMember, request: Request, trace: Trace, wanted: Selection, language: str
) -> bytes:
    """The payload of the player for the trace of `request`, at `wanted` as far as the trace has it;
    with the notes on the trace and the ways in which its model can read a text, where there are
    any.

    Raises `ExplorerError`.
    """
    seen, _ = wanted.within(trace)
    seen, _ = seen.at_cell(trace)
    whole = seen.step is None
    initial = initial_selection(seen, member, trace, with_step=whole)
    view = initial_view(member, request, trace, initial, whole)
    model = asked_model(member, request, trace)
    offer = trace_route.offer((member.stamp, request), trace, model)
    notes, reading = trace_notes(member, trace, language), reading_choices(member, language)
    said = {name: one for name, one in {"notes": notes, "reading": reading}.items() if one}
    more: dict[str, object] = {"language": language, **said}
    if access.is_class_mode():  # with which the host's page tells guests what is shown
        more |= {"visit": shared_query(member, request), "resources": asdict(offer)}
    return player_payload(trace, language=None, view=view, offer=offer, more=more)


def _refusal(error: ExplorerError, opened: bool, language: str) -> Response:
    """The error for the page, which has the sentences of errors; of another one its sentence.

    opened: whether the model could be opened, which may read another text.
    """
    if error.section != "errors":
        content: dict[str, object] = {"key": "", "facts": {"sentence": error.in_language(language)}}
    else:
        facts = {
            name: fact.in_language(language) if isinstance(fact, ExplorerError) else fact
            for name, fact in error.facts.items()
        }
        content = {"key": error.key, "facts": facts}
    return JSONResponse({**content, "opened": opened}, headers=_NOT_STORED)


def _without_content(status: int) -> Response:
    return Response(status_code=status, headers=_NOT_STORED)
