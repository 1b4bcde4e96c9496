import os
import runpy
from pathlib import Path

import pytest

from explorer.app import asgi
from explorer.app.server import access
from explorer.app.server.broken_requests import BrokenRequests
from explorer.app.server.class_route import EventStreams
from explorer.app.server.guest_gate import GuestGate
from explorer.app.server.origin_check import OriginCheck
from explorer.app.server.page_changes import LateTimers
from explorer.app.server.security_headers import SecurityHeaders
from explorer.app.server.server_address import ServerAddress
from explorer.app.server.static_files import CompressedScripts
from explorer.core import folders
from tests.support.app_server import running_process
from tests.support.short_runs import wait_for

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("path", "base"), [("", ""), ("class", "/class"), ("/a/b/", "/a/b")])
def test_routes_respect_the_base_path(monkeypatch, path, base):
    monkeypatch.setattr(asgi.st, "get_option", lambda name: path)
    assert asgi.base_path() == base
    assert all(route.path.startswith(f"{base}/") for route in asgi.routes())


@pytest.mark.parametrize("key", ["", "swordfish"])
def test_the_entry_script_has_the_middleware_and_the_gate_in_class_mode(key, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, key)
    entry = runpy.run_path(str(ROOT / "app.py"))
    middleware = [one.cls for one in entry["app"]._user_middleware]
    assert middleware == [
        BrokenRequests,
        OriginCheck,
        SecurityHeaders,
        *([GuestGate, EventStreams] if key else []),
        LateTimers,
        CompressedScripts,
        ServerAddress,
    ]


_MEASURING = """
import time
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from explorer.app import asgi
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement_jobs import MeasurementSettings

ROOT = Path(asgi.MAIN).parents[2]


@asynccontextmanager
async def lifespan(app):
    async with asgi.lifespan(app):
        checkpoint = (ROOT / "checkpoints" / "reverse.safetensors").read_bytes()
        job = measurement_jobs.start(checkpoint, "x", MeasurementSettings(size=1024), "digest").job
        while job.status().state != "running":
            time.sleep(0.01)
        Path(__file__).with_name("pid").write_text(str(job.status().pid))
        yield


app = st.App(asgi.MAIN, routes=asgi.routes(), middleware=asgi.middleware(), lifespan=lifespan)
"""


def test_sigterm_ends_what_measures_uploaded_weights_and_deletes_its_files(tmp_path):
    script, reports = tmp_path / "app.py", tmp_path / "reports"
    script.write_text(_MEASURING)
    with running_process(script, **{folders.REPORTS_VARIABLE: str(reports)}) as (_, server):
        child = int((tmp_path / "pid").read_text())
        assert list(reports.rglob("*.safetensors"))
        os.kill(child, 0)  # measures
        server.terminate()
        server.wait(timeout=60)
        wait_for(lambda: not Path(f"/proc/{child}").exists())
    assert [path.name for path in reports.rglob("*") if path.is_file()] == [".cpu0.lock"]
