"""Explore and Heads with models of the library transformers, without a browser."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import explorer
from explorer.app import model_cache
from explorer.app.state import visit as visit_state
from explorer.app.trace_notes import model_notes, separator_note
from explorer.app.visitor_catalog import catalog_of
from explorer.core import folders
from explorer.core.errors import ExplorerError, MeasurementError
from explorer.core.i18n import say
from explorer.core.look import Request
from explorer.heads.reports.report_files import REPORT_FILES, measured_folder
from explorer.jobs import measurement_jobs
from explorer.model.huggingface.opening.hub import EXTRA
from tests.support.app_pages import (
    FIRST,
    MAIN,
    asked_in_bar,
    chosen_in,
    head_view,
    open_page,
    picture_of,
    sent_to,
    sent_to_bar,
    session_of,
    url_query,
)
from tests.support.huggingface_families import saved, tiny_model
from tests.support.model_directories import bert, gpt2

SENTENCE = "The cat sees a dog."
CHANGES = {"part": "compare", "with": "@changes"}


@pytest.fixture(autouse=True)
def folder(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app was started with the folder of models."""
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    return model_folder


def header(app: AppTest) -> dict:
    """The header of the trace in the grid of heads."""
    assert not app.exception
    return head_view(app, "head_grid")[1]["trace"]


def chosen(app: AppTest, model: str) -> AppTest:
    return asked_in_bar(app, model=model)


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
    app = chosen(open_page("heads"), model)
    assert errors(app) == []
    sent = header(app)
    assert list(sent["sites"]) == sites
    assert sent["facts"]["model"] == model
    assert {check["check"]: check["ok"] for check in sent["integrity"]}["equals_library"]
    text = sent_to_bar(app)["request"]["text"]
    app = asked_in_bar(app, text=text.replace("cat", "dog"))
    link = url_query(app)
    assert link["model"] == model
    assert "/" not in "".join(link.values())
    model_cache._directories.clear()
    again = header(open_page("heads", **link))
    assert (again["source"], again["target"]) == (header(app)["source"], header(app)["target"])
    assert again["view"]["site"] in (None, site)


def test_a_text_that_the_next_model_cannot_use_is_replaced():
    app = open_page("heads", model="bert-tiny")
    assert "[MASK]" in sent_to_bar(app)["request"]["text"]
    with session_of(app):
        visit_state.choose_model("gpt-tiny", catalog_of(""))
    assert "[MASK]" not in sent_to_bar(app.run())["request"]["text"]


