import json

import pytest
from streamlit.testing.v1 import AppTest

from explorer.core.sites import Head
from tests.support.app_pages import sent_to


def page(section: str, head: tuple | None, changes: dict) -> None:
    """A section for the report that ships with the reverse model, with this head selected."""
    from dataclasses import replace

    from explorer.app.state import session
    from explorer.app.widgets import report_tables
    from explorer.core import folders
    from explorer.core.look import Look, Request, Selection
    from explorer.heads.reports.head_report import HeadReport

    report = HeadReport.load(folders.shipped_reports() / "reverse.json")
    session.save(Look(Request("reverse", "7 3 9"), Selection(*(head or ()))))
    report = replace(report, facts={**report.facts, **changes})
    getattr(report_tables, section)(report, "en")


def shown(section: str, head: Head | None = None, **changes: object) -> AppTest:
    app = AppTest.from_function(page, default_timeout=60, args=(section, head, changes)).run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return " ".join(text.value for text in [*app.markdown, *app.caption]).replace("\\", "")


def test_metrics_are_a_matrix_and_a_table_of_every_head_with_its_role():
    app = shown("metrics")
    names = {one.proto.component_name for one in app.get("bidi_component")}
    assert names == {"attention_metric_matrix", "attention_words"}
    (table,) = (one.value for one in app.dataframe)
    assert len(table) == 24
    assert "entropy" in table
    assert table.roles[22] == "mirrored place"
    assert "Choose a row" in texts(app)
    assert "background-color" not in str(app.dataframe[0].proto)
    assert texts(app).count("interval") == 1


def test_the_evidence_for_the_role_of_the_selected_head_stands_beside_the_table():
    app = shown("metrics", Head("cross", 1, 2))
    metrics, evidence = app.dataframe
    assert "background-color" in str(metrics.proto)  # of the row of that head
    evidence = evidence.value
    assert len(evidence) < 12
    assert "✓ holds" in evidence.verdict.tolist()
    chart = json.loads(sent_to(app, "chart"))["chart"]
    assert [line["type"] for line in chart["data"]] == ["bar", "scatter"]
    assert "L1 H2: mirrored place" in texts(app).replace("**", "")
    assert "Choose a row" not in texts(app)


def test_a_head_that_was_not_measured_has_no_evidence():
    assert len(shown("metrics", Head("cross", 9, 9)).dataframe) == 1


@pytest.mark.parametrize("measured", [True, False])
def test_removal_is_shown_only_where_it_was_measured(measured):
    app = shown("removal") if measured else shown("removal", ablation=None)
    assert len(app.dataframe) == measured
    assert len(app.info) == (not measured)
    assert ("without the head that costs most" in texts(app)) == measured
