"""A hub of models on this machine: it answers what the library's client asks for a repository, and
notes which files were fetched."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

COMMIT = "4f3a" * 10


@contextmanager
def serving(
    repositories: Mapping[str, Path | int], rest: Event | None = None
) -> Iterator[tuple[str, list[str]]]:
    """The address of the hub, and the files that were fetched from it, in order.

    repositories: name → the directory with its files, or the status of a refusal: 401 of a gated
    one. Others are missing.
    rest: the second half of weights is sent once it is set.
    """
    fetched: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def answer(self) -> None:
            path = self.path.split("?")[0].removeprefix("/api/models").strip("/")
            name = next((one for one in repositories if f"{path}/".startswith(f"{one}/")), "")
            found = repositories.get(name, 404)
            if isinstance(found, int):
                code = "GatedRepo" if found == 401 else "RepoNotFound"
                return self.send(b"{}", found, **{"X-Error-Code": code})
            if not self.path.startswith("/api"):
                return self.file(found, path.split(f"/resolve/{COMMIT}/")[1])
            files = sorted(file for file in found.rglob("*") if file.is_file())
            names = [str(file.relative_to(found)) for file in files]
            if "/tree/" in path:
                listed: object = [
                    {"type": "file", "path": one, "size": (found / one).stat().st_size, "oid": one}
                    for one in names
                ]
            else:
                listed = {
                    **{"id": name, "modelId": name, "sha": COMMIT, "private": False, "tags": []},
                    "siblings": [{"rfilename": one} for one in names],
                }
            return self.send(json.dumps(listed).encode())

        def file(self, folder: Path, name: str) -> None:
            data = (folder / name).read_bytes()
            if self.command == "GET":
                fetched.append(name)
            tag = f'"{hashlib.sha1(data).hexdigest()}"'
            self.send(data, ETag=tag, **{"X-Repo-Commit": COMMIT})

        def send(self, data: bytes, status: int = 200, **headers: str) -> None:
            self.send_response(status)
            for key, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command == "GET":
                with suppress(ConnectionError):  # a fetch was cancelled
                    self.body(data)

        def body(self, data: bytes) -> None:
            half = len(data) // 2 if rest and "safetensors" in self.path else 0
            self.wfile.write(data[:half])
            if rest and half:
                rest.wait()
            self.wfile.write(data[half:])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", fetched
    finally:
        if rest:
            rest.set()
        server.shutdown()
        thread.join()
        server.server_close()
