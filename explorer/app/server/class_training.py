"""Route for the training on the host's screen: its run as guests' pages replay it.

The address names no run, so a guest gets the one on the screen and no other. The event stream
tells guests the revision of its state; what they then ask for is made once for each revision and
language.
"""

import gzip
import json
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.limited_cache import LimitedCache
from explorer.app.server import class_route, probe_route
from explorer.app.server.shared_work import SharedWork
from explorer.components.training_replay.payload import guest_payload
from explorer.core.errors import ExplorerError
from explorer.core.i18n import LANGUAGES
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run

PATH = "/class/training"

MOST_BYTES = 2**24
"""Bytes of all cached payloads together."""

_FAST = 1  # level of compression: a class waits for the answer
_payloads = LimitedCache(MOST_BYTES)


@dataclass(frozen=True, slots=True)
class _Key:
    """What a payload is made of. revision: of the state of the runs, see `class_messages`."""

    run: str
    others: tuple[str, ...]
    revision: int
    language: str


@dataclass(frozen=True, slots=True)
class _Payload:
    """data: compressed with gzip."""

    data: bytes
    etag: str


_making: SharedWork[_Payload] = SharedWork()


def is_on_screen(run: str) -> bool:
    """Whether the host shows the run with this root and name to the class."""
    shown = class_route.session.shown_training
    return shown is not None and run == shown["run"]


async def serve(request: Request) -> Response:
    """The run as one line of JSON in the language `lang`, without the sentences of the replay, and
    behind a line break the probe trace of its newest moment, which is asked for in any case.

    404 while no training is on the host's screen, for one that has been deleted, and for an unknown
    language; 304 when the browser's copy is current.
    """
    shown = class_route.session.shown_training
    language = request.query_params.get("lang", "")
    if shown is None or language not in LANGUAGES:
        return _not_found()
    key = _Key(shown["run"], tuple(shown["others"]), shown["revision"], language)
    try:
        run = _find(key.run)
        payload = _payloads.find(key) or await _making.of(key, partial(_made, key, run))
    except (ExplorerError, OSError):
        return _not_found()
    headers = {"Cache-Control": "no-cache", "ETag": payload.etag}
    if request.headers.get("if-none-match") == payload.etag:
        return Response(status_code=304, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(payload.data, media_type="application/octet-stream", headers=headers)


def _made(key: _Key, run: Run) -> _Payload:
    """The payload, made once for all guests who wait for it."""

    def make() -> _Payload:
        others = [other for name in key.others if (other := _compared(name))]
        described = guest_payload(key.run, run, key.language, others)
        data = gzip.compress(described + b"\n" + _newest_probe(run, described), _FAST, mtime=0)
        return _Payload(data, f'"{sha256(data).hexdigest()[:16]}"')

    return _payloads.get(key, make, lambda payload: len(payload.data))


def _newest_probe(run: Run, described: bytes) -> bytes:
    """The probe trace of the last moment of a payload; b"" where it cannot be read."""
    moments = json.loads(described)["moments"]
    try:
        path = run.probe_path(moments[-1]["step"])
        status = path.stat()
        return probe_route.payloads(path, status.st_mtime_ns, status.st_size)[0]
    except (ExplorerError, OSError, IndexError):
        return b""


def _compared(name: str) -> Run | None:
    """A run beside the one on the screen; None if it has been deleted."""
    try:
        return _find(name)
    except ExplorerError:
        return None


def _find(name: str) -> Run:
    return training_launcher.find(*name.split("/"))


def _not_found() -> Response:
    return Response(status_code=404, headers={"Cache-Control": "no-store"})
