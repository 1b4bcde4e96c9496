"""The route that fetches known models, and who may use it."""

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, fetch_route, origin_check, paths
from explorer.core.errors import ModelDirectoryError
from explorer.jobs import fetch
from explorer.jobs.fetch import Fetch
from explorer.model.known_models import KNOWN_MODELS
from tests.support.hub_cache import version

GPT2, MINI = KNOWN_MODELS.values()
WHOLE = ("config.json", "tokenizer.json", "model.safetensors")


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was begun and cancelled."""
    heard: list[str] = []
    monkeypatch.setattr(fetch, "begin", lambda model: heard.append(f"begin {model.name}"))
    monkeypatch.setattr(Fetch, "cancel", lambda job: heard.append(f"cancel {job.model.name}"))
    return heard


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A browser on the machine of the server, which no other machine reaches."""
    monkeypatch.setattr(fetch_route, "answers_this_machine_alone", lambda: True)
    methods = ["GET", "POST", "DELETE"]
    return TestClient(Starlette(routes=[Route(paths.FETCH, fetch_route.serve, methods=methods)]))


def test_what_is_not_in_the_cache_is_listed(browser, hub_cache):
    first = {"name": "gpt2", "title": "GPT-2 small", "size": "550 MB"}
    second = {"name": MINI.name, "title": "all-MiniLM-L6-v2", "size": "90 MB"}
    rest = {"share": None, "problem": ""}
    answer = browser.get("/fetch/")
    assert answer.json() == [first | rest, second | rest]
    assert answer.headers["cache-control"] == "no-store"
    version(hub_cache, "models--gpt2", *WHOLE)
    version(hub_cache, "models--an-owner--other", *WHOLE)
    assert browser.get("/fetch/").json() == [second | rest]


def test_a_model_is_begun_and_cancelled_by_its_name(browser, done, hub_cache):
    assert browser.post(f"/fetch/{MINI.name}").status_code == 200
    assert browser.delete("/fetch/gpt2").status_code == 200
    assert done == [f"begin {MINI.name}", "cancel gpt2"]


@pytest.mark.parametrize("name", ["", "an-owner/other", "openai-community/gpt2", "gpt2/x"])
def test_no_other_model_is_fetched(name, browser, done):
    assert browser.post(f"/fetch/{name}").status_code == 404
    assert browser.delete(f"/fetch/{name}").status_code == 404
    assert done == []


def test_why_it_was_not_fetched_is_said_in_the_language_of_the_page(
    browser, monkeypatch, hub_cache
):
    def refuse(model):
        raise ModelDirectoryError("fetch_not_installed", name=model.title, command="pip")

    monkeypatch.setattr(fetch, "begin", refuse)
    first, second = browser.post("/fetch/gpt2?lang=zh").json()
    assert first["problem"] == "“GPT-2 small”需要 transformers 库；请安装后重新启动：pip"
    assert second["problem"] == ""
    first, _ = browser.post("/fetch/gpt2?lang=xx").json()
    assert first["problem"].endswith("install it and start again: pip")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    ("address", "hosts"), [("0.0.0.0", None), (None, None), ("127.0.0.1", ["hub.example.org"])]
)
def test_a_server_that_others_reach_fetches_nothing(method, address, hosts, done, monkeypatch):
    settings = {"server.address": address, "server.allowedHosts": hosts}
    monkeypatch.setattr("streamlit.get_option", settings.get)
    assert not origin_check.answers_this_machine_alone()
    methods = ["GET", "POST", "DELETE"]
    app = Starlette(routes=[Route(paths.FETCH, fetch_route.serve, methods=methods)])
    assert TestClient(app).request(method, "/fetch/gpt2").status_code == 403
    assert (done, fetch_route.to_fetch()) == ([], [])


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_in_a_class_the_host_alone_fetches(method, browser, done, monkeypatch, hub_cache):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    for here in (True, False):
        monkeypatch.setattr(fetch_route, "answers_this_machine_alone", lambda here=here: here)
        assert browser.request(method, "/fetch/gpt2").status_code == 403
    assert done == []
    browser.cookies.set(access.cookie_name(), access.cookie_value())
    assert browser.request(method, "/fetch/gpt2").status_code == 200
    assert len(done) == (method != "GET")
