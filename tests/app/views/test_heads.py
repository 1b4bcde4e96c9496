"""The Heads page without a browser."""

from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import weights_limit
from explorer.app.server import access, trace_route
from explorer.app.visitor_catalog import UploadsState
from explorer.core import folders
from explorer.core.interventions import Interventions
from explorer.core.look import SECTIONS
from explorer.model.catalog import UploadedTrace
from tests.support.app_pages import (
    FIRST_TEXT,
    chosen_in,
    head_view,
    open_page,
    sent_to,
    url_query,
)
from tests.support.example_traces import example_trace
from tests.support.payloads import unpack_payload

ROOT = Path(__file__).parents[3]
TEXT = "7 3 9 1 4 a b c"
EXPERIMENTS = {"text": TEXT, "part": "experiments"}


@pytest.fixture(autouse=True)
def nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has measured anything."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))


def outputs(app: AppTest) -> tuple[list[str], list[str]]:
    """What the model says without and with the interventions."""
    _, traces = head_view(app, "comparison")
    return traces["original"]["predicted"], traces["changed"]["predicted"]


def interventions(app: AppTest) -> list[str]:
    """The labels of the buttons that undo one."""
    return [button.label for button in app.button if str(button.key).startswith("undo-")]


def section(app: AppTest, name: str) -> AppTest:
    group = "section-en" if name in ("overview", "experiments", "compare") else "more-section-en"
    return chosen_in(app.segmented_control, group).set_value(name).run()


def pick(app: AppTest, **choices: object) -> AppTest:
    for name, value in choices.items():
        app = chosen_in(app.selectbox, f"heads-{name}-en").set_value(value).run()
    return app


def apply(app: AppTest) -> AppTest:
    return app.button(key="heads-add").click().run()


def test_the_page_opens_with_what_ships():
    app = open_page("heads")
    assert not app.exception
    assert not app.error
    header, traces = head_view(app, "head_grid")
    assert traces["trace"]["source"][:6] == FIRST_TEXT.split()
    assert header["heads"]["cross"][7]["roles"] == ["reverse=alignment"]
    assert "importance" in header["metrics"]


@pytest.mark.parametrize(
    ("name", "language"), list(zip(SECTIONS[1:], cycle(["en", "zh"]), strict=False))
)
def test_every_section_opens(name, language):
    app = open_page("heads", part=name, lang=language)
    assert not app.exception
    assert not app.error
    assert url_query(app)["part"] == name


def test_heads_are_removed_each_alone_or_one_after_another():
    app = section(open_page("heads"), "removal")
    assert chosen_in(app.segmented_control, "within-removal-en").value == "removal"
    app = chosen_in(app.segmented_control, "within-removal-en").set_value("pruning").run()
    assert not app.exception
    assert url_query(app)["part"] == "pruning"
    assert chosen_in(app.segmented_control, "more-section-en").value == "removal"
    app = section(app, "metrics")
    assert url_query(app)["part"] == "metrics"
    assert len(app.segmented_control) == 3  # with that of the language


def test_an_intervention_changes_the_output_is_in_the_url_and_is_undone():
    app = pick(
        section(open_page("heads", model="reverse", text=TEXT), "experiments"),
        verb="keep",
        layer=1,
        head=1,
    )
    before, same = outputs(app)
    assert before == same == ["c", "b", "a", "4", "1", "9", "3", "7", "<eos>"]
    app = apply(app)
    assert not app.error
    assert interventions(app) == ["keep only Cross L1 H1"]
    assert url_query(app)["do"] == "keep cross.1.1"
    before, after = outputs(app)
    assert before == same
    assert after != before
    again = open_page("heads", **url_query(app))
    assert outputs(again) == (before, after)
    app = app.button(key="undo-keep cross.1.1").click().run()
    assert interventions(app) == []
    assert "do" not in url_query(app)
    assert outputs(app) == (before, before)


def test_nothing_leaks_to_another_visitor_or_into_the_shared_model():
    mine = apply(pick(open_page("heads", **EXPERIMENTS), verb="keep", layer=1, head=1))
    yours = open_page("heads", **EXPERIMENTS)
    assert outputs(yours)[1] == outputs(mine)[0] != outputs(mine)[1]
    assert interventions(yours) == []
    player = sent_to(open_page(text=TEXT), "player")
    assert unpack_payload(player)[0]["predicted"] == outputs(mine)[0]


