"""Route for a browser's questions about a trace on screen; see `components.trace_questions`.

The address names a trace by a key, known only to visitors who were shown the trace, and a place
that is looked up; no part of it is used as a path. Guests of a class ask about the trace on the
host's screen alone, see `guest_gate`. A trace is offered as long as it is in a cache;
the route itself keeps none.
"""

import asyncio
import gzip
import hmac
import secrets
from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import access
from explorer.app.server.large_answer import LargeAnswer
from explorer.app.server.rate_limit import address_of, charged_for, network_of
from explorer.app.server.sentence import language_of
from explorer.components.player.payload import Offer
from explorer.components.trace_questions import (
    TRACE_QUESTIONS,
    AskedModel,
    TraceQuestion,
    methods_offered,
    offered,
)
from explorer.core.errors import ConfigError, ExplorerError
from explorer.core.trace import Trace

MOST_COMPUTING = 2
"""Most answers computed at a time. A browser may request many, and each takes seconds. Waiting ones
hold none of the server's forty threads, which also serve pages."""

MOST_ANSWER_BYTES = 2**26
"""Bytes of all cached answers together."""

_MAX_AGE = 3600  # seconds
_FAST = 1  # level of compression: somebody waits for the answer
_NOT_STORED = {"Cache-Control": "no-store"}
_SECRET = secrets.token_bytes(32)

_traces: WeakValueDictionary[str, Trace] = WeakValueDictionary()
_models: WeakKeyDictionary[Trace, AskedModel | None] = WeakKeyDictionary()
_answers = LimitedCache(MOST_ANSWER_BYTES)
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by network address
_computing = asyncio.Semaphore(MOST_COMPUTING)
_reading = asyncio.Semaphore(MOST_COMPUTING)  # from a trace alone, without waiting for models


def offer(name: Hashable, trace: Trace, model: AskedModel | None) -> Offer:
    """The questions about `trace` that can be asked, below an address relative to the page's.

    name: the inputs that `trace` was computed from. Equal names get the same address, so answers in
        browsers and caches stay valid when the trace is computed again.
    model: of the trace, or None if it is not available.
    """
    key = hmac.new(_SECRET, repr(name).encode(), "sha256").hexdigest()
    _traces[key], _models[trace] = trace, model
    return _offer_of(key, trace)


def offered_trace(key: str) -> tuple[Trace, Offer] | None:
    """The trace with this key and what can be asked about it; None if it is no longer there."""
    trace = _traces.get(key)
    if trace is None:
        return None
    return trace, _offer_of(key, trace)


def _offer_of(key: str, trace: Trace) -> Offer:
    model = _models[trace]
    names = tuple(one.name for one in offered(trace, model))
    return Offer(f"trace/{key}", names, methods_offered(trace, model))


async def serve(request: Request) -> Response:
    """The answer. 404 for something the trace does not have or that is no longer there, 422 with a
    sentence for what the model does not allow, 429 for an address over the limit."""
    key, name, place = (request.path_params[part] for part in ("trace", "question", "place"))
    trace, question = _traces.get(key), TRACE_QUESTIONS.get(name)
    if trace is None or question is None:
        return _refused(404)
    answer = partial(_answer, request, key, trace, question, place)
    if _answers.find((key, name, place)) is not None:
        return await run_in_threadpool(answer)
    turn, slot = (
        (_turn_of(request), _computing) if question.asks_model else (nullcontext(), _reading)
    )
    async with turn, slot:
        gone = await request.is_disconnected()
        return _refused(404) if gone else await run_in_threadpool(answer)


def _turn_of(request: Request) -> AbstractAsyncContextManager[Any]:
    """In class mode, the turn of the guests at one network address: their answers are computed one
    after another, so the host and other addresses wait for one of them at most."""
    if not access.is_class_mode() or access.is_host(request):
        return nullcontext()
    network = network_of(address_of(request))
    turn = _turns.get(network)
    if turn is None:
        turn = _turns[network] = asyncio.Lock()
    return turn


def _answer(
    request: Request, key: str, trace: Trace, question: TraceQuestion, place: str
) -> Response:
    def compute() -> bytes:
        data = question.answer(trace, _models[trace], question.place(place, trace))
        return gzip.compress(data, compresslevel=_FAST, mtime=0)

    with charged_for(request) as admitted:
        if not admitted:
            return _refused(429)
        try:
            data = _answers.get((key, question.name, place), compute, len)
        except ConfigError as error:
            said = error.in_language(language_of(request.headers))
            return PlainTextResponse(said, 422, _NOT_STORED)
        except ExplorerError:
            return _refused(404)
    headers = {"Cache-Control": f"private, max-age={_MAX_AGE}", "Content-Encoding": "gzip"}
    return LargeAnswer(data, media_type="application/octet-stream", headers=headers)


def _refused(status: int) -> Response:
    """An answer without content, which browsers do not cache."""
    return Response(status_code=status, headers=_NOT_STORED)
