import io
import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

import explorer
from explorer.app import model_cache
from explorer.app.server import access, trace_route
from explorer.app.state import address_bar
from explorer.core import folders, trace_size
from explorer.core.errors import ModelDirectoryError
from explorer.core.interventions import Interventions
from explorer.core.look import Look, Request
from explorer.core.trace import Trace
from explorer.core.trace_file import pack, unpack
from explorer.heads.reports.head_report import HeadReport
from explorer.model.catalog import CatalogMember
from explorer.model.checkpoint import save_checkpoint
from explorer.training.trainer import Trainer
from tests.support.app_pages import (
    FIRST,
    FIRST_TEXT,
    captions,
    chosen_in,
    open_page,
    sent_to,
    url_query,
)
from tests.support.app_server import running_app
from tests.support.finished_runs import finished_run
from tests.support.own_loop import run_alone
from tests.support.payloads import unpack_payload
from tests.support.toy_sentences import TINY_PAIRS
from tests.support.visitor_connection import Visitor, visit

ROOT = Path(__file__).parents[3]


def header(app: AppTest) -> dict:
    """The header of what the player was sent."""
    return unpack_payload(sent_to(app, "player"))[0]


def components(app: AppTest) -> list[str]:
    """The names of the components on the page."""
    return [element.proto.component_name for element in app.get("bidi_component")]


def typed(app: AppTest, text: str) -> AppTest:
    return chosen_in(app.text_input, "source-en").set_value(text).run()


@pytest.fixture(scope="module")
def expected() -> Trace:
    return explorer.load(ROOT / "checkpoints" / f"{FIRST}.safetensors").trace(FIRST_TEXT)


def test_a_first_visit_shows_the_first_model_decoding_live(expected):
    app = open_page()
    assert not app.exception
    assert not app.error
    sent = header(app)
    assert tuple(sent["source"]) == expected.source_tokens
    assert tuple(sent["predicted"]) == expected.predicted_tokens
    assert sent["view"]["what_if"] is True
    assert all(check["ok"] for check in sent["integrity"])
    assert url_query(app) == {}


def test_the_controls_are_labelled(expected):
    app = open_page()
    assert chosen_in(app.text_input, "source-en").label == "Source"
    assert chosen_in(app.selectbox, "model-en").label == "Model"
    assert chosen_in(app.text_input, "source-en").value == FIRST_TEXT
    assert chosen_in(app.selectbox, "model-en").options[0].startswith(f"{FIRST} · ")


def test_the_player_gets_the_trace_s_numbers(expected):
    _, arrays = unpack_payload(sent_to(open_page(), "player"))
    unmasked = expected.attention("cross")[:, :, expected.mask("cross")]
    assert np.abs(arrays["cross.attention"] / 65535 - unmasked.ravel()).max() < 1e-5


def test_a_typed_text_is_traced_and_written_into_the_url():
    app = typed(open_page(), "甲 乙 1")
    assert header(app)["predicted"] == ["1", "乙", "甲", "<eos>"]
    view = header(app)["view"]
    assert view["ahead"] is True
    assert header(app)["predicted"][view["step"] - 1] != "<eos>"
    shown = {"site": "cross", "layer": str(view["layer"]), "head": str(view["head"])}
    wanted = {
        "model": FIRST,
        "text": "甲 乙 1",
        "pad": "0",
        "step": str(view["step"]),
        "ahead": "1",
    }
    assert url_query(app) == wanted | shown


def test_the_alignment_of_a_link_is_shown_and_an_invalid_one_refused():
    app = open_page(alignment="input")
    assert header(app)["view"]["alignment"] == "input"
    refused = open_page(alignment="sideways")
    assert "alignment" in refused.warning[0].value
    assert header(refused)["view"]["alignment"] == "off"


