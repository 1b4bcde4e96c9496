"""The route that traces what Explore asks for: each answer beside what the page itself is sent."""

import gc
import json

import numpy as np
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app import explore_route, visitor_catalog
from explorer.app.server import access, origin_check, rate_limit, trace_route
from explorer.app.server.guest_gate import GuestGate
from explorer.app.state import session
from explorer.core.i18n import say
from explorer.core.look import Look, Request
from tests.support.app_pages import FIRST, FIRST_TEXT, open_page, sent_to
from tests.support.catalog_members import uploaded
from tests.support.payloads import unpack_payload


@pytest.fixture(scope="module")
def browser() -> TestClient:
    route = Route(explore_route.PATH, explore_route.serve, methods=["POST"])
    asked = Route(trace_route.PATH, trace_route.serve)
    return TestClient(Starlette(routes=[route, asked]))


def ask(browser: TestClient, token: str = "", **question: object):
    asked = {"model": FIRST, "text": FIRST_TEXT, **question}
    return browser.post(explore_route.PATH, json=asked, headers={"X-Visitor": token})


@pytest.mark.parametrize(
    ("linked", "asked"),
    [
        ({}, {}),
        ({"text": "7 3 9", "pad": "2"}, {"text": "7 3 9", "pad": 2}),
        ({"step": "2"}, {"view": {"step": 2}}),
        ({"step": "7", "ahead": "0"}, {"view": {"step": 7, "ahead": False}}),
        ({"cell": "2.1"}, {"view": {"cell": [2, 1]}}),
        ({"layer": "1"}, {"view": {"layer": 1, "head": None}}),
        ({"site": "encoder", "head": "2"}, {"view": {"site": "encoder", "head": 2}}),
        ({"guess": "1"}, {"view": {"guess": True}}),
        ({"shows": "rollout", "step": "2"}, {"view": {"shows": "rollout", "step": 2}}),
        ({"force": "2.9"}, {"forced": [[2, 9]]}),
        (
            {"do": "ablate cross.1.0 mean;unmask decoder.0.1 0 2"},
            {"interventions": ["unmask decoder.0.1 0 2", "ablate cross.1.0 mean"]},
        ),
        (
            {"model": "english-french", "text": "The cat sleeps.", "lang": "zh"},
            {"model": "english-french", "text": "The cat sleeps.", "language": "zh"},
        ),
    ],
)
def test_the_answer_is_what_the_page_is_sent(browser, linked, asked):
    page, arrays = unpack_payload(sent_to(open_page(**linked), "player")[:-8])  # without its mark
    answer = ask(browser, **asked)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    header, others = unpack_payload(answer.content)
    assert header["strings"] == {}
    assert {**page, "strings": {}} == header
    assert list(arrays) == list(others)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name])


def test_the_trace_of_an_answer_can_be_asked_about(browser):
    header, _ = unpack_payload(ask(browser).content)
    address = header["resources"]["address"]
    found = browser.get(f"/{address}/vectors/cross/1/2")
    assert found.status_code == 200
    assert list(unpack_payload(found.content)[1]) == ["queries", "keys", "values"]


@pytest.mark.parametrize(
    ("asked", "key", "facts"),
    [
        ({"text": "7 q"}, "unknown_symbol", {"symbol": "q"}),
        ({"text": " "}, "empty_text", {}),
        ({"interventions": ["nonsense"]}, "bad_intervention", {}),
        ({"interventions": ["ablate cross.9.0"]}, "no_such_head", {"site": "cross"}),
        ({"forced": [[1, 10**6]]}, "no_candidate", {}),
    ],
)
def test_a_refusal_names_its_sentence_and_fills_it_in(browser, asked, key, facts):
    answer = ask(browser, **asked)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    found = answer.json()
    assert say(f"errors.{found['key']}", "en", **found["facts"])  # KeyError without a fact
    assert found["key"] == key
    assert facts.items() <= found["facts"].items()


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "x" * 20_001},
        {"pad": 17},
        {"pad": "1"},
        {"forced": [[0, 1]]},
        {"forced": [[1, 1]] * 65},
        {"interventions": ["keep cross.0.0"] * 1000},
        {"view": []},
        {"model": None},
    ],
)
def test_what_the_page_never_asks_is_refused(browser, wrong):
    assert ask(browser, **wrong).status_code == 400


def test_what_is_no_question_is_refused(browser):
    for content in (b"", b"[]", b"{", json.dumps("x" * explore_route.LARGEST).encode()):
        assert browser.post(explore_route.PATH, content=content).status_code == 400
    assert browser.get(explore_route.PATH).status_code == 405
    assert ask(browser, model="../reverse").status_code == 404


def test_uploads_are_asked_by_their_session_alone_and_go_with_it(browser, monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    session.save(Look(Request(FIRST, FIRST_TEXT)))
    member = uploaded("mine", "upload")
    name, token = visitor_catalog.add_upload(member), visitor_catalog.visitor_token()
    assert len(token) >= 43  # 256 bits
    assert name in visitor_catalog.catalog_of(token)
    assert name not in visitor_catalog.catalog_of("")
    assert name not in visitor_catalog.catalog_of(token[:-1])
    assert ask(browser, model=name).status_code == 404
    visitor_catalog.delete_upload(name)
    assert name not in visitor_catalog.catalog_of(token)
    visitor_catalog.add_upload(member)
    st.session_state.clear()
    gc.collect()
    assert name not in visitor_catalog.catalog_of(token)


def test_a_guest_of_a_class_and_another_origin_cannot_ask(browser, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    gated = TestClient(GuestGate(browser.app), base_url="http://127.0.0.1")
    assert ask(gated).status_code == 403
    checked = TestClient(origin_check.OriginCheck(browser.app), base_url="http://127.0.0.1")
    assert ask(checked).status_code == 200
    checked.headers["Origin"] = "http://elsewhere.example"
    assert ask(checked).status_code == 403


def test_an_address_over_the_limit_is_told_to_wait(browser, monkeypatch):
    monkeypatch.setattr(rate_limit, "_pages", rate_limit.RateLimiter(owners=4))
    monkeypatch.setattr(rate_limit.RateLimiter, "allows", lambda *_: False)
    assert ask(browser).status_code == 429
