"""Explore without a browser: what the component is sent, and what its reports change."""

import io
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pytest
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

import explorer
from explorer.app.server import access
from explorer.app.state import address_bar
from explorer.app.state.lesson import LessonState
from explorer.app.views.explore import take_look
from explorer.app.visitor_catalog import visitor_catalog
from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.look import Look, Request, Selection, to_query
from explorer.core.trace import Trace
from explorer.core.trace_file import pack, unpack
from explorer.model.catalog import shipped_models
from tests.support.app_pages import (
    FIRST,
    FIRST_TEXT,
    asked_visit,
    captions,
    components_of,
    looked_at,
    open_page,
    picture_of,
    sent_to_explore,
    session_of,
    url_query,
    write_address,
)
from tests.support.app_server import running_app
from tests.support.finished_runs import finished_run
from tests.support.own_loop import run_alone
from tests.support.visitor_connection import Visitor, visit

ROOT = Path(__file__).parents[3]
DEFAULT = {"model": FIRST, "text": FIRST_TEXT, "pad": "0"}
SEEN = {"model": "reverse", "text": "1 2", "pad": "0", "step": "2", "ahead": "0"}


def followed(app: AppTest) -> int:
    """The number of visits that the browser knows of."""
    number: int = sent_to_explore(app)["followed"]
    return number


def look_of(app: AppTest) -> Look:
    """The visit, as the other pages know it."""
    look: Look = app.session_state["Look"]
    return look


def reported(app: AppTest, report: object) -> AppTest:
    """The page after the browser has reported this as a look."""
    with session_of(app):
        take_look(visitor_catalog(), {"look": report})
    return app.run()


def downloads(app: AppTest) -> list[str]:
    return [one.proto.label for one in app.get("download_button")]


def messages(app: AppTest) -> list[str]:
    return [one.value.replace("\\", "") for one in (*app.error, *app.warning)]


def test_a_first_visit_is_sent_the_models_and_the_example_of_the_first():
    app = open_page()
    sent = sent_to_explore(app)
    assert [model["name"] for model in sent["models"]] == list(shipped_models())
    assert list(sent["strings"]) == ["en"]
    assert (sent["language"], sent["server"], sent["lesson"]) == ("en", "trace", "")
    assert asked_visit(app) == DEFAULT
    assert messages(app) == []
    assert url_query(app) == {}


def test_a_link_is_sent_with_everything_it_names():
    link = {
        "model": "reverse",
        "text": "1 2 3",
        "pad": "1",
        "force": "2.9",
        "do": "ablate decoder.0.0;omit scaling",
        "site": "decoder",
        "layer": "1",
        "head": "2",
        "step": "2",
        "cell": "1.0",
        "alignment": "input",
        "shows": "rollout",
        "words": "1",
    }
    app = open_page(**link)
    assert asked_visit(app) == link
    assert url_query(app) == link  # which the browser alone writes


def test_two_visits_differ_in_what_they_show_alone():
    one, other = sent_to_explore(open_page()), sent_to_explore(open_page(text="1 2"))
    assert {name for name in one if one[name] != other[name]} == {"visit", "visitor"}


def test_parameters_that_no_model_has_are_said_by_the_browser_alone():
    """It reads the address itself; of a lesson it knows nothing."""
    app = open_page(model="../../etc/passwd", pad="-3", lesson="nowhere")
    assert messages(app) == [say("explore.link_refused", parts="lesson")]
    assert asked_visit(app) == DEFAULT
    assert messages(app.run()) == []


def test_nothing_is_offered_before_the_browser_has_shown_something():
    app = open_page()
    assert not app.code
    assert downloads(app) == []


def test_what_is_looked_at_has_files_and_a_link_and_is_kept_for_other_pages():
    app = looked_at(open_page(lang="zh"), SEEN | {"lang": "zh"})
    assert messages(app) == []
    link = dict(parse_qsl(urlsplit(app.code[0].value).query))
    assert link == SEEN | {"lang": "zh"}
    assert len(downloads(app)) == 3
    assert look_of(app) == Look(Request("reverse", "1 2"), Selection(step=2, ahead=False))
    assert asked_visit(app) == DEFAULT  # the browser is asked for nothing else
    assert followed(app) == followed(open_page())


@pytest.mark.parametrize("part", [{"layer": "9x"}, {"pad": "99"}, {"model": "gone"}])
def test_a_part_of_a_report_that_cannot_be_read_is_left_out(part):
    app = looked_at(open_page(), SEEN | part)
    assert messages(app) == []
    expected = SEEN | ({"model": FIRST} if "model" in part else {})
    assert to_query(look_of(app)) == expected