@pytest.fixture
def broken(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models, one with cut weights."""
    shutil.copytree(folder / "opus-tiny", tmp_path / "opus-tiny")
    shutil.copytree(folder / "opus-tiny", tmp_path / "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))


def test_a_model_that_does_not_open_leaves_the_picture_and_the_list(broken):
    app = open_page("heads", text="3 1 2")
    shown = header(app)
    app = chosen(app, "cut")
    assert len(errors(app)) == 1
    assert "cannot open “cut”" in errors(app)[0]
    assert header(app)["source"] == shown["source"]
    assert sent_to_bar(app)["request"]["model"] == FIRST
    assert url_query(app).get("model", FIRST) == FIRST
    app = chosen(app, "opus-tiny")
    assert errors(app) == []
    assert header(app)["facts"]["family"] == "marian"


def test_a_link_to_it_shows_the_default_with_the_reason(broken):
    app = open_page("heads", model="cut")
    assert "cannot open “cut”" in errors(app)[0]
    assert header(app)["facts"]["model"] == FIRST
    heads = open_page("heads", model="cut")
    assert not heads.exception
    assert "cannot open “cut”" in errors(heads)[0]


def test_without_the_library_one_line_says_how_to_add_it(monkeypatch):
    model_cache._directories.clear()
    monkeypatch.setitem(sys.modules, "transformers", None)
    app = chosen(open_page("heads"), "opus-tiny")
    assert len(errors(app)) == 1
    assert EXTRA in errors(app)[0]
    assert header(app)["facts"]["model"] == FIRST


@pytest.mark.parametrize("name", ["../opus-tiny", "{folder}/opus-tiny", "opus-tiny/.", "nothing"])
def test_no_link_can_name_a_path(name, folder):
    app = open_page("heads", model=name.format(folder=folder))
    assert header(app)["facts"]["model"] == FIRST
    assert "model" in app.warning[0].value
    assert "opus-tiny" in sent_to_bar(app)["models"][-1]["name"]
    assert header(chosen(app, "opus-tiny"))["facts"]["model"] == "opus-tiny"


def test_the_library_is_imported_when_a_model_is_first_used(folder):
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file({str(MAIN)!r}, default_timeout=60).run()\n"
        "assert not app.exception\n"
        "mounted = [element.proto.bytes for element in app.get('bidi_component')]\n"
        "assert any(b'opus-tiny' in sent for sent in mounted)\n"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


@pytest.mark.parametrize("text", ["", "   ", "🙂", "你看见 🙂 猫。", "cat " * 300, "cat " * 500])
@pytest.mark.parametrize("model", ["opus-tiny", "gpt-tiny", "bert-tiny"])
def test_odd_texts_are_shown_or_refused_with_one_sentence(model, text):
    app = open_page("heads", model=model)
    before = header(app)["source"]
    app = asked_in_bar(app, text=text)
    shown = header(app)
    if text.strip() and len(text) < 1000:
        assert errors(app) == []
        assert shown["facts"]["text"] == text
    else:
        assert len(errors(app)) == 1 or shown["facts"]["text"] == text
        assert errors(app) == [] or shown["source"] == before


def test_what_an_encoder_alone_fills_in_is_compared():
    removed = {**CHANGES, "model": "bert-tiny", "do": "ablate encoder.1.0"}
    app = open_page("heads", **removed, text="The cat [MASK] a dog [MASK].")
    line = next(one.value for one in app.markdown if "times as probable as before" in one.value)
    assert "(ln: 0)" not in line
    outputs = head_view(app, "model_comparison")[0]["outputs"]
    assert [len(output) for output in outputs] == [2, 2]
    app = open_page("heads", **removed, text=SENTENCE)
    assert not app.exception
    assert any("no mask token to fill in" in one.value for one in app.markdown)
    assert head_view(app, "model_comparison")[0]["outputs"] == [[], []]


@pytest.mark.parametrize(
    ("model", "site"), [("opus-tiny", "cross"), ("gpt-tiny", "decoder"), ("bert-tiny", "encoder")]
)
def test_heads_of_each_kind_are_removed_and_cells_masked(model, site):
    app = open_page("heads", **CHANGES, model=model, do=f"ablate {site}.1.0")
    assert not app.exception
    assert errors(app) == []
    changed = head_view(app, "model_comparison")[1]["changed"]
    assert changed["sites"][site]["removed"] == [[1, 0, "zero"]]
    both = f"close {site}.0.0 1 0;ablate {site}.1.0 mean"
    app = open_page("heads", **CHANGES, model=model, do=both)
    assert not app.exception
    assert errors(app) == []
    app = chosen_in(app.segmented_control, "section-en").set_value("overview").run()
    assert not app.exception
    assert sent_to(app, "head_grid")
    app = chosen_in(app.segmented_control, "more-section-en").set_value("metrics").run()
    assert not app.exception
    assert say("heads.no_findings") in app.info[0].value


def damaged(folder: Path, kind: str) -> None:
    """Damage a directory as downloads and mistakes do."""
    config = folder / "config.json"
    described = json.loads(config.read_text("utf-8"))
    if kind == "an unknown family":
        config.write_text(json.dumps({**described, "model_type": "no-such"}))
    elif kind == "damaged config":
        config.write_text("[")
    elif kind == "an image model":
        config.write_text(
            json.dumps({"model_type": "vit", "architectures": ["ViTForImageClassification"]})
        )
    elif kind == "another tokenizer":
        tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        more = {f"more {number}": 1000 + number for number in range(900)}
        tokenizer["model"]["vocab"] |= more
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    else:  # code in a pickle, which must not run
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Touching(str(folder / "ran"))))


class Touching:
    """What makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.path, "w")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("an unknown family", "model type `no-such`"),
        ("damaged config", "not a JSON object"),
        ("an image model", "images or sound"),
        ("another tokenizer", "another model's"),
        ("code", "nothing of it was run"),
    ],
)
def test_each_bad_directory_gets_one_sentence(kind, words, folder, tmp_path, monkeypatch):
    bad = shutil.copytree(folder / "bert-tiny", tmp_path / "bad")
    damaged(bad, kind)
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))
    app = chosen(open_page("heads"), "bad")
    assert header(app)["facts"]["model"] == FIRST
    assert len(errors(app)) == 1
    assert words in errors(app)[0]
    assert "“bad”" in errors(app)[0].replace("\\", "")
    assert f"On screen is “{FIRST}”" in errors(app)[0].replace("\\", "")
    assert not (bad / "ran").exists()


