"""What components are sent: nothing new while nothing has changed."""

import json

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from explorer.app import mount
from explorer.app.limited_cache import LimitedCache
from explorer.app.server import paths, trace_route
from explorer.core import folders
from tests.support.app_pages import open_page, picture_of, sent_to
from tests.support.payloads import unpack_payload

LINK = {"text": "1 2 3", "step": "2"}
PAGES = [("explore", "explore"), ("heads", "head_grid")]


@pytest.fixture(autouse=True)
def reports(tmp_path, monkeypatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def follow(app: AppTest, **query: str) -> AppTest:
    """Go to another query of the same page, as the Back button does."""
    app.query_params.clear()
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize(("page", "component"), [*PAGES, ("heads", "bar")])
def test_another_run_of_the_script_sends_the_same_bytes(page, component):
    app = open_page(page, **LINK)
    before = sent_to(app, component)
    assert sent_to(app.run(), component) == before


@pytest.mark.parametrize(("page", "component"), PAGES)
def test_a_query_that_is_followed_again_sends_other_bytes(page, component):
    """Otherwise the browser would keep the picture at the selection it has now."""
    app = open_page(page, **LINK)
    before = sent_to(app, component)
    app = follow(app, text="3 2 1")
    again = sent_to(follow(app, **LINK), component)
    assert again != before
    if component == "head_grid":
        assert again[:-8] == before[:-8]  # only the mark of the picture differs
    else:
        sent = [json.loads(one) for one in (before, again)]
        assert [one.pop("followed") for one in sent] == [1, 3]
        assert sent[0] == sent[1]


def test_interventions_change_the_comparison_and_not_the_grid():
    app = open_page("heads", **LINK)
    grid = sent_to(app, "head_grid")
    app = follow(app, **LINK, do="keep cross.1.1")
    assert sent_to(app, "head_grid")[:-8] == grid[:-8]
    link = LINK | {"part": "compare", "with": "@changes"}
    plain = open_page("heads", **link)
    changed = open_page("heads", **link, do="keep cross.1.1")
    assert sent_to(plain, "model_comparison") != sent_to(changed, "model_comparison")


def test_all_payloads_together_are_bounded(monkeypatch):
    monkeypatch.setattr(mount, "_payloads", LimitedCache(mount.MOST_PAYLOAD_BYTES))
    app = open_page("explore", **LINK)
    size = len(sent_to(app, "explore"))
    assert mount._payloads.size == size
    monkeypatch.setattr(mount, "_payloads", LimitedCache(size + 100))
    for text in ("1 2 3", "3 2 1", "1 2 3"):
        app = follow(app, text=text)
    assert mount._payloads.size == len(sent_to(app, "explore"))


def grid_of(**link: str) -> tuple[dict, dict[str, np.ndarray]]:
    """What the grid was sent of its trace: header and arrays."""
    _, arrays = unpack_payload(sent_to(open_page("heads", **link), "head_grid"))
    return unpack_payload(arrays["trace"].tobytes())


@pytest.mark.parametrize("sent", [picture_of, grid_of])
def test_a_large_trace_has_an_address_for_its_weights(sent, monkeypatch):
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    monkeypatch.setattr(mount, "_payloads", LimitedCache(10**7))
    header, arrays = sent(**LINK)
    assert "cross.pictures" in arrays
    client = TestClient(Starlette(routes=[Route(paths.QUESTION, trace_route.serve)]))
    address = header["resources"]["address"]
    assert client.get(f"/{address}/head/pieces/cross/0/0").status_code == 200


def test_the_grid_has_the_offer_of_the_player():
    player, grid = picture_of(**LINK)[0], grid_of(**LINK)[0]
    names = ["vectors", "path", "without", "contributions", "attribution", "score", "decisive"]
    assert player["resources"]["names"] == grid["resources"]["names"] == names