def test_a_link_with_a_wrong_drawing_names_it_and_its_ranges():
    warning = open_page(do="draw 0 1").warning[0].value.replace("\\", "")
    assert "(a temperature from 0.1 to 5, then a seed from 0 to 9999; k= from 1 to 9999" in warning
    assert re.search("drawing “.?0 1.?” ", warning)


def test_a_link_to_contributions_shows_them_and_a_saved_page_does_not():
    app = open_page(shows="alti", site="cross", layer="1")
    shown = header(app)
    assert shown["view"]["shows"] == "alti"
    assert "contributions" in shown["resources"]["names"]
    assert url_query(app)["shows"] == "alti"
    refused = open_page(shows="<b>")
    assert "colours" in refused.warning[0].value
    assert header(refused)["view"]["shows"] is None
    assert "shows" not in url_query(open_page())


def test_a_link_to_the_parts_of_heads_shows_them():
    app = open_page(next="heads", step="2")
    shown = header(app)
    assert shown["view"]["next"] == "heads"
    assert "attribution" in shown["resources"]["names"]
    assert url_query(app)["next"] == "heads"
    refused = open_page(next="percent")
    assert "next token" in refused.warning[0].value
    assert header(refused)["view"]["next"] is None


def test_a_link_to_words_shows_them_at_the_step_of_the_pieces():
    app = open_page(model="english-french", step="4", words="1")
    assert (header(app)["view"]["words"], header(app)["view"]["step"]) == (True, 4)
    assert (url_query(app)["words"], url_query(app)["step"]) == ("1", "4")
    refused = open_page(words="yes")
    assert "unit" in refused.warning[0].value
    assert header(refused)["view"]["words"] is None


@pytest.mark.parametrize(
    ("linked", "step", "cell", "named"),
    [
        ({"cell": "0.0"}, 1, [0, 0], []),
        ({"cell": "0.0", "step": "NaN"}, 1, [0, 0], ["step"]),
        ({"cell": "2.1", "step": "3"}, 3, [2, 1], []),
        ({"cell": "0.0", "step": "3"}, 3, None, ["cell"]),
        ({"cell": "0.0", "step": "3", "site": "encoder"}, 3, [0, 0], []),
    ],
)
def test_a_cell_of_a_link_is_in_the_row_of_its_step(linked, step, cell, named):
    app = open_page(**linked)
    view = header(app)["view"]
    assert (view["step"], view["cell"]) == (step, cell)
    assert [name for name in named if name in app.warning[0].value] == named
    assert bool(app.warning) == bool(named)


def test_a_link_says_whether_later_rows_are_shown():
    last = str(len(header(open_page())["predicted"]))
    for step, ahead, shown in (("2", "1", True), ("2", "0", False), (last, "0", False)):
        app = open_page(step=step, ahead=ahead)
        view = header(app)["view"]
        assert (view["step"], view["ahead"]) == (int(step), shown)
        assert url_query(app)["ahead"] == ahead
    assert header(open_page(step="2"))["view"]["ahead"] is None


def test_only_a_step_that_the_app_chose_is_said_to_show_most():
    opened = header(open_page(model="english-french"))["view"]
    assert opened["step"] is not None
    assert opened["suggested"]
    assert not header(open_page(model="english-french", step="3", ahead="1"))["view"]["suggested"]


def test_a_shared_link_opens_in_the_language_of_the_one_who_shared_it():
    for language in ("en", "zh"):
        shared = open_page(lang=language).code[0].value
        assert parse_qs(urlsplit(shared).query)["lang"] == [language]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("7 x 9", "“x” is not a symbol"),
        ("   ", "The text is empty"),
        ("1 " * 40, "at most 34"),
        ("1 " * 30_000, "at most 20000 are read"),
        ("<script>alert(1)</script>", "script"),
        ("**bold** [a](http://b)", "bold"),
        ("😀", "😀"),
        ("\u202eשלום", "is not a symbol"),
        ("1\x00", "is not a symbol"),
    ],
)
def test_a_bad_text_gets_one_sentence_and_the_picture_stays(text, words):
    app = typed(open_page(), "1 2 3")
    before = sent_to(app, "player")
    app = typed(app, text)
    assert not app.exception
    assert len(app.error) == 1
    assert words in app.error[0].value.replace("\\", "").replace("\u2060", "")
    assert "**" not in app.error[0].value
    assert sent_to(app, "player") == before
    assert not typed(app, "3 2 1").error