def test_weights_that_do_not_fit_and_long_prompts_get_one_sentence(monkeypatch):
    app = chosen(open_page("heads"), "gpt-tiny")
    app = asked_in_bar(app, text="cat " * 450)
    assert len(errors(app)) == 1
    assert "at most 399" in errors(app)[0]
    model_cache._directories.clear()
    monkeypatch.setattr("explorer.model.huggingface.opening.loading.free_memory", lambda: 1000)
    app = chosen(open_page("heads"), "gpt-tiny")
    assert len(errors(app)) == 1
    assert "memory are free" in errors(app)[0]


def test_a_token_that_fills_a_mask_is_kept_by_a_link():
    link = {"model": "bert-tiny", "text": "The cat [MASK] a dog [MASK]."}
    shown, _ = picture_of(**link, force="7.5")
    assert [step for step, _ in shown["view"]["forced"]] == [7]
    assert shown["facts"]["forced"] == {"7": 5}
    with pytest.raises(ExplorerError, match="There is no mask token at position 1"):
        picture_of(**link, force="1.5")


@pytest.mark.parametrize(
    ("head", "family", "kind"),
    [
        ("BertForSequenceClassification", "bert", "class"),
        ("BertForQuestionAnswering", "bert", "span"),
        ("BertForTokenClassification", "bert", "tags"),
        ("ElectraForPreTraining", "electra", "replaced"),
    ],
)
def test_a_model_that_predicts_no_tokens_opens_with_what_it_predicts(
    folder, tmp_path, monkeypatch, head, family, kind
):
    bert(tmp_path / "own", family, head)
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))
    app = open_page("heads", model="own", text=SENTENCE)
    assert errors(app) == []
    sent = header(app)
    assert sent["predictions"]["kind"] == kind
    assert "predicted_" + kind in sent["strings"]
    heads = open_page("heads", model="own", text=SENTENCE, do="ablate encoder.0.0")
    assert not heads.exception
    assert errors(heads) == []


def test_a_second_text_is_read_and_its_box_is_for_models_that_read_one():
    app = open_page("heads", model="bert-tiny", text="The cat [MASK].")
    app = asked_in_bar(app, pair="A dog is here.")
    assert errors(app) == []
    sent = header(app)
    assert sent["facts"]["pair"] == "A dog is here."
    assert sent["source"][sent["facts"]["second"] - 1] == "[SEP]"
    assert url_query(app)["pair"] == "A dog is here."
    again = open_page("heads", **url_query(app))
    assert sent_to_bar(again)["request"]["pair"] == "A dog is here."
    assert header(again)["source"] == sent["source"]
    padded = open_page("heads", **(url_query(app) | {"pad": "2"}))
    assert header(padded)["source"][-2:] == ["[PAD]", "[PAD]"]
    app = chosen(app, "gpt-tiny")
    assert sent_to_bar(app)["request"]["pair"] is None
    assert "pair" not in url_query(app)


