"""Explore and Heads with models of the library transformers, without a browser."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import model_cache
from explorer.app.server import access
from explorer.app.server.rate_limit import RateLimiter
from explorer.app.state import visitor
from explorer.core import folders
from explorer.model.opening import EXTRA
from tests.support.app_pages import MAIN, open_page, sent_to, url_query
from tests.support.payloads import unpack_payload

SENTENCE = "The cat sees a dog."


@pytest.fixture(autouse=True)
def folder(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app was started with the folder of models; nobody has sent a request yet."""
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    monkeypatch.setattr(visitor, "_limiter", RateLimiter(owners=99))
    return model_folder


def header(app: AppTest) -> dict:
    """The header of what the player was sent."""
    assert not app.exception
    return unpack_payload(sent_to(app, "player"))[0]


def chosen(app: AppTest, model: str) -> AppTest:
    return app.selectbox(key="model-en").set_value(model).run()


def errors(app: AppTest) -> list[str]:
    return [error.value.replace("\\", "") for error in app.error]


@pytest.mark.parametrize(
    ("model", "sites", "site"),
    [
        ("opus-tiny", ["encoder", "decoder", "cross"], "cross"),
        ("gpt-tiny", ["decoder"], "decoder"),
        ("bert-tiny", ["encoder"], "encoder"),
    ],
)
def test_a_model_of_each_kind_is_chosen_by_its_name(model, sites, site):
    app = chosen(open_page(), model)
    assert errors(app) == []
    sent = header(app)
    assert list(sent["sites"]) == sites
    assert sent["facts"]["model"] == model
    assert {check["check"]: check["ok"] for check in sent["integrity"]}["equals_library"]
    assert app.button(key="random").disabled
    text = app.text_input(key="source-en").value
    app = app.text_input(key="source-en").set_value(text.replace("cat", "dog")).run()
    link = url_query(app)
    assert link["model"] == model
    assert "/" not in "".join(link.values())
    model_cache._directories.clear()
    again = header(open_page(**link))
    assert (again["source"], again["target"]) == (header(app)["source"], header(app)["target"])
    assert again["view"]["site"] in (None, site)


def test_a_text_that_the_next_model_cannot_use_is_replaced():
    app = chosen(open_page(), "bert-tiny")
    assert "[MASK]" in app.text_input(key="source-en").value
    app = chosen(app, "gpt-tiny")
    assert "[MASK]" not in app.text_input(key="source-en").value


@pytest.fixture
def broken(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models, one with cut weights."""
    shutil.copytree(folder / "opus-tiny", tmp_path / "opus-tiny")
    shutil.copytree(folder / "opus-tiny", tmp_path / "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))


def test_a_model_that_does_not_open_leaves_the_picture_and_the_list(broken):
    app = open_page(text="3 1 2")
    shown = header(app)
    app = chosen(app, "cut")
    assert len(errors(app)) == 1
    assert "weights of “cut” cannot be read" in errors(app)[0]
    assert header(app)["source"] == shown["source"]
    assert app.selectbox(key="model-en").value == "reverse"
    assert url_query(app).get("model", "reverse") == "reverse"
    app = chosen(app, "opus-tiny")
    assert errors(app) == []
    assert header(app)["facts"]["family"] == "marian"


def test_a_link_to_it_shows_the_default_with_the_reason(broken):
    app = open_page(model="cut")
    assert "weights of “cut” cannot be read" in errors(app)[0]
    assert header(app)["facts"]["model"] == "reverse"
    heads = open_page("heads", model="cut")
    assert not heads.exception
    assert "weights of “cut” cannot be read" in errors(heads)[0]


def test_without_the_library_one_line_says_how_to_add_it(monkeypatch):
    model_cache._directories.clear()
    monkeypatch.setitem(sys.modules, "transformers", None)
    app = chosen(open_page(), "opus-tiny")
    assert len(errors(app)) == 1
    assert EXTRA in errors(app)[0]
    assert header(app)["facts"]["model"] == "reverse"


@pytest.mark.parametrize("name", ["../opus-tiny", "{folder}/opus-tiny", "opus-tiny/.", "nothing"])
def test_no_guest_can_name_a_path(name, folder, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    app = open_page(model=name.format(folder=folder))
    assert header(app)["facts"]["model"] == "reverse"
    assert "model" in app.warning[0].value
    assert "opus-tiny" in app.selectbox(key="model-en").options[-1]
    assert header(chosen(app, "opus-tiny"))["facts"]["model"] == "opus-tiny"


def test_the_library_is_imported_when_a_model_is_first_used(folder):
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file({str(MAIN)!r}, default_timeout=60).run()\n"
        "assert not app.exception and 'torch' in sys.modules\n"
        "assert any('opus-tiny' in name for name in app.selectbox(key='model-en').options)\n"
        "sys.exit('transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


@pytest.mark.parametrize("text", ["", "   ", "🙂", "你看见 🙂 猫。", "cat " * 300, "cat " * 500])
@pytest.mark.parametrize("model", ["opus-tiny", "gpt-tiny", "bert-tiny"])
def test_odd_texts_are_shown_or_refused_with_one_sentence(model, text):
    app = open_page(model=model)
    before = header(app)["source"]
    app = app.text_input(key="source-en").set_value(text).run()
    shown = header(app)
    if text.strip() and len(text) < 1000:
        assert errors(app) == []
        assert shown["facts"]["text"] == text
    else:
        assert len(errors(app)) == 1 or shown["facts"]["text"] == text
        assert errors(app) == [] or shown["source"] == before


@pytest.mark.parametrize(
    ("model", "site"), [("opus-tiny", "cross"), ("gpt-tiny", "decoder"), ("bert-tiny", "encoder")]
)
def test_heads_of_each_kind_are_removed_and_cells_masked(model, site):
    app = open_page("heads", model=model, part="experiments", do=f"ablate {site}.1.0")
    assert not app.exception
    assert errors(app) == []
    assert unpack_payload(sent_to(app, "comparison"))[0]["view"] == "comparison"
    both = f"close {site}.0.0 1 0;ablate {site}.1.0 mean"
    app = open_page("heads", model=model, part="experiments", do=both)
    assert not app.exception
    assert errors(app) == []
    app = app.segmented_control(key="section-en").set_value("overview").run()
    assert not app.exception
    assert sent_to(app, "head_grid")
    app = app.segmented_control(key="section-en").set_value("norms").run()
    assert "Value norms are not computed" in app.info[0].value
    app = app.segmented_control(key="section-en").set_value("roles").run()
    assert not app.exception
    assert "Nothing has been measured" in app.info[0].value