def test_random_and_examples_ask_for_texts_the_model_reads():
    app = open_page()
    app.button(key="random").click().run()
    assert not app.error
    assert len(header(app)["source"]) >= 6  # five symbols and the end
    app.menu_button(key="examples").click("甲 乙 丙 丁").run()
    assert header(app)["source"][:4] == ["甲", "乙", "丙", "丁"]


def test_padding_is_real_and_another_model_keeps_the_text():
    app = open_page()
    chosen_in(app.selectbox, "pad-en").set_value(5).run()
    assert header(app)["source"][-5:] == ["<pad>"] * 5
    chosen_in(app.selectbox, "model-en").set_value("sort").run()
    assert header(app)["source"][:6] == FIRST_TEXT.split()
    assert url_query(app)["model"] == "sort"
    assert url_query(app)["pad"] == "5"


def test_padding_never_exceeds_what_the_model_takes():
    app = open_page(pad="16", text=" ".join("1" * 30))
    assert not app.error
    assert len(header(app)["source"]) == 34


def test_a_link_restores_everything():
    link = {
        "model": "reverse",
        "text": "1 2 3",
        "pad": "1",
        "force": "2.9",
        "site": "decoder",
        "layer": "1",
        "head": "2",
        "step": "2",
    }
    app = open_page(**link)
    assert not app.warning
    sent = header(app)
    view = sent["view"]
    assert sent["source"] == ["1", "2", "3", "<eos>", "<pad>"]
    assert (view["site"], view["layer"], view["head"], view["step"]) == ("decoder", 1, 2, 2)
    assert view["forced"] == [[2, "7"]]
    assert view["original"] == ["3", "2", "1", "<eos>"]
    assert url_query(app) == link


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"model": "../../etc/passwd"}, "model"),
        ({"model": "/etc/passwd"}, "model"),
        ({"pad": "-3"}, "padding"),
        ({"step": "99"}, "step"),
        ({"layer": "7"}, "layer"),
        ({"head": "4"}, "head"),
        ({"site": "<b>"}, "kind of attention"),
        ({"force": "1.2;drop"}, "forced token"),
        ({"text": "1" * 2_001}, "text (more than 2000 characters)"),
        ({"pad": "99", "site": "x", "layer": "x"}, "padding, kind of attention, layer"),
    ],
)
def test_a_link_with_invalid_parameters_gets_one_sentence_and_the_default(query, word):
    app = open_page(**query)
    assert not app.exception
    assert [warning.value.replace("\\", "") for warning in app.warning] == [
        f"Not all of this link could be followed; the default is shown for: {word}."
    ]
    assert header(app)["source"][:6] == FIRST_TEXT.split()
    assert not app.run().warning


def test_a_link_with_interventions_shows_the_changed_model():
    app = open_page(model="reverse", text="7 3 9 1 4", do="ablate decoder.0.0;omit scaling")
    changed = header(app)
    assert changed["facts"]["interventions"] == ["ablate decoder.0.0", "omit scaling"]
    assert changed["sites"]["decoder"]["removed"] == [[0, 0, "zero"]]
    assert changed["view"]["original"] == ["4", "1", "9", "3", "7", "<eos>"]
    assert "attribution" not in changed["resources"]["names"]  # of a pass by the model as it is
    assert not app.info


def change(app: AppTest, *lines: str) -> AppTest:
    """The page after a press in the player while Edit is on."""
    visit = app.session_state["Look"]
    request = replace(visit.request, interventions=Interventions.parse(lines))
    app.session_state["Look"] = Look(request, visit.selection)
    return app.run()


