import runpy
from pathlib import Path

import pytest

from explorer.app.server import asgi
from explorer.app.server.origin_check import OriginCheck
from explorer.app.server.security_headers import SecurityHeaders
from explorer.app.server.static_files import CompressedScripts
from explorer.app.server.upload_guard import UploadGuard

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("path", "base"), [("", ""), ("class", "/class"), ("/a/b/", "/a/b")])
def test_routes_respect_the_base_path(monkeypatch, path, base):
    monkeypatch.setattr(asgi.st, "get_option", lambda name: path)
    assert asgi.base_path() == base
    assert all(route.path.startswith(f"{base}/") for route in asgi.routes())


def test_the_entry_script_has_the_middleware():
    entry = runpy.run_path(str(ROOT / "app.py"))
    middleware = [one.cls for one in entry["app"]._user_middleware]
    assert middleware == [OriginCheck, SecurityHeaders, UploadGuard, CompressedScripts]