@pytest.mark.parametrize(
    "report",
    [
        None,
        "text=1+2",
        {"parameters": 3, "followed": 1},
        {"parameters": "text=1+2"},
        {"parameters": "text=1+2", "followed": -1},
        {"parameters": "text=1+2", "followed": 0},  # made before the browser knew this visit
        {"parameters": "text=1+2", "followed": 1, "back": "yes"},
    ],
)
def test_any_other_report_changes_nothing(report):
    app = open_page()
    assert followed(app) == 1
    app = reported(app, report)
    assert to_query(look_of(app)) == DEFAULT
    assert not app.code


def test_a_report_of_the_visit_before_is_ignored_after_back():
    app = looked_at(open_page(), SEEN)
    late = followed(app)
    app = looked_at(app, SEEN | {"text": "2 1"})
    write_address(app, SEEN)  # and the server is told of Back first
    app = app.run()
    assert followed(app) == late + 1
    assert asked_visit(app) == SEEN
    report = {"parameters": urlencode(SEEN | {"text": "2 1"}), "followed": late}
    assert to_query(look_of(reported(app, report))) == SEEN


def test_back_that_the_browser_has_reported_is_followed_once():
    app = looked_at(open_page(), SEEN)
    before = followed(app)
    app = looked_at(app, SEEN | {"text": "2 1"}, back=True)
    assert followed(app) == before + 1
    assert asked_visit(app)["text"] == "2 1"
    assert followed(app.run()) == before + 1


def test_back_leads_to_the_card_that_the_address_names():
    app = open_page(lesson="query-and-key", card="2")
    shown = asked_visit(app)
    app = looked_at(app, shown | {"lesson": "query-and-key", "card": "1"}, back=True)
    assert sent_to_explore(app)["lesson"] == "lesson=query-and-key&card=1"
    assert asked_visit(app) == shown
    assert app.session_state["LessonState"].card == 1
    app = looked_at(app, shown, back=True)
    assert sent_to_explore(app)["lesson"] == ""
    assert app.session_state["LessonState"] == LessonState()


def test_the_link_to_share_names_the_card():
    app = open_page(lesson="query-and-key", card="2")
    card = {"lesson": "query-and-key", "card": "2"}
    app = looked_at(app, asked_visit(app) | card)
    link = dict(parse_qsl(urlsplit(app.code[0].value).query))
    assert link == asked_visit(app) | card | {"lang": "en"}
    assert len(downloads(app)) == 4  # the lesson's page too


def test_the_language_switch_keeps_the_visit():
    app = looked_at(open_page(), SEEN)
    app = app.get("button_group")[0].set_value("zh").run()
    assert sent_to_explore(app)["language"] == "zh"
    assert followed(app) == 1
    assert to_query(look_of(app)) == SEEN
    assert "lang=zh" in app.code[0].value


def test_what_is_changed_in_a_model_is_kept_for_the_other_pages():
    app = looked_at(open_page(), SEEN | {"do": "ablate decoder.0.0", "force": "1.5"})
    request = look_of(app).request
    assert request.interventions == Interventions.parse(["ablate decoder.0.0"])
    assert request.forced == ((1, 5),)


def test_two_visitors_share_models_and_nothing_else():
    one, other = open_page(), open_page()
    looked_at(one, SEEN)
    assert asked_visit(other.run()) == DEFAULT


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a finished run that is called as a model that ships."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return finished_run(tmp_path / "reverse").folder


def test_a_link_to_a_trained_model_opens_it_after_a_restart(trained):
    link = {"model": "runs/reverse", "text": "1 2"}
    st.cache_resource.clear()
    app = open_page(**link)
    assert messages(app) == []
    assert asked_visit(app) == link | {"pad": "0"}
    assert picture_of(**link)[0]["facts"]["model"] == "reverse"


def test_a_trained_model_that_is_deleted_gives_way_with_one_sentence(trained):
    app = looked_at(open_page(model="runs/reverse"), SEEN | {"model": "runs/reverse"})
    before = followed(app)
    shutil.rmtree(trained)
    app = app.run()
    assert messages(app) == [f"The model “reverse” is no longer there; “{FIRST}” is shown instead."]
    assert asked_visit(app) == DEFAULT
    assert followed(app) == before + 1
    assert messages(app.run()) == []


def uploaded(name: str, data: bytes) -> AppTest:
    app = open_page()
    return app.file_uploader[0].set_value((name, data, "")).run()


@pytest.fixture(scope="module")
def expected() -> Trace:
    return explorer.load(ROOT / "checkpoints" / f"{FIRST}.safetensors").trace(FIRST_TEXT)


def test_an_upload_is_shown_at_once_and_cannot_be_shared(expected):
    app = uploaded("mine.trace", expected.to_bytes())
    assert messages(app) == []
    query = asked_visit(app)
    assert query["model"] == "mine.trace"
    assert followed(app) == 2
    app = looked_at(app, query)
    assert not app.code
    assert any("upload" in text for text in captions(app))
    assert len(downloads(app)) == 3