def test_a_mean_is_over_a_named_batch():
    app = apply(pick(section(open_page("heads"), "experiments"), layer=1, head=1, how="mean"))
    assert interventions(app) == ["remove Cross L1 H1 \\(mean\\)"]
    assert any(
        "Mean over reverse, held out" in text.value.replace("\\", "") for text in app.markdown
    )


def test_the_effect_is_measured_on_many_sentences():
    heads = ";".join(f"ablate cross.{layer}.{head}" for layer in range(2) for head in range(4))
    app = (
        open_page("heads", model="reverse", part="experiments", do=heads)
        .button(key="effect")
        .click()
        .run()
    )
    text = next(one.value for one in app.markdown if "64 sentences" in one.value)
    assert "Exact match 100.0\u00a0% → 0.0\u00a0%" in text.replace("\\", "")
    assert "right answers" in text
    assert "whole heads" not in text


def test_a_measured_effect_says_that_cells_do_not_count():
    done = "keep cross.1.1;close decoder.0.0 1 0"
    app = open_page("heads", part="experiments", do=done).button(key="effect").click().run()
    assert any("Only what is done to whole heads counts" in one.value for one in app.markdown)


def test_an_opened_later_position_is_called_counterfactual():
    app = pick(section(open_page("heads"), "experiments"), verb="open", site="decoder")
    app = apply(pick(app, layer=-1, head=-1, query=1, key=4))
    assert not app.error
    assert url_query(app)["do"] == "open decoder.*.* 1 4"
    assert any("counterfactual" in text.value for text in app.markdown)
    checks = {one["check"]: one for one in head_view(app, "comparison")[1]["changed"]["integrity"]}
    assert checks["cached_equals_full"]["expected"]


def test_a_bad_row_is_refused_and_the_typed_text_stays():
    app = pick(section(open_page("heads"), "experiments"), verb="row")
    app = apply(chosen_in(app.text_input, "heads-weights").set_value("0.5 nan").run())
    assert "no row" in app.error[0].value
    assert interventions(app) == []
    assert chosen_in(app.text_input, "heads-weights").value == "0.5 nan"
    assert outputs(app)[0] == outputs(app)[1]


def test_errors_of_a_row_count_as_the_page_does():
    app = pick(section(open_page("heads"), "experiments"), verb="row", site="decoder", query=1)
    keys = len(chosen_in(app.selectbox, "heads-query-en").options)
    for typed, words in {
        "0.5 0.5": f"This row has {keys} keys, and 2 weights were given",
        " ".join(["0"] * keys): "weights given for query 2 are no row",
        " ".join(["0"] * (keys - 1) + ["1"]): "weight given for query 2 lies on masked cells",
    }.items():
        app = apply(chosen_in(app.text_input, "heads-weights").set_value(typed).run())
        assert words in app.error[0].value.replace("\\", "")
        assert interventions(app) == []


def test_removing_everything_is_refused():
    every = [
        f"ablate {site}.{layer}.{head}"
        for site in ("encoder", "decoder", "cross")
        for layer in range(2)
        for head in range(4)
    ]
    app = open_page("heads", part="experiments", do=";".join(every[:-1]))
    assert not app.error
    app = apply(pick(app, site="cross", layer=1, head=3))
    assert "leave at least one" in app.error[0].value
    assert len(url_query(app)["do"].split(";")) == 23


def test_masking_a_whole_row_is_refused():
    app = open_page("heads", part="experiments", do="close decoder.0.0 1 0")
    app = apply(pick(app, verb="close", site="decoder", query=1, key=1))
    assert "at least one unmasked key" in app.error[0].value
    assert len(interventions(app)) == 1


def test_interventions_of_which_no_experiment_was_shown_do_not_wait_for_one():
    app = open_page("heads", part="roles")
    proposed = Interventions.parse(["ablate cross.1.2"])
    app.session_state["HeadsState"] = replace(app.session_state["HeadsState"], proposed=proposed)
    app = section(app.run(), "experiments")
    assert not app.session_state["Look"].request.interventions