def test_a_changed_model_is_shown_and_named_in_the_url():
    app = change(open_page(model="reverse", text="7 3 9 1 4"), "ablate decoder.0.0")
    assert header(app)["text"] == "4 1 9 3 7 7"
    assert url_query(app)["do"] == "ablate decoder.0.0"
    app = change(app)
    assert header(app)["text"] == "4 1 9 3 7"
    assert "do" not in url_query(app)


def test_another_text_keeps_removed_heads_and_no_cells():
    app = open_page(model="reverse", text="7 3 9 1 4", do="ablate decoder.0.0;close cross.0.1 4 1")
    assert header(typed(app, "2 1"))["facts"]["interventions"] == ["ablate decoder.0.0"]


def test_a_change_that_the_model_refuses_leaves_those_in_force():
    app = open_page(model="reverse", text="7 3 9 1 4", do="omit scaling")
    app = change(app, "omit scaling", "close decoder.0.0 0 0")
    assert "Query 1 may attend to nothing" in app.error[0].value
    assert header(app)["facts"]["interventions"] == ["omit scaling"]
    assert url_query(app)["do"] == "omit scaling"


def test_a_head_replaced_by_its_mean_is_shown():
    app = open_page(model="reverse", text="7 3 9 1 4", do="ablate decoder.0.0 mean")
    assert header(app)["sites"]["decoder"]["removed"] == [[0, 0, "mean"]]
    assert not app.error


@pytest.mark.parametrize(
    "query", [{"text": "<script>"}, {"force": "1.9999"}, {"force": "30.5"}, {"text": " "}]
)
def test_a_link_that_the_model_refuses_shows_the_default_instead(query):
    app = open_page(**query)
    assert not app.exception
    assert len(app.error) == 1
    assert header(app)["source"][:6] == FIRST_TEXT.split()


def test_a_text_that_a_linked_model_refuses_never_stands_over_another_model():
    app = open_page(model="copy", text="7,3")
    assert not app.exception
    (told,) = (error.value.replace("\\", "") for error in app.error)
    assert told.endswith("On screen: “7 3 9 1 4”, with the model “copy”.")
    assert header(app)["target"][1:] == ["7", "3", "9", "1", "4"]  # not reversed
    query = url_query(app)
    assert (query["model"], query["text"]) == ("copy", "7 3 9 1 4")
    assert chosen_in(app.text_input, "source-en").value == "7,3"
    app = typed(typed(app, "1 2"), "1,2")
    assert header(app)["target"][1:] == ["1", "2"]
    assert url_query(app)["text"] == "1 2"


def test_a_model_without_anything_to_show_never_stands_over_the_picture_before(monkeypatch):
    app = typed(open_page(), "1 2 3")
    compute = model_cache.trace

    def refuse(member: CatalogMember, request: Request) -> Trace:
        if member.name == "sort":
            raise ModelDirectoryError("no_weights", name="sort")
        return compute(member, request)

    monkeypatch.setattr(model_cache, "trace", refuse)
    app = chosen_in(app.selectbox, "model-en").set_value("sort").run()
    assert "sort" in app.error[0].value
    mounted = [element.proto.component_name for element in app.get("bidi_component")]
    assert "attention_player" not in mounted
    query = url_query(app)
    assert (query["model"], query["text"]) == ("sort", "1 2 3")
    app = chosen_in(app.selectbox, "model-en").set_value("reverse").run()
    assert not app.error
    assert header(app)["source"][:3] == ["1", "2", "3"]


def test_a_link_with_a_good_text_and_a_bad_forced_step_keeps_the_text():
    app = open_page(text="7 3", force="9.5", pad="1")
    assert [error.value for error in app.error] == [
        "Step 9 cannot be forced\\: decoding ended at step 3\\."
    ]
    assert header(app)["source"] == ["7", "3", "<eos>", "<pad>"]
    assert header(app)["view"]["forced"] == []
    assert "force" not in url_query(app)
    assert not app.run().error


