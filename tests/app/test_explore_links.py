"""What the server sends for the picture of a link: its text, and what of it is looked at."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import explorer
from explorer.core import folders, trace_size
from explorer.core.errors import ExplorerError
from explorer.core.trace import Trace
from explorer.heads.reports.head_report import HeadReport
from explorer.model.checkpoint import save_checkpoint
from explorer.training.trainer import Trainer
from tests.support.app_pages import FIRST, FIRST_TEXT, picture_of
from tests.support.toy_sentences import TINY_PAIRS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def expected() -> Trace:
    return explorer.load(ROOT / "checkpoints" / f"{FIRST}.safetensors").trace(FIRST_TEXT)


def header_of(**query: str) -> dict[str, Any]:
    return picture_of(**query)[0]


def view_of(**query: str) -> dict[str, Any]:
    view: dict[str, Any] = header_of(**query)["view"]
    return view


def refused(**query: str) -> str:
    """The sentence on why a link has no picture."""
    with pytest.raises(ExplorerError) as error:
        picture_of(**query)
    return error.value.in_language(query.get("lang", "en"))


def test_without_a_query_the_first_model_has_decoded_its_example(expected):
    sent, arrays = picture_of()
    assert tuple(sent["source"]) == expected.source_tokens
    assert tuple(sent["predicted"]) == expected.predicted_tokens
    assert sent["view"]["what_if"] is True
    assert all(check["ok"] for check in sent["integrity"])
    unmasked = expected.attention("cross")[:, :, expected.mask("cross")]
    assert np.abs(arrays["cross.attention"] / 65535 - unmasked.ravel()).max() < 1e-5


def best_gold_weight(task: str) -> tuple[str, int, int]:
    report = HeadReport.load(ROOT / "checkpoints" / "heads" / f"{task}.json").heads
    best = report[report.site == "cross"].sort_values("gold_weight").iloc[-1]
    return "cross", best.layer, best["head"]


@pytest.mark.parametrize("model", [FIRST, "sort"])
def test_a_text_opens_at_the_best_head_and_a_step_that_shows_something(model):
    sent = header_of(model=model)
    view = sent["view"]
    assert (view["site"], view["layer"], view["head"]) == best_gold_weight(model)
    assert sent["predicted"][view["step"] - 1] != "<eos>"
    assert view["ahead"] is True


def test_only_a_step_that_the_app_chose_is_said_to_show_most():
    opened = view_of(model="english-french")
    assert opened["step"] is not None
    assert opened["suggested"]
    assert not view_of(model="english-french", step="3", ahead="1")["suggested"]


def test_a_translator_opens_where_its_hint_can_be_seen():
    sent, arrays = picture_of(model="english-french")
    view = sent["view"]
    assert view["site"] == "cross"
    shape = sent["sites"]["cross"]["shape"]
    weights = arrays["cross.attention"].reshape(shape)[view["layer"], view["head"]]
    rows = [sent["predicted"].index(token) for token in ("▁chaise", "▁rouge")]
    assert [sent["source"][key] for key in weights[rows].argmax(-1)] == ["▁chair", "▁red"]


def test_a_link_restores_what_was_looked_at():
    place = {"site": "decoder", "layer": "1", "head": "2", "step": "2"}
    sent = header_of(model="reverse", text="1 2 3", pad="1", force="2.9", **place)
    view = sent["view"]
    assert sent["source"] == ["1", "2", "3", "<eos>", "<pad>"]
    assert (view["site"], view["layer"], view["head"], view["step"]) == ("decoder", 1, 2, 2)
    assert view["forced"] == [[2, "7"]]
    assert view["original"] == ["3", "2", "1", "<eos>"]


@pytest.mark.parametrize(
    ("linked", "name", "shown"),
    [
        ({"alignment": "input"}, "alignment", "input"),
        ({"alignment": "sideways"}, "alignment", "off"),
        ({"shows": "alti", "site": "cross", "layer": "1"}, "shows", "alti"),
        ({"shows": "<b>"}, "shows", None),
        ({"next": "heads", "step": "2"}, "next", "heads"),
        ({"next": "percent"}, "next", None),
        ({"model": "english-french", "step": "4", "words": "1"}, "words", True),
        ({"model": "english-french", "step": "4", "words": "1"}, "step", 4),
        ({"words": "yes"}, "words", None),
        ({"step": "2", "ahead": "1"}, "ahead", True),
        ({"step": "2", "ahead": "0"}, "ahead", False),
        ({"step": "7", "ahead": "0"}, "ahead", False),  # the last step
        ({"step": "2"}, "ahead", None),
    ],
)
def test_what_is_on_in_a_link_is_on(linked, name, shown):
    assert view_of(**linked)[name] == shown


@pytest.mark.parametrize(
    ("linked", "step", "cell"),
    [
        ({"cell": "0.0"}, 1, [0, 0]),
        ({"cell": "0.0", "step": "NaN"}, 1, [0, 0]),
        ({"cell": "2.1", "step": "3"}, 3, [2, 1]),
        ({"cell": "0.0", "step": "3"}, 3, None),
        ({"cell": "0.0", "step": "3", "site": "encoder"}, 3, [0, 0]),
    ],
)
def test_a_cell_of_a_link_is_in_the_row_of_its_step(linked, step, cell):
    view = view_of(**linked)
    assert (view["step"], view["cell"]) == (step, cell)


def test_a_changed_model_is_shown_beside_its_output_without_changes():
    link = {"model": "reverse", "text": "7 3 9 1 4"}
    sent = header_of(**link, do="ablate decoder.0.0;omit scaling")
    assert sent["facts"]["interventions"] == ["ablate decoder.0.0", "omit scaling"]
    assert sent["sites"]["decoder"]["removed"] == [[0, 0, "zero"]]
    assert sent["view"]["original"] == ["4", "1", "9", "3", "7", "<eos>"]
    assert "attribution" not in sent["resources"]["names"]  # of a pass by the model as it is
    assert "attribution" in header_of(**link)["resources"]["names"]
    assert header_of(**link, do="ablate decoder.0.0")["text"] == "4 1 9 3 7 7"
    mean = header_of(**link, do="ablate decoder.0.0 mean")
    assert mean["sites"]["decoder"]["removed"] == [[0, 0, "mean"]]
    assert "may attend to nothing" in refused(**link, do="close decoder.0.0 0 0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("7 x 9", "“x” is not a symbol"),
        ("   ", "The text is empty"),
        (" ".join("1" * 40), "at most 34"),
        ("<script>alert(1)</script>", "script"),
        ("**bold** [a](http://b)", "bold"),
        ("😀", "😀"),
        ("\u202eשלום", "is not a symbol"),
        ("1\x00", "is not a symbol"),
    ],
)
def test_a_text_that_no_symbol_model_reads_gets_one_sentence(text, words):
    told = refused(text=text)
    assert words in told.replace("\u2060", "")
    assert "\n" not in told


def test_a_refusal_is_in_the_language_of_the_page():
    assert "不认识符号" in refused(text="x", lang="zh")


@pytest.mark.parametrize(("force", "words"), [("1.9999", ""), ("30.5", ""), ("9.5", "ended at")])
def test_a_token_that_cannot_be_forced_gets_one_sentence(force, words):
    assert words in refused(text="7 3", force=force)


def test_padding_never_exceeds_what_the_model_takes():
    assert len(header_of(pad="16", text=" ".join("1" * 30))["source"]) == 34
    assert header_of(pad="5")["source"][-5:] == ["<pad>"] * 5


def test_a_text_with_too_many_weights_is_refused(monkeypatch):
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 12 * 15**2 * 4)  # one of two layers
    assert "one layer of this text" in refused(text=" ".join("123456789abcdefg"))


@pytest.fixture
def translator(tmp_path: Path, pairs_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped reverse and a translator trained for one step."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    shutil.copy(ROOT / "checkpoints" / "reverse.safetensors", folder)
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(pairs_file), heads=4, steps=1))
    save_checkpoint(trainer.checkpoint({"bleu": 12.3}), folder / "english-french.safetensors")
    monkeypatch.setenv(folders.CHECKPOINTS_VARIABLE, str(folder))
    return folder


def test_a_translator_opens_with_its_first_example_in_pieces(translator):
    sent = header_of(model="english-french")
    assert sent["facts"]["text"] == "The black cat is sleeping on the red chair."
    assert sent["source"][0].startswith("▁")


@pytest.mark.parametrize(("text", "words"), [("word " * 60, "at most 66"), ("  ", "is empty")])
def test_a_refused_sentence_names_the_limit(translator, text, words):
    assert words in refused(model="english-french", text=text)


def test_pieces_are_counted_and_not_words(translator, monkeypatch):
    logits = trace_size.largest_logits()
    monkeypatch.setattr(trace_size, "largest_logits", lambda: logits)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 120_000)  # one layer of 50 tokens
    assert header_of(model="english-french", text="I see a dog today.")["source"]
    one_word = "unbelievablyincomprehensible" * 2  # of more than 50 pieces
    assert "one layer of this text" in refused(model="english-french", text=one_word)


def test_any_letter_of_any_script_is_read(translator):
    source = header_of(model="english-french", text="😀 你好 שלום")["source"]
    assert any(label.startswith("<0x") for label in source)
