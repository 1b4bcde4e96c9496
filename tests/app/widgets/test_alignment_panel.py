"""The alignment section of Heads without a browser."""

import math
from pathlib import Path

import pytest

from explorer.app.widgets.alignment_panel import rates_table, verdict
from explorer.core import folders
from explorer.heads.alignment.aer_report import (
    DIAGONAL,
    AlignmentMethod,
    AlignmentReport,
    ErrorRate,
)
from tests.support.app_pages import captions, open_page
from tests.support.short_runs import wait_for_job

HEAD = (AlignmentMethod(1, 3, "input"), ErrorRate(0.25, 0.2, 0.3, (0.25, math.nan, math.nan)))
BASELINE = (DIAGONAL, ErrorRate(0.5, 0.4, 0.6, (0.5, math.nan, math.nan)))


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def test_an_uploaded_file_gives_a_table_of_all_heads() -> None:
    app = open_page("heads", part="alignment", model="reverse")
    assert "have not been compared" in app.info[0].value
    assert app.button(key="align-start").disabled
    data = b"\xef\xbb\xbf7 3 9\t9 3 7\t0-2 1-1 2-0\r\na b\tb a\t0-1 1-0\r\n"
    app = app.file_uploader[0].set_value(("mine.tsv", data, "")).run()
    assert "mine.tsv: links count what spaces separate" in captions(app)
    app = app.button(key="align-start").click().run()
    assert not app.exception
    assert not app.error
    wait_for_job(app.session_state["Measurements"].started[-1].job)
    app = app.run()
    assert not app.exception
    table = app.dataframe[0].value
    assert len(table) == 2 * (4 + 1) * 2 + 1
    assert table.error_rate[0] == 0.0
    assert "agrees best with the links" in app.markdown[-1].value.replace("\\", "")
    assert any(text.startswith("mine.tsv: 2 pairs, 0 of them too long") for text in captions(app))
    assert [one.proto.label for one in app.get("download_button")] == ["Table (CSV)"]
    again = open_page("heads", part="alignment", model="reverse", lang="zh")
    assert "与链接最一致" in again.markdown[-1].value  # stored, for all visitors


def test_links_ship_with_the_translators() -> None:
    app = open_page("heads", part="alignment", model="chinese-english")
    table = app.dataframe[0].value  # measured with the model, before any comparison
    assert list(table) == [
        *("head", "gold_accuracy", "gold_accuracy_interval"),
        *("gold_weight", "gold_weight_interval"),
    ]
    assert len(table) == 2 * 6
    assert table.gold_accuracy.is_monotonic_decreasing
    assert "the 100 pairs of chinese-english.tsv" in app.markdown[-1].value.replace("\\", "")
    (choice,) = [one for one in app.radio if one.key.startswith("align-kind")]
    assert choice.value == "shipped"
    app = app.button(key="align-start").click().run()
    assert not app.error
    wait_for_job(app.session_state["Measurements"].started[-1].job)
    app = app.run()
    assert any(text.startswith("chinese-english.tsv: 100 pairs, 0") for text in captions(app))
    swapped = "The plane is here .\t飞机 来 了\t1-0\n".encode()
    app = app.radio(key=choice.key).set_value("file").run()
    app = app.file_uploader[0].set_value(("swapped.tsv", swapped, "")).run()
    app = app.button(key="align-start").click().run()
    assert "not in the script" in app.error[0].value


def test_a_model_of_another_library_is_not_compared(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = open_page("heads", part="alignment", model="gpt-tiny")
    assert not app.exception
    assert "choose a model" in app.info[0].value


def test_it_is_said_when_the_diagonal_wins() -> None:
    report = AlignmentReport("x", "words", 1, 0, (BASELINE, HEAD))
    assert verdict(report, "en").startswith(
        "No head is better than the diagonal, 50.0\u00a0% [40.0"
    )
    report = AlignmentReport("x", "words", 1, 0, (HEAD, BASELINE))
    assert verdict(report, "en").startswith("L1 H3 agrees best with the links: error rate 25.0")
    table = rates_table(report, "en")
    assert table.method.tolist() == ["L1 H3", "diagonal"]
    assert table.error_rate_interval.tolist() == ["[20.0, 30.0]", "[40.0, 60.0]"]