def test_a_forced_step_that_fails_leaves_the_picture_with_the_ones_before():
    app = open_page(text="1 2 3", force="2.9")
    visit = app.session_state["Look"]
    request = replace(visit.request, forced=((2, 9), (3, 9999)))
    app.session_state["Look"] = Look(request, visit.selection)
    app.run()
    assert len(app.error) == 1
    assert header(app)["view"]["forced"] == [[2, "7"]]


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
    app = open_page()
    assert any("this computer only" in caption.value for caption in app.caption) is told


def test_a_step_writes_the_address_and_draws_nothing_else():
    """A class steps all the time: a run of the whole page would take ten times as long."""

    async def step(address: str) -> Visitor:
        visitor = await visit(address)
        await visitor.run(visitor.report(3))
        await visitor.socket.close()
        return visitor

    with running_app() as address:
        visitor = run_alone(step(address))
    assert visitor.query.endswith("&site=cross&layer=0&head=3&step=3")
    assert visitor.drawn == ["block", "markdown", "code"]  # the link to share


def together(one: BackMsg, other: BackMsg) -> BackMsg:
    """What the server makes of two messages that wait: one run, with the changes of both."""
    one.rerun_script.widget_states.MergeFrom(other.rerun_script.widget_states)
    return one


def test_a_step_reported_together_with_another_action_does_not_undo_it():
    async def act(address: str) -> list[Visitor]:
        back, submit = await visit(address), await visit(address)
        await back.run(together(back.back("text=1+2+3"), back.report(2)))
        await submit.run(together(submit.submit("1 2 3"), submit.report(2)))
        for visitor in (back, submit):
            await visitor.socket.close()
        return [back, submit]

    with running_app() as address:
        for visitor in run_alone(act(address)):
            assert "bidi_component" in visitor.drawn
            assert "text=1+2+3" in visitor.query


def test_an_action_with_an_earlier_address_keeps_what_came_before_it():
    async def act(address: str) -> Visitor:
        visitor = await visit(address)
        await visitor.run(visitor.report(2))
        assert "step=2" in visitor.query
        both = together(visitor.submit("1 2 3"), visitor.report(3))
        assert both.rerun_script.query_string == ""
        await visitor.run(both)
        await visitor.socket.close()
        return visitor

    with running_app() as address:
        assert "text=1+2+3" in run_alone(act(address)).query


def test_a_text_that_has_been_replaced_is_not_taken_for_one_that_was_typed():
    async def act(address: str) -> list[str]:
        visitor = await visit(address)
        await visitor.run(visitor.submit("1 2 3"))
        late = together(visitor.submit("1 2 3"), visitor.report(2))
        await visitor.run(visitor.back("text=a+b"))
        before = visitor.query
        await visitor.run(late)
        await visitor.socket.close()
        return [before, visitor.query]

    with running_app() as address:
        before, after = run_alone(act(address))
    assert "text=a+b" in before
    assert after == before


def test_a_step_of_the_picture_before_is_not_taken_for_one_of_this():
    async def act(address: str) -> list[str]:
        visitor = await visit(address)
        late = visitor.report(2)
        await visitor.run(visitor.submit("1 2 3"))
        queries = [visitor.query]
        for report, alone in ((late, False), (visitor.report(2), True)):
            await visitor.run(report)
            queries.append(visitor.query)
            # The picture that the browser had not drawn may not have been sent, either.
            assert ("bidi_component" not in visitor.drawn) == alone
        await visitor.socket.close()
        return queries

    with running_app() as address:
        opened, after_late, after_own = run_alone(act(address))
    assert "text=1+2+3" in opened
    assert after_late == opened
    assert after_own.endswith("&site=cross&layer=0&head=3&step=2")