def test_a_typed_separator_is_noted():
    member, text = catalog_of("")["bert-tiny"], "The cat. [SEP] A dog."
    trace = model_cache.trace(member, Request("bert-tiny", text))
    assert "second text" in separator_note(trace, "en")


def test_heads_are_removed_of_a_pair():
    pair = {"text": "The cat [MASK].", "pair": "A dog is [MASK]."}
    app = open_page("heads", **CHANGES, model="bert-tiny", do="ablate encoder.1.0", **pair)
    assert not app.exception
    assert errors(app) == []
    sent, traces = head_view(app, "model_comparison")
    source = header(open_page("heads", model="bert-tiny", **pair))["source"]
    assert traces["original"]["source"] == traces["changed"]["source"] == source
    assert [len(output) for output in sent["outputs"]] == [2, 2]  # the mask tokens of both texts


@pytest.fixture
def further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of which the weights alone are known, and a tagger with a decoder."""
    bert(tmp_path / "deberta-tiny", "deberta-v2")
    gpt2(tmp_path / "tagger-tiny")
    tagger = tiny_model("gpt2", head="GPT2ForTokenClassification", vocab_size=400, n_positions=400)
    saved(tagger, tmp_path / "tagger-tiny")
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path))
    return tmp_path


def test_where_the_weights_alone_are_known_nothing_is_offered_inside(further):
    app = chosen(open_page("heads"), "deberta-tiny")
    sent = header(app)
    assert sent["facts"]["weights_only"]
    assert "inside" not in sent
    member = catalog_of("")["deberta-tiny"]
    trace = model_cache.trace(member, Request("deberta-tiny", SENTENCE))
    assert "Weights only" in model_notes(member, trace, "en")
    app = open_page("heads", model="deberta-tiny", part="experiments", do="ablate encoder.0.0")
    assert not app.exception
    (refused,) = errors(app)
    assert "deberta-v2" in refused


@pytest.mark.parametrize(
    ("model", "reason"),
    [("deberta-tiny", "“deberta-v2”"), ("tagger-tiny", "This model predicts no tokens")],
)
def test_where_nothing_can_be_lost_metrics_are_measured_without_removal(
    further, monkeypatch, model, reason
):
    begun = []

    def start(checkpoint, name, settings, digest):
        begun.append(settings)
        raise MeasurementError("queue_full", count=8)

    monkeypatch.setattr(measurement_jobs, "start", start)
    app = open_page("heads", model=model, part="metrics")
    boxes = [app.checkbox(key=f"measure-{name}") for name in ("gradients", "removal")]
    assert [(box.disabled, box.value) for box in boxes] == [(True, False)] * 2
    assert all(reason in box.help for box in boxes)
    app.text_area(key="measure-lines").set_value(SENTENCE)
    app.button(key="measure-start").click().run()
    assert [(settings.gradients, settings.removal) for settings in begun] == [(False, False)]


@pytest.mark.parametrize(
    ("model", "reason"),
    [("deberta-tiny", "“deberta-v2”"), ("tagger-tiny", "This model predicts no tokens")],
)
def test_a_report_without_removal_advises_no_box_that_is_disabled(
    further, monkeypatch, tmp_path, model, reason
):
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path / "reports"))
    opened = explorer.load(further / model)
    report = opened.measure([SENTENCE, "The dog sees a cat."])
    batch = measured_folder(opened.digest) / "batch"
    batch.mkdir(parents=True)
    report.save(batch / REPORT_FILES["heads"])
    app = open_page("heads", model=model, part="removal")
    assert not app.exception
    assert [reason in info.value.replace("\\", "") for info in app.info] == [True]
    assert "tick" not in app.info[0].value


def test_a_tagger_with_a_decoder_reads_a_text(further):
    sent = header(open_page("heads", model="tagger-tiny", text="The cat"))
    assert (sent["predicted"], sent["predictions"]["kind"]) == ([], "tags")
    starts = {row["start"] for row in sent["predictions"]["rows"]}
    assert starts == set(range(len(sent["target"])))
