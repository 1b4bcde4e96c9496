"""Route for the probe traces of a run's moments; browsers cache them.

The URL names a run and a step, which are looked up; no part of it is used as a path.
"""

import gzip
import re
from functools import lru_cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.static_files import MAX_AGE
from explorer.components.player.payload import player_payload
from explorer.components.training_replay.own_choices import with_own_choices
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace

_STEP = re.compile(r"[0-9]{1,9}", re.ASCII)


async def serve(request: Request) -> Response:
    """The probe trace of one moment as a payload of the player; 404 without one."""
    return await run_in_threadpool(answer, request)


def answer(request: Request) -> Response:
    """As `serve`, in the thread that asks."""
    from explorer.jobs import training_launcher

    parts = request.path_params
    if not _STEP.fullmatch(parts["step"]):
        return _not_found()
    try:
        path = training_launcher.find(parts["root"], parts["name"]).probe_path(int(parts["step"]))
        status = path.stat()
        uncompressed, compressed = payloads(path, status.st_mtime_ns, status.st_size)
    except (ExplorerError, OSError):
        return _not_found()
    headers = {"Cache-Control": f"public, max-age={MAX_AGE}", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(compressed, media_type="application/octet-stream", headers=headers)
    return Response(uncompressed, media_type="application/octet-stream", headers=headers)


def _not_found() -> Response:
    return Response(status_code=404, headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=512)
def payloads(path: Path, changed: int, size: int) -> tuple[bytes, bytes]:
    """The payload of a probe trace, uncompressed and compressed. Raises `ExplorerError`.

    changed, size: of the file; a changed file is read again.
    """
    trace = with_own_choices(Trace.load(path))
    data = player_payload(trace, language=None)  # the replay has the sentences
    return data, gzip.compress(data, compresslevel=6, mtime=0)