def test_the_address_that_back_went_to_is_written_again():
    """The address of the picture before may have been on its way to the browser."""

    async def act(address: str) -> list[str]:
        visitor, queries = await visit(address), []
        for text in ("1 2 3", "a b"):
            await visitor.run(visitor.submit(text))
            queries.append(visitor.query)
        await visitor.run(visitor.back(queries[0]))
        await visitor.socket.close()
        return [*queries, visitor.query]

    with running_app() as address:
        first, second, after_back = run_alone(act(address))
    assert second != first
    assert after_back == first


def test_the_back_button_goes_back():
    app = typed(open_page(), "1 2 3")
    first = dict(app.query_params)
    app = typed(app, "a b")
    for name in list(app.query_params):
        del app.query_params[name]
    for name, values in first.items():
        app.query_params[name] = values
    app.run()
    assert header(app)["source"][:3] == ["1", "2", "3"]
    assert chosen_in(app.text_input, "source-en").value == "1 2 3"


def test_the_page_is_in_chinese_when_asked():
    app = open_page(lang="zh")
    assert chosen_in(app.text_input, "source-zh").label == "输入"
    assert header(app)["language"] == "zh"
    chosen_in(app.text_input, "source-zh").set_value("x").run()
    assert "不认识符号" in app.error[0].value.replace("\\", "")
    assert url_query(app) == {"lang": "zh"}


def test_the_language_switch_keeps_the_visit():
    app = typed(open_page(), "1 2 3")
    app.get("button_group")[0].set_value("zh").run()
    assert not app.exception
    assert chosen_in(app.text_input, "source-zh").value == "1 2 3"
    assert header(app)["source"][:3] == ["1", "2", "3"]
    assert url_query(app)["lang"] == "zh"


def test_a_text_with_too_many_weights_is_refused(monkeypatch):
    app = open_page()
    before = sent_to(app, "player")
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 12 * 15**2 * 4)  # one of two layers
    app = typed(app, " ".join("123456789abcdefg"))
    assert "one layer of this text" in app.error[0].value
    assert sent_to(app, "player") == before


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
    (caption,) = (one for one in captions(open_page()) if "on this computer only" in one)
    assert told in caption


def test_outside_of_class_mode_there_are_no_class_tools(monkeypatch):
    app = open_page()
    assert "attention_classroom" not in components(app)
    assert "visit" not in header(app)
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    app = open_page(text="1 2")
    assert "attention_classroom" in components(app)
    assert header(app)["visit"] == {"model": FIRST, "text": "1 2", "pad": "0"}


