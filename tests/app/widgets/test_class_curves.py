"""The curves of a class on the page Train, without a browser."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.server import access, class_route
from explorer.app.server.class_session import ClassSession
from explorer.components.class_curves_figure import Curve
from explorer.core import folders
from tests.support.app_pages import captions, components_of, open_page, sent_to

CURVE = Curve("reverse", True, 7, ((25, 0.1), (50, 0.9)), ((0.1, 0.2), (0.8, 0.3)), True)


@pytest.fixture(autouse=True)
def session(tmp_path, monkeypatch) -> ClassSession:
    """A class, and nothing trained on this machine."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path / "runs"))
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(class_route, "session", fresh := ClassSession())
    return fresh


def rows(app: AppTest) -> list[str]:
    table = next(one.value for one in app.markdown if one.value.startswith("|"))
    return table.replace("\\", "").splitlines()


def test_nothing_is_drawn_while_nobody_shares():
    app = open_page("train")
    assert not app.exception
    assert not app.expander
    assert "attention_chart" not in components_of(app)


def test_the_curves_and_where_their_heads_formed(session):
    session.share("a", CURVE, "192.0.2.7")
    session.share("b", replace(CURVE, seed=8, gold=((0.1, 0.2), (0.3, 0.4))), "192.0.2.7")
    session.share("c", replace(CURVE, seed=9, finished=False), "192.0.2.8")
    app = open_page("train")
    assert not app.exception
    assert app.expander[0].label == "Curves of the class (3)"
    chart = json.loads(sent_to(app, "chart"))
    assert [line["y"] for line in chart["chart"]["data"]] == [[0.1, 0.9]] * 3
    assert chart["name"] == "Exact match over the steps of 3 trainings of the class"
    assert rows(app) == [
        "| task | attention | L0 H0 | L0 H1 | L1 H0 | L1 H1 | none | not finished |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        "| reverse | Cross | 0 of 2 | 0 of 2 | 1 of 2 | 0 of 2 | 1 of 2 | 1 |",
    ]
    assert any("without a name" in text for text in captions(app))


def test_the_host_clears_all_curves(session):
    session.share("a", CURVE, "192.0.2.7")
    app = open_page("train")
    next(button for button in app.button if button.label == "Clear").click().run()
    assert not app.exception
    assert not app.expander
    assert session.curves == {}


def test_outside_of_a_class_there_are_none(session, monkeypatch):
    session.share("a", CURVE, "192.0.2.7")
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert not open_page("train").expander
