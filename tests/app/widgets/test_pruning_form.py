"""The form that starts pruning curves."""

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.app.widgets.pruning_form import default_settings
from explorer.app.widgets.sentence_choice import default_kind
from explorer.core import folders
from explorer.core.errors import MeasurementError
from explorer.jobs import pruning_jobs
from explorer.jobs.measurement_jobs import Sentences
from explorer.jobs.pruning_jobs import PruningSettings
from explorer.model.catalog import shipped_models
from tests.support.app_pages import open_page


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def test_a_translator_is_measured_on_the_pairs_that_ship_with_it() -> None:
    model = shipped_models()["english-french"]
    settings = default_settings(model)
    assert settings.name == "english-french.tsv"
    assert settings.orders == ("importance", "random")
    assert settings.sentences.kind == "pairs"
    assert len(settings.sentences.lines) == 100
    first = settings.sentences.lines[0].split("\t")
    assert [text[:11] for text in first] == ["On the same", "Le même jou"]
    assert default_kind(model) == "shipped"
    assert default_settings(shipped_models()["reverse"]).sentences.kind == "task"
    assert default_kind(shipped_models()["reverse"]) == "task"


def test_wrong_input_is_refused_in_one_sentence_before_anything_starts() -> None:
    app = open_page("heads", part="pruning", model="reverse")
    app = app.multiselect(key="prune-orders-en").set_value([]).run()
    app = app.button(key="prune-start").click().run()
    assert not app.exception
    (error,) = app.error
    assert error.value == "Choose at least one order in which heads are removed\\."
    app = app.multiselect(key="prune-orders-en").set_value(["greedy"]).run()
    app = app.radio(key="prune-kind-en").set_value("lines").run()
    app = app.text_area(key="prune-lines").set_value("1 2\n1 été").run()
    app = app.button(key="prune-start").click().run()
    (error,) = app.error
    assert "2" in error.value
    assert "\n" not in error.value
    app = app.radio(key="prune-kind-en").set_value("pairs").run()
    app = app.button(key="prune-start").click().run()
    assert len(app.error) == 1  # no file yet


def test_what_is_typed_and_started_in_one_go_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The button was drawn with other values: those of the last run of the page."""
    begun = []

    def start(*given: object) -> None:
        begun.append(given[2])
        raise MeasurementError("queue_full", count=8)

    monkeypatch.setattr(pruning_jobs, "start", start)
    app = open_page("heads", part="pruning", model="reverse")
    app.multiselect(key="prune-orders-en").set_value(["random"])
    app.number_input(key="prune-size").set_value(12)
    app.number_input(key="prune-seed").set_value(61)
    app.button(key="prune-start").click().run()
    app = open_page("heads", part="pruning", model="english-french")
    app.number_input(key="prune-size").set_value(12)
    app.button(key="prune-start").click().run()
    shipped = default_settings(shipped_models()["english-french"])
    assert begun == [
        PruningSettings(Sentences(size=12, seed=61), ("random",)),
        replace(shipped, sentences=replace(shipped.sentences, size=12)),
    ]