def test_an_upload_that_guests_cannot_ask_for_has_a_key_by_which_they_get_it(monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    trace = Trace.from_arrays(["p", "q"], encoder=[[[[0.25, 0.75], [0.5, 0.5]]]])
    app = open_page()
    app.file_uploader[0].set_value(("mine.trace", trace.to_bytes(), "")).run()
    assert header(app)["visit"] is None
    key = header(app)["resources"]["address"].removeprefix("trace/")
    offered = trace_route.offered_trace(key)
    assert offered is not None
    assert offered[0].source_tokens == ("p", "q")


def test_another_model_keeps_a_text_longer_than_it_was_trained_for():
    text = " ".join("123456789123456789")
    app = typed(open_page(), text)
    chosen_in(app.selectbox, "model-en").set_value("sort").run()
    assert not app.error
    assert chosen_in(app.text_input, "source-en").value == text


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
        app = open_page()
        app.file_uploader[0].set_value(("uploaded.trace", data, "")).run()
        assert not app.exception
        assert header(app)["view"]["what_if"] is False
        checks.append({check["check"]: check["ok"] for check in header(app)["integrity"]})
    assert checks[0]["unchanged_since_capture"] is True
    assert checks[1]["unchanged_since_capture"] is False


def test_the_uploader_drops_a_file_once_it_is_read(expected):
    app = open_page()
    for name in ("forged.trace", "again.trace"):
        uploader = app.file_uploader[0]
        uploader.set_value((name, b"PK no trace", "")).run()
        assert name in app.error[0].value.replace("\\", "")
        assert app.file_uploader[0].key != uploader.key


def test_a_trace_of_an_encoder_alone_writes_no_step(expected):
    trace = Trace.from_arrays(["a", "b"], encoder=np.full((1, 1, 2, 2), 0.5))
    app = open_page()
    app.file_uploader[0].set_value(("encoder.trace", trace.to_bytes(), "")).run()
    assert not app.exception
    assert header(app)["source"] == ["a", "b"]
    assert "step" not in url_query(app)


def test_two_visitors_share_models_and_nothing_else():
    one, other = open_page(), open_page()
    typed(one, "1 1 1")
    other.run()
    assert header(other)["source"][:6] == FIRST_TEXT.split()
    assert url_query(other) == {}


@pytest.fixture
def translator(tmp_path: Path, pairs_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped reverse and a translator trained for one step."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    shutil.copy(ROOT / "checkpoints" / "reverse.safetensors", folder)
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(pairs_file), heads=4, steps=1))
    checkpoint = trainer.checkpoint({"bleu": 12.3, "credit": "taught by **nobody**"})
    save_checkpoint(checkpoint, folder / "english-french.safetensors")
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(folder))
    return folder


def test_a_translator_opens_with_its_first_example_and_a_hint(translator):
    app = open_page()
    chosen_in(app.selectbox, "model-en").set_value("english-french").run()
    assert not app.exception
    assert chosen_in(app.selectbox, "model-en").options[1].endswith("BLEU 12.3")
    box = chosen_in(app.text_input, "source-en")
    assert box.value == "The black cat is sleeping on the red chair."
    assert box.placeholder == "Type a sentence, then Enter"
    assert header(app)["source"][0].startswith("▁")
    assert any("For “chaise rouge” it reads" in text for text in captions(app))
    app = typed(app, "We want water now.")
    assert not app.error
    assert not any("chat noir" in text for text in captions(app))
    purpose = "This model translates English into French."
    assert f"{purpose} taught by **nobody**" in captions(app)
    app.menu_button(key="examples").click("I see him.").run()
    assert any("short object pronoun" in text for text in captions(app))
    app.button(key="random").click().run()
    assert not app.error
    chosen_in(app.selectbox, "model-en").set_value("reverse").run()
    assert chosen_in(app.text_input, "source-en").value == "7 3 9 1 4"
    assert not any("nobody" in text for text in captions(app))


def test_the_hint_is_in_chinese_too(translator):
    app = open_page(lang="zh", model="english-french")
    assert any("译 “chaise rouge” 时先看" in text for text in captions(app))
    assert chosen_in(app.text_input, "source-zh").placeholder == "输入一个句子，然后按回车"


@pytest.mark.parametrize(
    ("text", "words"),
    [("word " * 60, "at most 66"), ("word " * 5_000, "at most 20000 are read"), ("  ", "is empty")],
)
def test_a_refused_sentence_names_the_limit_and_stays(translator, text, words):
    app = typed(open_page(model="english-french"), text)
    assert not app.exception
    assert words in app.error[0].value.replace("\\", "")
    assert chosen_in(app.text_input, "source-en").value == text
    assert header(app)["source"]


def test_pieces_are_counted_and_not_words(translator, monkeypatch):
    logits = trace_size.largest_logits()
    monkeypatch.setattr(trace_size, "largest_logits", lambda: logits)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 120_000)  # one layer of 50 tokens
    app = typed(open_page(model="english-french", pad="0"), "I see a dog today.")
    assert not app.error
    app = typed(app, "unbelievablyincomprehensible" * 2)  # one word of more than 50 pieces
    assert "one layer of this text" in app.error[0].value


