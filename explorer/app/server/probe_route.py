"""The pictures of a run's moments, served to browsers that keep them.

An address names a run and a step, which are looked up; nothing of it becomes a path.
"""

import gzip
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server.static_files import KEPT_FOR
from explorer.components.player.payload import player_payload
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace

PATH = "/moments/{shelf}/{name}/{step:int}"


def serve_moment(request: Request) -> Response:
    """The probe at one moment as the player eats it, or 404."""
    from explorer.training import (
        run_launcher,  # it brings torch, for which the server must not wait
    )

    parts = request.path_params
    try:
        path = run_launcher.find(parts["shelf"], parts["name"]).probe_path(int(parts["step"]))
        status = path.stat()
        plain, compressed = packed(path, status.st_mtime_ns, status.st_size)
    except (ExplorerError, OSError):
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    headers = {"Cache-Control": f"public, max-age={KEPT_FOR}", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(compressed, media_type="application/octet-stream", headers=headers)
    return Response(plain, media_type="application/octet-stream", headers=headers)


@lru_cache(maxsize=512)
def packed(path: Path, changed: int, size: int) -> tuple[bytes, bytes]:
    """The bytes of a probe, plain and compressed. Raises `TraceError`."""
    data = player_payload(Trace.load(path), language=None)  # the page has the sentences
    return data, gzip.compress(data, compresslevel=6, mtime=0)
