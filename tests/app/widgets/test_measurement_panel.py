"""Which head report is shown on Heads, and a running measurement."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.app.widgets import measurement_panel
from explorer.core import folders
from explorer.heads.reports import report_store
from explorer.heads.reports.head_report import HeadReport
from tests.support.app_pages import chosen_in, open_page, sent_to
from tests.support.app_server import ROOT
from tests.support.payloads import unpack_payload


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def two_batches(folder: Path) -> list[report_store.StoredReport]:
    """Two batches of one name and size, measured of the model that ships as "reverse"."""
    shipped = HeadReport.load(ROOT / "checkpoints" / "heads" / "reverse.json")
    for name, weight in (("one", 0.25), ("two", 0.75)):
        facts = {**shipped.facts, "batch": "your lines", "sentences": 2}
        path = folder / str(shipped.facts["digest"]) / name / "findings.json"
        path.parent.mkdir(parents=True)
        replace(shipped, heads=shipped.heads.assign(sink=weight), facts=facts).save(path)
    return [
        kept
        for kept in report_store.stored_reports(str(shipped.facts["digest"]))
        if kept.report.facts["batch"] == "your lines"
    ]


def test_batches_of_one_name_and_size_have_names_of_their_own(tmp_path):
    names = measurement_panel.report_names(two_batches(tmp_path), "en")
    assert len(set(names.values())) == 2
    assert all(name.startswith("typed lines · 2 · 20") for name in names.values())


def test_the_chosen_report_is_shown(tmp_path):
    one, two = two_batches(tmp_path)
    app = open_page("heads", model="reverse", part="metrics")
    for kept in (one, two, one):
        app = chosen_in(app.selectbox, "measure-batch-en").set_value(kept.key).run()
        assert not app.exception
        weight = kept.report.heads.sink[0]
        assert app.dataframe[0].value.sink[0] == weight
        app = chosen_in(app.segmented_control, "section-en").set_value("overview").run()
        header, _ = unpack_payload(sent_to(app, "head_grid"))
        assert header["heads"]["cross"][0]["metrics"]["sink"][0] == weight
        app = chosen_in(app.segmented_control, "more-section-en").set_value("metrics").run()


def test_a_report_of_an_older_version_is_said_to_be_old_in_one_sentence(tmp_path):
    one, _ = two_batches(tmp_path)
    path = tmp_path / str(one.report.facts["digest"]) / "one" / "findings.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | {"version": 1}), "utf-8")
    for part in ("removal", "metrics"):
        app = open_page("heads", model="reverse", part=part)
        assert not app.exception
        said = [text.value for text in app.caption if "older version" in text.value]
        assert said == [
            "Not shown because measured by an older version: 1 of the reports on this model; "
            "measure again."
        ]