def test_a_deleted_upload_gives_way_to_the_first_model(expected):
    app = uploaded("mine.trace", expected.to_bytes())
    (delete,) = (one for one in app.button if one.key == "delete-mine.trace")
    app = delete.click().run()
    assert asked_visit(app)["model"] == FIRST
    assert followed(app) == 3


def tampered(data: bytes) -> bytes:
    """A trace with another weight, and the digest of the genuine one still in its header."""
    arrays, kept = unpack(data, "x")
    weights = arrays["cross.attention"].copy()
    weights[0, 0, 0, :2] = weights[0, 0, 0, 1::-1] + np.float32(0.125)
    file = io.BytesIO()
    pack(file, {**arrays, "cross.attention": weights}, kept)
    return file.getvalue()


def test_a_tampered_trace_does_not_pass_as_the_genuine_one(expected):
    genuine = expected.to_bytes()
    checks = []
    for data in (genuine, tampered(genuine)):
        app = uploaded("uploaded.trace", data)
        token = sent_to_explore(app)["visitor"]
        header, _ = picture_of(token, model="uploaded.trace")
        assert header["view"]["what_if"] is False
        checks.append({check["check"]: check["ok"] for check in header["integrity"]})
    assert checks[0]["unchanged_since_capture"] is True
    assert checks[1]["unchanged_since_capture"] is False


def test_the_uploader_drops_a_file_once_it_is_read():
    app = open_page()
    for name in ("forged.trace", "again.trace"):
        uploader = app.file_uploader[0]
        uploader.set_value((name, b"PK no trace", "")).run()
        assert name in messages(app)[0]
        assert app.file_uploader[0].key != uploader.key
    assert asked_visit(app) == DEFAULT


def test_a_trace_of_an_encoder_alone_is_kept_without_a_step():
    trace = Trace.from_arrays(["a", "b"], encoder=np.full((1, 1, 2, 2), 0.5))
    app = uploaded("encoder.trace", trace.to_bytes())
    token = sent_to_explore(app)["visitor"]
    assert picture_of(token, model="encoder.trace")[0]["source"] == ["a", "b"]
    app = looked_at(app, asked_visit(app))
    assert "step" not in to_query(look_of(app))


@pytest.mark.parametrize(
    ("address", "told"), [("http://127.0.0.1:8501/", True), ("http://192.0.2.7:8501/", False)]
)
def test_a_code_that_no_other_device_can_open_says_what_to_do(monkeypatch, address, told):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(address_bar, "app_address", lambda: address)
    assert any("cannot open this code" in text for text in captions(open_page(text="4 2"))) is told


@pytest.mark.parametrize(
    ("address", "told"), [("http://localhost:8501/", True), ("http://10.0.0.7:8501/", False)]
)
def test_a_link_to_this_computer_says_that_others_cannot_open_it(monkeypatch, address, told):
    monkeypatch.setattr(address_bar, "app_address", lambda: address)
    app = looked_at(open_page(), SEEN)
    assert any("this computer only" in text for text in captions(app)) is told


@pytest.mark.parametrize(
    ("key", "listens", "told"),
    [
        ("", "", "“python -m explorer class” makes links"),
        ("swordfish", "127.0.0.1", "Start it without --address"),
        ("swordfish", "192.0.2.7", "others join at http://192.0.2.7:8501"),
    ],
)
def test_a_link_to_this_computer_says_how_others_get_in(monkeypatch, key, listens, told):
    monkeypatch.setenv(access.KEY_VARIABLE, key)
    monkeypatch.setattr(ContextProxy, "url", "http://127.0.0.1:8501/")
    option = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda name: listens if name == "browser.serverAddress" else option(name)
    )
    shown = captions(looked_at(open_page(), SEEN))
    (caption,) = (one for one in shown if "on this computer only" in one)
    assert told in caption


def test_outside_of_class_mode_there_are_no_class_tools(monkeypatch):
    assert "attention_classroom" not in components_of(open_page())
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    assert components_of(open_page()).count("attention_classroom") == 2  # bar and tools


def test_a_report_runs_the_picture_s_fragment_and_a_late_one_changes_nothing():
    """Through Streamlit's own protocol."""

    async def act(address: str) -> tuple[Visitor, list[str]]:
        visitor, links = await visit(address), []

        async def send(message: BackMsg) -> None:
            await visitor.run(message)
            links.append(visitor.link)

        late = visitor.report(3)
        await send(visitor.report(2))
        await send(visitor.back("text=1+2+3"))
        await send(late)
        await send(visitor.report(1))
        await visitor.socket.close()
        return visitor, links

    with running_app() as address:
        visitor, (stepped, gone_back, after_late, after_own) = run_alone(act(address))
    assert visitor.errors == 0
    assert "step=2" in stepped
    assert after_late == gone_back
    assert "step=3" not in after_late
    assert "text=1+2+3" in after_own
    assert "step=1" in after_own
