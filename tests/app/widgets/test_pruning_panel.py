"""The pruning section of Heads without a browser."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.state.measurements import Measurements
from explorer.app.widgets.pruning_panel import names_of
from explorer.core import folders
from explorer.heads.pruning.pruning_report import ORDERS, PruningReport
from explorer.jobs.measurement import Measurement
from explorer.jobs.pruning_jobs import StoredPruning
from tests.support.app_pages import captions, chosen_in, components_of, open_page, sent_to
from tests.support.short_runs import wait_for_job

SHIPPED = folders.shipped_prunings


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing was measured on this machine, and no curves ship."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(folders, "shipped_prunings", lambda: tmp_path / "none")
    return tmp_path


def chart(app: AppTest) -> dict[str, list[float]]:
    """By the name of each line, its heights."""
    traces = json.loads(sent_to(app, "chart"))["chart"]["data"]
    return {trace["name"]: trace["y"] for trace in traces if "name" in trace}


def measured(app: AppTest) -> AppTest:
    """After the measurement that was started has ended."""
    wait_for_job(app.session_state[Measurements.__name__].started[-1].job)
    app = app.run()
    assert not app.exception
    assert not app.error
    return app


def test_curves_are_measured_with_one_click_and_shown(reports: Path) -> None:
    app = open_page("heads", part="pruning", model="reverse")
    text = app.info[0].value.replace("\\", "")
    assert "removes its heads by importance and random, on 256 new sentences" in text
    assert "attention_chart" not in components_of(app)
    app = app.number_input(key="prune-size").set_value(16).run()
    app = app.multiselect(key="prune-orders-en").set_value(["importance"]).run()
    app = app.button(key="prune-start").click().run()
    assert not app.error
    app = measured(app)
    (path,) = reports.glob("*-pruning/*/pruning.json")
    points = PruningReport.load(path).curve("importance").losses
    assert chart(app) == {"importance": [point.value for point in points]}
    assert not app.info
    about = "16 sentences, on which the orders were found, too. A removed head puts out zero."
    assert any(about in text for text in captions(app))
    labels = [one.proto.label for one in app.get("download_button")]
    assert labels == ["Table (CSV)"]
    again = open_page("heads", part="pruning", model="reverse", lang="zh")
    assert list(chart(again)) == ["重要性"]  # stored, for all visitors
    again = again.number_input(key="prune-size").set_value(16).run()
    again = again.multiselect(key="prune-orders-zh").set_value(["confidence"]).run()
    again = measured(again.button(key="prune-start").click().run())
    assert list(chart(again)) == ["重要性", "置信度"]
    again = again.button(key="prune-start").click().run()
    assert [one.value for one in again.info] == ["已测量过，现已显示：新句子 · 16，种子 0。"]


def test_the_button_of_the_empty_page_starts_and_cancel_keeps_what_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page("heads", part="pruning", model="reverse")
    app = app.button(key="prune-default").click().run()
    assert not app.exception
    assert not app.error
    job = app.session_state[Measurements.__name__].started[-1].job
    assert job.active
    (cancel,) = [one for one in app.button if one.key.startswith("heads-cancel-")]
    app = cancel.click().run()
    wait_for_job(job)
    app = app.run()
    assert not app.exception
    assert not app.error


def test_an_unfinished_report_says_how_to_go_on(reports: Path) -> None:
    app = open_page("heads", part="pruning", model="reverse")
    app = app.number_input(key="prune-size").set_value(8).run()
    app = app.multiselect(key="prune-orders-en").set_value(["importance"]).run()
    app = measured(app.button(key="prune-start").click().run())
    (path,) = reports.glob("*-pruning/*/pruning.json")
    report = PruningReport.load(path)
    begun = replace(report.curve("importance"), losses=report.curve("importance").losses[:5])
    report.with_curve(begun).save(path.with_name("unfinished-pruning.json"))
    path.unlink()
    app = open_page("heads", part="pruning", model="reverse")
    assert len(chart(app)["importance"]) == 5
    assert any(text.startswith("Not finished") for text in captions(app))
    choice = chosen_in(app.selectbox, "pruning-report-en")
    assert choice.options == ["reverse, held out, 1 to 16 symbols, seed 0 · 8 (unfinished)"]


def test_a_model_that_ships_opens_with_its_curves_until_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folders, "shipped_prunings", SHIPPED)
    app = open_page("heads", part="pruning", model="reverse")
    shipped = PruningReport.load(SHIPPED() / "reverse.json")
    drawn = {order: [p.value for p in shipped.curve(order).losses] for order in ORDERS}
    assert chart(app) == drawn
    assert not app.info
    app = app.number_input(key="prune-size").set_value(8).run()
    app = app.multiselect(key="prune-orders-en").set_value(["importance"]).run()
    app = measured(app.button(key="prune-start").click().run())
    assert list(chart(app)) == ["importance"]
    choice = chosen_in(app.selectbox, "pruning-report-en")
    sentences = "reverse, held out, 1 to 16 symbols, seed 0"
    assert choice.options == [f"{sentences} · 8", f"{sentences} · 256"]
    assert chart(choice.set_value("shipped").run()) == drawn


def test_equal_names_are_numbered() -> None:
    facts = {"batch": "mine", "sentences": 3}
    report = PruningReport(facts, (1, 0), (), ())
    stored = [StoredPruning(report, Measurement.of("pruning", "digest", name)) for name in "ab"]
    assert names_of(stored, "en") == {"a": "mine · 3", "b": "mine · 3 (2)"}


def test_a_model_of_another_library_is_measured_on_its_examples(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = open_page("heads", part="pruning", model="gpt-tiny")
    assert not app.exception
    assert "on its examples" in app.info[0].value.replace("\\", "")
    app = measured(app.button(key="prune-default").click().run())
    assert list(chart(app)) == ["importance", "random"]
    assert any(text.startswith("gpt-tiny, examples, 3 sentences, ") for text in captions(app))


def test_nothing_can_be_lost_in_a_model_that_predicts_no_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.huggingface_families import saved, tiny_model

    saved(tiny_model("bert"), tmp_path / "models" / "by-ids")  # no mask token is known
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(tmp_path / "models"))
    app = open_page("heads", part="pruning", model="by-ids")
    assert not app.exception
    assert app.info[0].value.startswith("This model predicts no tokens")
    assert "prune-default" not in {button.key for button in app.button}
