"""The tree of a beam search on the page Heads, without a browser."""

import json

import pytest
from streamlit.testing.v1 import AppTest

import explorer
from explorer.app.widgets import beam_section
from explorer.app.widgets.beam_section import MOST_TOKENS, tree_of, visit_of_node
from explorer.core import folders
from explorer.core.look import Look, Request, Selection, to_query
from explorer.model.catalog import shipped_models
from tests.support.app_pages import captions, chosen_in, open_page, sent_to, url_query

MODEL, TEXT = "reverse-early", "7 3 9 1 4"
REQUEST = Request(MODEL, TEXT)


def opened(**query: str) -> AppTest:
    app = open_page("heads", **({"model": MODEL, "text": TEXT, "part": "beam"} | query))
    assert not app.exception
    assert not app.error
    return app


def sent(app: AppTest) -> dict:
    return json.loads(sent_to(app, "chart"))


def outputs(app: AppTest) -> list[str]:
    return [one.label for one in app.button if str(one.key).startswith("beam-output-")]


def test_the_tree_is_that_of_the_api_and_follows_the_width():
    app = opened()
    found = explorer.load(MODEL).beam(TEXT, max_new_tokens=MOST_TOKENS)
    numbers = [n for trace in sent(app)["chart"]["data"] for n in trace.get("customdata", [])]
    kept = {node.number for node in found.nodes if node.fate != "pruned"}
    assert kept <= set(numbers)
    assert sent(app)["picks"]
    assert [label.split(" · ")[0] for label in outputs(app)] == [o.text for o in found.outputs]
    app = chosen_in(app.segmented_control, "beam-width-en").set_value(1).run()
    assert len(outputs(app)) == 1
    assert any("Greedy decoding finds the same output." in text for text in captions(app))
    assert url_query(app)["ask"] == "1"
    linked = opened(ask="1")
    assert outputs(linked) == outputs(app)
    assert chosen_in(linked.segmented_control, "beam-width-en").value == 1


def test_an_output_opens_on_explore_with_its_tokens():
    app = opened()
    found = explorer.load(MODEL).beam(TEXT, max_new_tokens=MOST_TOKENS)
    second = found.outputs[1]
    app = app.button(key=f"beam-output-{second.number}").click().run()
    assert not app.exception
    forced = "_".join(f"{one.step}.{one.id}" for one in found.path(second))
    assert url_query(app)["force"] == forced


def test_a_node_is_shown_at_its_step(monkeypatch):
    monkeypatch.setattr(
        beam_section.visit_state, "current", lambda: Look(REQUEST, Selection("cross", 1, 2, 1))
    )
    tree = tree_of(shipped_models()[MODEL], REQUEST, 4)
    node = next(one for one in tree.nodes if one.step == 3)
    visit = visit_of_node(REQUEST, tree, node)
    assert visit.selection == Selection("cross", 1, 2, 3)
    assert len(visit.request.forced) == 3
    assert to_query(visit)["force"].count("_") == 2
    assert tree_of(shipped_models()[MODEL], REQUEST, 4) is tree


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The cat", "Greedy decoding finds the same output."),
        ("She wanted to", "The beam finds an output 5.9"),
        ("I think", "The beam dropped the path of greedy decoding on the way."),
    ],
)
def test_what_is_said_of_the_best_output(text, said):
    assert any(said in caption for caption in captions(opened(model="english", text=text)))


def test_outputs_that_are_cut_off_are_named(monkeypatch):
    monkeypatch.setattr(beam_section, "MOST_TOKENS", 3)
    said = captions(opened(text="1 2 3 4 5 6 7"))
    assert any("do not end within 3 tokens" in caption for caption in said)


def test_a_model_that_writes_nothing_says_so(model_folder, monkeypatch):
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = open_page("heads", model="bert-tiny", part="beam")
    assert not app.exception
    assert any("no output to search" in error.value for error in app.error)
