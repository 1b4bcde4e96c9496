"""The Heads page without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import weights_limit
from explorer.app.server import access, trace_route
from explorer.app.visitor_catalog import Uploads
from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.look import SECTIONS
from explorer.model.catalog import UploadedTrace
from tests.support.app_pages import (
    FIRST_TEXT,
    asked_in_bar,
    asked_visit,
    chosen_in,
    head_view,
    open_page,
    picture_of,
    sent_to,
    sent_to_bar,
    url_query,
)
from tests.support.example_traces import example_trace

ROOT = Path(__file__).parents[3]
TEXT = "7 3 9 1 4 a b c"


@pytest.fixture(autouse=True)
def nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has measured anything."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def section(app: AppTest, name: str) -> AppTest:
    group = "section-en" if name in ("overview", "compare") else "more-section-en"
    return chosen_in(app.segmented_control, group).set_value(name).run()


def test_the_page_opens_with_what_ships():
    app = open_page("heads")
    assert not app.exception
    assert not app.error
    header, traces = head_view(app, "head_grid")
    assert traces["trace"]["source"][:6] == FIRST_TEXT.split()
    assert header["heads"]["cross"][7]["roles"] == ["reverse=alignment"]
    assert "importance" in header["metrics"]


def test_a_link_to_experiments_opens_the_comparison_with_its_changes():
    app = open_page("heads", part="experiments", do="ablate cross.1.2")
    assert not app.error
    assert ["Make changes with Edit on Explore" in one.value for one in app.info] == [True]
    expected = {"part": "compare", "with": "@changes", "do": "ablate cross.1.2"}
    assert expected.items() <= url_query(app).items()
    changed = head_view(app, "model_comparison")[1]["changed"]
    assert changed["sites"]["cross"]["removed"] == [[1, 2, "zero"]]
    assert not app.run().info  # said once


@pytest.mark.parametrize("part", SECTIONS)
def test_a_link_to_a_head_that_the_model_lacks_says_so_in_every_section(part):
    place = {"layer": "1", "head": "99", "step": "77"}
    app = open_page("heads", model="reverse", text="7 3 9", part=part, **place)
    assert not app.exception
    assert [warning.value.replace("\\", "") for warning in app.warning] == [
        say("explore.link_refused", parts="head, step")
    ]
    assert "head" not in url_query(app)
    assert not app.run().warning  # said once


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"other": "1.3"}, False),
        ({"other": "99.99"}, True),
        ({"other": "2.0"}, True),
        ({"other": "0.4", "site": "encoder"}, True),
        ({"other": "0.4", "with": "@changes", "do": "ablate cross.1.2"}, True),
    ],
)
def test_a_second_head_that_the_other_side_lacks_is_said(query, named):
    app = open_page("heads", model="reverse", part="compare", **{"with": "sort"} | query)
    assert not app.exception
    said = [say("explore.link_refused", parts="head compared with")]
    assert [one.value for one in app.warning] == (said if named else [])
    assert ("other" in url_query(app)) is not named
    assert not app.run().warning


def test_a_language_that_there_is_not_is_said():
    app = open_page("heads", lang="xx")
    assert "default is shown for: language." in app.warning[0].value
    assert not open_page("heads", lang="zh").warning


def test_a_bad_text_leaves_the_picture():
    app = open_page("heads")
    app = asked_in_bar(app, text="7 x 9")
    assert "“x”" in app.error[0].value
    assert head_view(app, "head_grid")[1]["trace"]["source"][:6] == FIRST_TEXT.split()
    assert sent_to_bar(app)["request"]["text"] == "7 x 9"


def test_a_text_that_a_linked_model_refuses_never_stands_over_another_model():
    app = open_page("heads", model="copy", text="7,3")
    (told,) = (error.value.replace("\\", "") for error in app.error)
    assert told.endswith("On screen: “7 3 9 1 4”, with the model “copy”.")
    assert head_view(app, "head_grid")[1]["trace"]["target"][1:3] == ["7", "3"]
    assert (url_query(app)["model"], url_query(app)["text"]) == ("copy", "7 3 9 1 4")


def test_another_model_has_other_heads():
    app = open_page("heads", part="compare", do="keep cross.1.1", **{"with": "@changes"})
    assert not app.error
    app = asked_in_bar(app, model="sort")
    assert "do" not in url_query(app)
    assert not app.exception


def test_a_trace_has_a_head_grid_and_nothing_to_measure():
    app = open_page("heads")
    mine = UploadedTrace("mine", "stamp", example_trace())
    app.session_state["Uploads"] = Uploads(members={"mine": mine})
    app = asked_in_bar(app.run(), model="mine")
    assert not app.exception
    assert "comes without its model" in app.info[0].value
    assert head_view(app, "head_grid")[0]["heads"] == {}


def test_a_class_gets_the_trace_of_the_grid_by_its_key(monkeypatch):
    """Also one about which nothing can be asked: guests have no other way to it."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    app = open_page("heads")
    mine = UploadedTrace("mine", "stamp of the class", example_trace())
    app.session_state["Uploads"] = Uploads(members={"mine": mine})
    app = asked_in_bar(app.run(), model="mine")
    header = head_view(app, "head_grid")[1]["trace"]
    assert header["visit"] is None
    key = header["resources"]["address"].removeprefix("trace/")
    offered = trace_route.offered_trace(key)
    assert offered is not None
    assert offered[0].target_tokens == example_trace().target_tokens


def test_the_visit_is_kept_between_the_pages():
    app = open_page("heads")
    app = asked_in_bar(app, text="1 2 3")
    app.query_params.clear()
    app = app.switch_page("views/explore.py").run()
    assert asked_visit(app)["text"] == "1 2 3"


def initial_step(app: AppTest) -> int | None:
    """The step at which the grid of heads opens; None = the last."""
    return head_view(app, "head_grid")[1]["trace"]["view"]["step"]


def test_heads_opens_at_the_step_of_explore():
    step = picture_of()[0]["view"]["step"]
    assert initial_step(open_page("heads")) == step
    chosen = open_page("heads", text=TEXT, site="cross", layer="0", head="1", step="3")
    assert initial_step(chosen) == 3


def test_the_large_map_opens_whole_as_the_grid_beside_it_unless_the_visitor_hides_rows():
    for query, shown in (({}, True), ({"ahead": "0"}, False), ({"ahead": "1"}, True)):
        app = open_page("heads", text=TEXT, step="3", **query)
        assert head_view(app, "head_grid")[1]["trace"]["view"]["ahead"] is shown


def test_every_section_has_the_integrity_of_the_trace():
    for name in ("metrics", "removal"):
        app = open_page("heads", part=name)
        assert any("✓ rows sum to 1" in one.value for one in app.caption), name


def test_a_section_that_needs_every_weight_is_refused_with_the_grid_instead(monkeypatch):
    monkeypatch.setattr(weights_limit, "MOST_CELLS", 10)
    app = open_page("heads", part="compare")
    assert not app.exception
    assert "comparisons show at most 10" in app.error[0].value
    assert sent_to(app, "head_grid")
