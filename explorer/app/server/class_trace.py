"""Route for the trace on the host's screen, which guests get where their browsers cannot compute
it: of a model of the library transformers, an upload or a training, and with interventions.

The key is that of `trace_route`, which answers the questions about it.
"""

import gzip
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import class_route, trace_route
from explorer.app.server.large_answer import LargeAnswer
from explorer.app.server.shared_work import SharedWork
from explorer.components.player.payload import player_payload

PATH = "/class/trace/{trace}"

MOST_BYTES = 2**26
"""Bytes of all cached payloads together."""

_MAX_AGE = 3600  # seconds
_FAST = 1  # level of compression: a class waits for the answer
_payloads = LimitedCache(MOST_BYTES)
_making: SharedWork[bytes | None] = SharedWork()


def is_on_screen(key: str) -> bool:
    """Whether the host shows the trace with this key to the class."""
    return bool(key) and key == class_route.session.shown_trace


async def serve(request: Request) -> Response:
    """The payload of the player, without sentences; 404 for a trace that is not on the host's
    screen."""
    key = request.path_params["trace"]
    if not is_on_screen(key):
        return _not_found()
    data = _payloads.find(key)
    if data is None:
        data = await _making.of(key, partial(_made, key))
    if data is None:
        return _not_found()
    headers = {"Cache-Control": f"private, max-age={_MAX_AGE}", "Content-Encoding": "gzip"}
    return LargeAnswer(data, media_type="application/octet-stream", headers=headers)


def _made(key: str) -> bytes | None:
    """The compressed payload, made once; None if the trace is no longer there."""
    offered = trace_route.offered_trace(key)
    if offered is None:
        return None
    trace, offer = offered

    def make() -> bytes:
        return gzip.compress(player_payload(trace, language=None, offer=offer), _FAST, mtime=0)

    return _payloads.get(key, make, len)


def _not_found() -> Response:
    return Response(status_code=404, headers={"Cache-Control": "no-store"})
