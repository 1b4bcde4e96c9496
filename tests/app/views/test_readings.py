"""How a model of the library reads a text, on Heads, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.core import folders
from tests.support.app_pages import (
    asked_in_bar,
    head_view,
    open_page,
    sent_to_bar,
    url_query,
)
from tests.support.model_directories import gpt2
from tests.support.multilingual_directories import nllb

TEMPLATE = "{% for one in messages %}({{ one.role }}) {{ one.content }}{% endfor %} (assistant)"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator of many languages, a model with a chat template, and one without."""
    folder = tmp_path_factory.mktemp("models")
    nllb(folder / "nllb")
    (gpt2(folder / "chats") / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    gpt2(folder / "plain")
    return folder


@pytest.fixture(autouse=True)
def folder(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(models))


def sent(app: AppTest) -> dict:
    assert not app.exception
    return head_view(app, "head_grid")[1]["trace"]


def read_as(app: AppTest, **changed: object) -> AppTest:
    """After another choice in the row."""
    return asked_in_bar(app, reading={**sent_to_bar(app)["request"]["reading"], **changed})


def test_the_languages_of_a_model_are_chosen_by_name_and_kept_in_the_address():
    app = open_page("heads", model="nllb", text="the cat")
    offered = sent_to_bar(app)["reading"]  # although the model was not open before
    assert offered["source"]["name"] == "English · eng_Latn"
    assert offered["target"] is None
    assert {"code": "fra_Latn", "name": "French · fra_Latn"} in offered["languages"]
    app = read_as(app, source_language="fra_Latn")
    app = read_as(app, target_language="zho_Hans")
    assert sent(app)["source"][0] == "fra_Latn"
    assert sent(app)["target"][1] == "zho_Hans"
    query = url_query(app)
    assert (query["source_language"], query["target_language"]) == ("fra_Latn", "zho_Hans")
    again = open_page("heads", **query)
    assert sent_to_bar(again)["request"]["reading"]["source_language"] == "fra_Latn"
    assert sent(again)["source"] == sent(app)["source"]
    app = read_as(again, source_language="")
    assert "source_language" not in url_query(app)
    assert sent(app)["source"][0] == "eng_Latn"
    app = asked_in_bar(app, model="plain")
    assert not url_query(app).keys() & {"source_language", "target_language"}
    assert sent_to_bar(app)["reading"] is None


def test_heads_are_removed_in_the_languages_that_are_chosen():
    named = {"source_language": "fra_Latn", "target_language": "deu_Latn"}
    options = {"model": "nllb", "text": "the cat", "part": "compare", "with": "@changes"}
    app = open_page("heads", **options, **named, do="ablate cross.1.0")
    assert not app.exception
    assert not app.error
    compared = head_view(app, "model_comparison")[1]
    read = sent(open_page("heads", model="nllb", text="the cat", **named))
    for name in ("original", "changed"):
        assert (compared[name]["source"], compared[name]["target"]) == (
            read["source"],
            read["target"],
        )
    assert compared["changed"]["sites"]["cross"]["removed"] == [[1, 0, "zero"]]
    assert sent_to_bar(app)["request"]["reading"]["target_language"] == "deu_Latn"


def test_a_text_is_read_as_a_message_of_a_chat():
    app = open_page("heads", model="chats", text="the cat")
    plain = sent(app)["target"]
    app = read_as(app, chat=True)
    assert url_query(app)["chat"] == "1"
    assert sent(app)["facts"]["text"] == "(user) the cat (assistant)"
    padded = open_page("heads", **(url_query(app) | {"pad": "2"}))
    assert not padded.error
    assert sent(padded)["target"][:2] == ["<pad>", "<pad>"]
    assert sent_to_bar(padded)["request"]["reading"]["chat"] is True
    app = read_as(app, chat=False)
    assert sent(app)["target"] == plain


@pytest.mark.parametrize(
    ("model", "asked", "said"),
    [
        ("nllb", {"source_language": "French"}, "such as fra_Latn"),
        ("plain", {"target_language": "fr"}, "no choice of languages"),
        ("plain", {"chat": "1"}, "no chat template"),
    ],
)
def test_a_link_to_what_a_model_does_not_have_shows_the_text_as_the_model_reads_it(
    model, asked, said
):
    app = open_page("heads", model=model, text="the dog", **asked)
    error = app.error[0].value.replace("\\", "")
    assert said in error
    assert "the dog" in error
    assert sent(app)["facts"]["text"] == "the dog"