def test_a_link_to_a_missing_head_says_so_and_shows_the_original():
    app = open_page("heads", part="experiments", do="ablate cross.9.9")
    assert "There is no head cross.9.9" in app.error[0].value.replace("\\", "")
    assert outputs(app)[0] == outputs(app)[1]
    assert not app.exception


@pytest.mark.parametrize("part", SECTIONS)
def test_a_link_to_a_head_that_the_model_lacks_says_so_in_every_section(part):
    place = {"layer": "1", "head": "99", "step": "77"}
    app = open_page("heads", model="reverse", text="7 3 9", part=part, **place)
    assert not app.exception
    assert [warning.value.replace("\\", "") for warning in app.warning] == [
        "Not all of this link could be followed; the default is shown for: head, step."
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
    said = ["Not all of this link could be followed; the default is shown for: head compared with."]
    assert [one.value for one in app.warning] == (said if named else [])
    assert ("other" in url_query(app)) is not named
    assert not app.run().warning


def test_a_language_that_there_is_not_is_said():
    app = open_page("heads", lang="xx")
    assert "default is shown for: language." in app.warning[0].value
    assert not open_page("heads", lang="zh").warning


def test_a_bad_text_leaves_the_picture():
    app = open_page("heads")
    app = chosen_in(app.text_input, "source-en").set_value("7 x 9").run()
    assert "“x”" in app.error[0].value
    assert head_view(app, "head_grid")[1]["trace"]["source"][:6] == FIRST_TEXT.split()
    assert chosen_in(app.text_input, "source-en").value == "7 x 9"


def test_a_text_that_a_linked_model_refuses_never_stands_over_another_model():
    app = open_page("heads", model="copy", text="7,3")
    (told,) = (error.value.replace("\\", "") for error in app.error)
    assert told.endswith("On screen: “7 3 9 1 4”, with the model “copy”.")
    assert head_view(app, "head_grid")[1]["trace"]["target"][1:3] == ["7", "3"]
    assert (url_query(app)["model"], url_query(app)["text"]) == ("copy", "7 3 9 1 4")


def test_another_model_has_other_heads():
    app = apply(pick(section(open_page("heads"), "experiments"), verb="keep", layer=1, head=1))
    app = chosen_in(app.selectbox, "model-en").set_value("sort").run()
    assert interventions(app) == []
    assert not app.exception


def test_a_trace_has_a_head_grid_and_nothing_to_measure():
    app = open_page("heads")
    mine = UploadedTrace("mine", "stamp", example_trace())
    app.session_state["UploadsState"] = UploadsState({"mine": mine})
    app = app.run().selectbox(key="model-en").set_value("mine").run()
    assert not app.exception
    assert "comes without its model" in app.info[0].value
    assert head_view(app, "head_grid")[0]["heads"] == {}


def test_a_class_gets_the_trace_of_the_grid_by_its_key(monkeypatch):
    """Also one about which nothing can be asked: guests have no other way to it."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    app = open_page("heads")
    mine = UploadedTrace("mine", "stamp of the class", example_trace())
    app.session_state["UploadsState"] = UploadsState({"mine": mine})
    app = app.run().selectbox(key="model-en").set_value("mine").run()
    header = head_view(app, "head_grid")[1]["trace"]
    assert header["visit"] is None
    key = header["resources"]["address"].removeprefix("trace/")
    offered = trace_route.offered_trace(key)
    assert offered is not None
    assert offered[0].target_tokens == example_trace().target_tokens


def test_the_visit_is_kept_between_the_pages():
    app = open_page("heads")
    app = chosen_in(app.text_input, "source-en").set_value("1 2 3").run()
    app.query_params.clear()
    app = app.switch_page("views/explore.py").run()
    assert chosen_in(app.text_input, "source-en").value == "1 2 3"


def initial_step(app: AppTest) -> int | None:
    """The step at which the grid of heads opens; None = the last."""
    return head_view(app, "head_grid")[1]["trace"]["view"]["step"]


def test_heads_opens_at_the_step_of_explore():
    opened = open_page()
    step = unpack_payload(sent_to(opened, "player"))[0]["view"]["step"]
    assert initial_step(open_page("heads")) == step
    chosen = open_page("heads", text=TEXT, site="cross", layer="0", head="1", step="3")
    assert initial_step(chosen) == 3


def test_the_large_map_opens_whole_as_the_grid_beside_it_unless_the_visitor_hides_rows():
    for query, shown in (({}, True), ({"ahead": "0"}, False), ({"ahead": "1"}, True)):
        app = open_page("heads", text=TEXT, step="3", **query)
        assert head_view(app, "head_grid")[1]["trace"]["view"]["ahead"] is shown


def test_the_form_and_the_picture_of_experiments_show_the_same_head():
    app = open_page("heads", **EXPERIMENTS)
    shown = unpack_payload(sent_to(app, "comparison"))
    view = head_view(app, "comparison")[1]["original"]["view"]
    form = {name: chosen_in(app.selectbox, f"heads-{name}-en").value for name in ("layer", "head")}
    assert form == {name: view[name] for name in ("layer", "head")}
    app = pick(app, layer=0, head=3)
    assert sent_to(app, "comparison") != shown
    view = head_view(app, "comparison")[1]["original"]["view"]
    assert (view["site"], view["layer"], view["head"]) == ("cross", 0, 3)


def places(app: AppTest) -> set[tuple[str, int, int]]:
    """The heads that form and picture of an experiment are at."""
    assert not app.exception
    view = head_view(app, "comparison")[1]["original"]["view"]
    names = ("site", "layer", "head")
    form = [chosen_in(app.selectbox, f"heads-{name}-en").value for name in names]
    return {tuple(form), tuple(view[name] for name in names)}


DEEP = {"model": "english-french", "text": "I see him.", "part": "experiments"}
"""Of a model in which a head of a lower layer changes those above it."""


def test_an_experiment_and_its_undoing_leave_form_and_picture_at_their_head():
    app = open_page("heads", **DEEP)
    opened = places(app)
    assert len(opened) == 1
    app = apply(app)
    assert len(interventions(app)) == 1
    assert places(app) == opened
    (undo,) = (button for button in app.button if str(button.key).startswith("undo-"))
    app = undo.click().run()
    assert interventions(app) == []
    assert places(app) == opened


def test_the_most_changed_head_is_one_press_away():
    app = apply(open_page("heads", **DEEP))
    (head,) = places(app)
    app = app.button(key="show-changed").click().run()
    (changed,) = places(app)
    assert changed != head
    linked = open_page("heads", **DEEP, do="ablate {}.{}.{}".format(*head))
    view = head_view(linked, "comparison")[1]["original"]["view"]
    assert changed == (view["site"], view["layer"], view["head"])
    assert "show-changed" not in {button.key for button in app.button}


def test_a_link_without_a_head_opens_on_one_that_changes():
    app = open_page("heads", **EXPERIMENTS, do="ablate encoder.0.0")
    _, arrays = unpack_payload(sent_to(app, "comparison"))
    traces = head_view(app, "comparison")[1]
    view = traces["original"]["view"]
    difference = arrays[f"difference.{view['site']}"].reshape(2, 4, -1)
    most = max(abs(arrays[f"difference.{site}"]).max() for site in ("encoder", "decoder", "cross"))
    assert abs(difference[view["layer"], view["head"]]).max() == most > 0
    assert traces["changed"]["sites"]["encoder"]["removed"] == [[0, 0, "zero"]]


def test_every_section_has_the_integrity_of_the_trace():
    for name in ("metrics", "roles", "removal"):
        app = open_page("heads", part=name)
        assert any("✓ rows sum to 1" in one.value for one in app.caption), name


@pytest.mark.parametrize("part", ["experiments", "norms"])
def test_a_section_that_needs_every_weight_is_refused_with_the_grid_instead(part, monkeypatch):
    monkeypatch.setattr(weights_limit, "MOST_CELLS", 10)
    app = open_page("heads", part=part)
    assert not app.exception
    assert "value norms show at most 10" in app.error[0].value
    assert sent_to(app, "head_grid")
