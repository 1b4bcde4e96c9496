"""The route that traces what Explore asks for: each answer beside what the page itself is sent."""

import gc
import json
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app import explore_route, visitor_catalog
from explorer.app.reading_choices import reading_choices
from explorer.app.server import access, origin_check, paths, rate_limit, trace_route
from explorer.app.server.guest_gate import GuestGate
from explorer.app.state import session
from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.look import Look, Request
from explorer.model.catalog import UploadedTrace
from tests.support.app_pages import FIRST, FIRST_TEXT, picture_of
from tests.support.catalog_members import uploaded
from tests.support.model_directories import bert, gpt2
from tests.support.multilingual_directories import nllb
from tests.support.payloads import unpack_payload
from tests.support.small_trace import small_trace


@pytest.fixture(scope="module")
def browser() -> TestClient:
    route = Route(paths.TRACE, explore_route.serve, methods=["POST"])
    asked = Route(paths.QUESTION, trace_route.serve)
    return TestClient(Starlette(routes=[route, asked]))


def ask(browser: TestClient, token: str = "", **question: object):
    asked = {"model": FIRST, "text": FIRST_TEXT, **question}
    return browser.post(paths.TRACE, json=asked, headers={"X-Visitor": token})


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
def test_the_answer_is_the_picture_of_the_link(browser, linked, asked):
    picture, arrays = picture_of(**linked)
    answer = ask(browser, **asked)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    header, others = unpack_payload(answer.content)
    assert header["strings"] == {}
    assert picture == header
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


@pytest.mark.parametrize(
    "content",
    [
        b'{"model": "reverse-almost", "text": "8 \xff"}',  # no UTF-8
        b'{"model": "reverse-almost", "text": "8", "\xff": 1}',
        b'{"model": "reverse-almost", "text": "8", "more": ' + b"[" * 9000 + b"]" * 9000 + b"}",
        b'{"model": "reverse-almost", "text": "8", "view": {"cell": '
        + b"[" * 900 + b"]" * 900 + b"}}",
    ],
)  # fmt: skip
def test_bytes_that_are_no_bounded_json_are_refused(browser, content):
    assert browser.post(paths.TRACE, content=content).status_code == 400


def test_what_is_no_question_is_refused(browser):
    for content in (b"", b"[]", b"{", json.dumps("x" * explore_route.LARGEST).encode()):
        assert browser.post(paths.TRACE, content=content).status_code == 400
    assert browser.get(paths.TRACE).status_code == 405
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


def test_the_host_of_a_class_gets_what_guests_ask_for(browser, monkeypatch):
    assert {"visit", "resources"} & unpack_payload(ask(browser).content)[0].keys() == {"resources"}
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    header, _ = unpack_payload(ask(browser, pad=2).content)
    assert header["visit"] == {"model": FIRST, "text": FIRST_TEXT, "pad": "2"}
    assert header["resources"]["address"].startswith("trace/")


def test_an_address_over_the_limit_is_told_to_wait(browser, monkeypatch):
    monkeypatch.setattr(rate_limit, "_pages", rate_limit.RateLimiter(owners=4))
    monkeypatch.setattr(rate_limit.RateLimiter, "allows", lambda *_: False)
    assert ask(browser).status_code == 429


TEMPLATE = "{% for one in messages %}({{ one.role }}) {{ one.content }}{% endfor %} (assistant)"


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of the library: one of many languages, one of pairs, one that chats, a broken one."""
    folder = tmp_path_factory.mktemp("models")
    nllb(folder / "nllb")
    bert(folder / "pairs")
    (gpt2(folder / "chats") / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    (gpt2(folder / "broken") / "model.safetensors").write_bytes(b"no weights")
    return folder


@pytest.fixture
def library(directories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(directories))


@pytest.mark.parametrize(
    ("linked", "asked"),
    [
        ({"model": "pairs", "text": "the cat", "pair": "a dog"}, {"pair": "a dog"}),
        ({"model": "pairs", "text": "the cat"}, {"pair": ""}),
        (
            {"model": "nllb", "text": "the cat", "target_language": "fra_Latn"},
            {"reading": {"source_language": "", "target_language": "fra_Latn", "chat": False}},
        ),
        (
            {"model": "chats", "text": "the cat", "chat": "1"},
            {"reading": {"source_language": "", "target_language": "", "chat": True}},
        ),
    ],
)
def test_a_model_of_the_library_reads_what_a_link_names(browser, library, linked, asked):
    picture, _ = picture_of(**linked)
    answer = ask(browser, model=linked["model"], text=linked["text"], **asked)
    header, _ = unpack_payload(answer.content)
    for name in ("source", "target", "predicted", "view", "facts"):
        assert header[name] == picture[name]


def test_the_choices_of_an_opened_model_come_with_its_trace(browser, library):
    asked = {"model": "nllb", "text": "the cat", "language": "zh"}
    reading = unpack_payload(ask(browser, **asked).content)[0]["reading"]
    member = visitor_catalog.catalog_of("")["nllb"]
    assert reading == reading_choices(member, "zh")
    assert "reading" not in unpack_payload(ask(browser, model="pairs").content)[0]


def test_what_a_model_does_not_read_is_left_out(browser):
    spoken = {"source_language": "fr", "target_language": "", "chat": True}
    answer = ask(browser, pair="9", reading=spoken)
    assert answer.content == ask(browser).content


@pytest.mark.parametrize(
    "wrong",
    [
        {"pair": 3},
        {"pair": "x" * 20_001},
        {"reading": []},
        {"reading": {"chat": "1"}},
        {"reading": {"source_language": "fr FR"}},
        {"reading": {"target_language": "fr\n"}},
        {"reading": {"target_language": "x" * 25}},
    ],
)
def test_a_malformed_second_text_or_reading_is_refused(browser, wrong):
    assert ask(browser, **wrong).status_code == 400


def test_the_notes_on_a_trace_come_with_it(browser, library):
    header, _ = unpack_payload(ask(browser, model="pairs", text="the cat [SEP] a dog").content)
    assert header["notes"] == say("explore.note_separator", "en", separator="[SEP]")
    assert "notes" not in unpack_payload(ask(browser).content)[0]


def test_a_refusal_says_whether_the_model_could_be_opened(browser, library):
    assert ask(browser, text="7 q").json()["opened"] is True
    spoken = {"source_language": "French", "target_language": "", "chat": False}
    refused = ask(browser, model="nllb", text="the cat", reading=spoken).json()
    assert refused["opened"] is True
    assert "fra_Latn" in say(f"errors.{refused['key']}", "en", **refused["facts"])
    refused = ask(browser, model="broken", text="the cat").json()
    assert (refused["opened"], refused["key"]) == (False, "")
    assert "“broken”" in refused["facts"]["sentence"]


def test_a_trace_without_its_model_is_shown_whatever_is_asked(browser, monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    session.save(Look(Request(FIRST, FIRST_TEXT)))
    name = visitor_catalog.add_upload(UploadedTrace("mine", "stamp of a trace", small_trace()))
    token = visitor_catalog.visitor_token()
    answers = [
        ask(browser, token, model=name, **more)
        for more in ({}, {"text": "another", "interventions": ["nonsense"]})
    ]
    header, _ = unpack_payload(answers[0].content)
    assert header["source"] == list(small_trace().source_tokens)
    assert header["view"]["what_if"] is False
    assert answers[0].content == answers[1].content