def test_any_letter_of_any_script_is_read(translator):
    app = typed(open_page(model="english-french"), "😀 你好 שלום")
    assert not app.exception
    assert not app.error
    assert any(label.startswith("<0x") for label in header(app)["source"])


def shown_head(app: AppTest) -> tuple:
    view = header(app)["view"]
    return view["site"], view["layer"], view["head"]


def best_gold_weight(task: str) -> tuple:
    report = HeadReport.load(ROOT / "checkpoints" / "heads" / f"{task}.json").heads
    best = report[report.site == "cross"].sort_values("gold_weight").iloc[-1]
    return "cross", best.layer, best["head"]


def test_a_first_visit_opens_at_the_best_head_and_a_step_that_shows_something():
    app = open_page()
    view = header(app)["view"]
    assert shown_head(app) == best_gold_weight(FIRST)
    assert header(app)["predicted"][view["step"] - 1] != "<eos>"
    assert view["ahead"] is True
    assert url_query(app) == {}
    assert header(app.run())["view"] == view


def test_another_model_selects_its_best_head_and_another_text_keeps_it():
    app = open_page(site="cross", layer="0", head="3", step="2")
    chosen_in(app.selectbox, "model-en").set_value("sort").run()
    view = header(app)["view"]
    assert shown_head(app) == best_gold_weight("sort")
    assert view["ahead"] is True
    assert url_query(app)["head"] == str(view["head"])
    assert url_query(app)["step"] == str(view["step"])
    assert header(app.run())["view"] == view
    assert shown_head(typed(app, "4 3 2 1")) == best_gold_weight("sort")


def test_a_chosen_translator_opens_where_its_hint_can_be_seen():
    app = open_page(site="cross", layer="0", head="3", step="2")
    chosen_in(app.selectbox, "model-en").set_value("english-french").run()
    sent, arrays = unpack_payload(sent_to(app, "player"))
    _, layer, head = shown_head(app)
    weights = arrays["cross.attention"].reshape(sent["sites"]["cross"]["shape"])[layer, head]
    rows = [sent["predicted"].index(token) for token in ("▁chaise", "▁rouge")]
    assert [sent["source"][key] for key in weights[rows].argmax(-1)] == ["▁chair", "▁red"]
    assert url_query(app)["pad"] == "0"
    direct = open_page(model="english-french")
    assert shown_head(direct) == ("cross", layer, head)
    assert header(direct)["view"]["step"] == header(app)["view"]["step"]


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a finished run that is called as a model that ships."""
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return finished_run(tmp_path / "reverse").folder


def test_a_link_to_a_trained_model_opens_it_after_a_restart(trained):
    app = open_page()
    chosen_in(app.selectbox, "model-en").set_value("runs/reverse").run()
    link = url_query(app)
    assert link["model"] == "runs/reverse"
    st.cache_resource.clear()
    app = open_page(**link)
    assert not app.warning
    assert chosen_in(app.selectbox, "model-en").value == "runs/reverse"
    assert header(app)["facts"]["model"] == "reverse"


def test_a_trained_model_that_is_deleted_gives_way_with_one_sentence(trained):
    app = open_page(model="runs/reverse")
    shutil.rmtree(trained)
    app = typed(app, "1 2")
    assert not app.exception
    assert [error.value.replace("\\", "") for error in app.error] == [
        f"The model “reverse” is no longer there; “{FIRST}” is shown instead."
    ]
    assert header(app)["source"][:6] == FIRST_TEXT.split()


def test_heads_shows_trained_models_and_opens_at_the_best_head(trained):
    app = open_page("heads", model="runs/reverse")
    assert not app.exception
    assert not app.warning
    trace = unpack_payload(sent_to(app, "head_grid"))[1]["trace"]
    view = unpack_payload(trace.tobytes())[0]["view"]
    assert view["site"] == "cross"
    assert view["head"] is not None
