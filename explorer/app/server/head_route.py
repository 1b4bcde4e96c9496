"""The route that serves the weights of a head of a large trace, when a visitor chooses it.

The URL names a trace by a key that only those know to whom the server has shown the trace; no
part of it is used as a path. A trace is offered as long as it is in a cache: the route keeps none.
"""

import hmac
import re
import secrets
from collections.abc import Hashable
from typing import cast
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.rate_limit import charged_for
from explorer.components.player.heads import MEAN, HeadAddress, Unit, head_payload
from explorer.core.trace import Trace

PATH = "/weights/{trace}/{unit}/{site}/{layer}/{head}"

_MAX_AGE = 3600  # seconds
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_UNITS = ("pieces", "words")
_SECRET = secrets.token_bytes(32)
_offered: WeakValueDictionary[str, Trace] = WeakValueDictionary()


def offer(name: Hashable, trace: Trace) -> str:
    """The address below which the heads of `trace` are served, relative to the page's.

    name: what `trace` was computed from; it always gets the same address, so that the payloads
        in browsers and caches stay good when the trace is computed again.
    """
    key = trace_key(name)
    _offered[key] = trace
    return f"weights/{key}"


def trace_key(name: Hashable) -> str:
    """The key of what was computed from `name`, which only this server can compute."""
    return hmac.new(_SECRET, repr(name).encode(), "sha256").hexdigest()


def serve_head(request: Request) -> Response:
    """The payload of one head; 404 for a trace that is not there (any more)."""
    parts = request.path_params
    trace = _offered.get(parts["trace"])
    address = _address(parts["unit"], parts["site"], parts["layer"], parts["head"])
    if trace is None or address is None or not address.within(trace):
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    with charged_for(request) as admitted:
        if not admitted:
            return Response(status_code=429, headers={"Cache-Control": "no-store"})
        data = head_payload(trace, address)
    headers = {"Cache-Control": f"private, max-age={_MAX_AGE}", "Content-Encoding": "gzip"}
    return Response(data, media_type="application/octet-stream", headers=headers)


def _address(unit: str, site: str, layer: str, head: str) -> HeadAddress | None:
    """The map that a URL names; None where it names none."""
    numbers = _NUMBER.fullmatch(layer) and (head == MEAN or _NUMBER.fullmatch(head))
    if unit not in _UNITS or not numbers:
        return None
    return HeadAddress(cast(Unit, unit), site, int(layer), None if head == MEAN else int(head))
