"""Route that fetches the known models from the hub, for the host of a class, or on a server that no
other machine reaches. It is never a guest's, see `guest_gate`.

    GET     the models to fetch, as `entries` lists them
    POST    begin to fetch a model, then as GET
    DELETE  cancel that, then as GET
"""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from explorer.app.server import access
from explorer.app.server.origin_check import answers_this_machine_alone
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES
from explorer.jobs import fetch
from explorer.jobs.fetch import Fetch
from explorer.model.known_models import KNOWN_MODELS, KnownModel

_NOT_STORED = {"Cache-Control": "no-store"}


def offered() -> bool:
    """Whether the app's pages offer the known models; in class mode only the host gets pages."""
    return access.is_class_mode() or answers_this_machine_alone()


def to_fetch() -> list[KnownModel]:
    """The models that the app's pages offer to fetch."""
    models = KNOWN_MODELS.values() if offered() else ()
    return [model for model in models if model.snapshot is None]


def entry(model: KnownModel) -> dict[str, Any]:
    """What the list of models says of a model that is not fetched, `FetchEntry` in
    `modelFetch.ts`."""
    return {"name": model.name, "title": model.title, "size": model.size}


async def serve(request: Request) -> Response:
    """The models to fetch, with the share done of each and why its fetch failed; 403 for whom no
    model is offered, 404 for a model that is not known."""
    refused = access.is_class_mode() and not access.is_host(request)
    if refused or not offered():
        return Response(status_code=403, headers=_NOT_STORED)
    model = KNOWN_MODELS.get(request.path_params["model"])
    if model is None and request.method != "GET":
        return Response(status_code=404, headers=_NOT_STORED)
    return await run_in_threadpool(_answer, request, model)


def _answer(request: Request, model: KnownModel | None) -> Response:
    language = request.query_params.get("lang", "")
    error = _act(request.method, model) if model else None
    states = []
    for one in to_fetch():
        job = Fetch.of(one)
        why = error if error and one == model else job.failure
        problem = why.in_language(language if language in LANGUAGES else "en") if why else ""
        states.append({**entry(one), "share": job.share, "problem": problem})
    return JSONResponse(states, headers=_NOT_STORED)


def _act(method: str, model: KnownModel) -> ExplorerError | None:
    """Begin or cancel the fetch of a model. Returns why that was refused."""
    try:
        if method == "POST":
            fetch.begin(model)
        elif method == "DELETE":
            Fetch.of(model).cancel()
    except ExplorerError as error:
        return error
    return None
