import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_pages import sent_to


def page(section: str, changes: dict) -> None:
    """A section for the report that ships with the reverse model."""
    from dataclasses import replace

    from explorer.app.state import session
    from explorer.app.widgets import report_tables
    from explorer.core import folders
    from explorer.core.look import Look, Request, Selection
    from explorer.heads.reports.head_report import HeadReport

    report = HeadReport.load(folders.shipped_reports() / "reverse.json")
    session.save(Look(Request("reverse", "7 3 9"), Selection("cross", 1, 2)))
    report = replace(report, facts={**report.facts, **changes})
    getattr(report_tables, section)(report, "en")


def shown(section: str, **changes: object) -> AppTest:
    app = AppTest.from_function(page, default_timeout=60, args=(section, changes)).run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return " ".join(text.value for text in [*app.markdown, *app.caption]).replace("\\", "")


def test_metrics_are_a_matrix_and_a_table_of_every_head():
    app = shown("metrics")
    names = {one.proto.component_name for one in app.get("bidi_component")}
    assert names == {"attention_metric_matrix", "attention_words"}
    assert len(app.dataframe[0].value) == 24
    assert "entropy" in app.dataframe[0].value


def test_roles_open_with_the_evidence_for_the_selected_head():
    app = shown("roles")
    scores, evidence = (table.value for table in app.dataframe)
    assert len(scores) == 24
    hints = {
        name: one.get("help") for name, one in json.loads(app.dataframe[0].proto.columns).items()
    }
    assert hints["previous"].endswith(
        "✓: the lower end of its interval is 0.90 or more, and above chance where one is given."
    )
    assert "is 0.50 or more" in hints["sink"]
    assert len(evidence) < 12
    chart = json.loads(sent_to(app, "chart"))["chart"]
    assert [line["type"] for line in chart["data"]] == ["bar", "scatter"]
    assert "L1 H2: looks at the mirrored place" in texts(app).replace("**", "")


@pytest.mark.parametrize("measured", [True, False])
def test_removal_is_shown_only_where_it_was_measured(measured):
    app = shown("removal") if measured else shown("removal", ablation=None)
    assert len(app.dataframe) == measured
    assert len(app.info) == (not measured)
    assert ("without the most important head" in texts(app)) == measured
