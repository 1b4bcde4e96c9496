from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import experiment_cache
from explorer.app.widgets.intervention_editor import intervention_text, named_as_here
from explorer.core.errors import InterventionError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from tests.support.app_pages import chosen_in
from tests.support.example_traces import example_trace


def page() -> None:
    """The editor for the shipped reverse model on one text."""
    import streamlit as st

    from explorer.app import model_cache
    from explorer.app.state import heads as heads_state
    from explorer.app.state import session
    from explorer.app.widgets.intervention_editor import (
        computed_experiment,
        draft_row,
        intervention_list,
    )
    from explorer.app.widgets.messages import show_reported
    from explorer.core.look import Look, Request
    from explorer.model.catalog import shipped_models

    request = Request("reverse", "7 3 9")
    if session.find(Look) is None:
        session.save(Look(request))
    heads_state.remember_shown(request)
    model = shipped_models()["reverse"]
    trace = model_cache.greedy_trace(model, request)
    st.session_state["compared"] = computed_experiment(model, "en", st.container())
    draft_row(trace, "en")
    intervention_list(trace, "en")
    show_reported("en", st.container())


def opened() -> AppTest:
    return AppTest.from_function(page, default_timeout=60).run()


def choose(app: AppTest, **choices: object) -> AppTest:
    for name, value in choices.items():
        app = chosen_in(app.selectbox, f"heads-{name}-en").set_value(value).run()
    return app


def in_force(app: AppTest) -> list[str]:
    assert not app.exception
    return [str(one) for one in app.session_state["Look"].request.interventions]


def shown_fields(app: AppTest) -> set[str]:
    return {str(box.key).split("-")[1] for box in app.selectbox}


def test_each_kind_of_intervention_has_its_own_fields():
    app = opened()
    assert shown_fields(app) == {"verb", "site", "layer", "head", "how"}
    assert shown_fields(choose(app, verb="keep")) == {"verb", "site", "layer", "head"}
    app = choose(app, verb="close")
    assert shown_fields(app) == {"verb", "site", "layer", "head", "query", "key"}
    assert chosen_in(app.selectbox, "heads-head-en").options[-1] == "all"
    app = choose(app, verb="row")
    assert shown_fields(app) == {"verb", "site", "layer", "head", "query"}
    assert [box.key for box in app.text_input] == ["heads-weights"]


def test_interventions_are_applied_and_undone_one_by_one_and_all():
    app = choose(opened(), site="cross", layer=1, head=2)
    app = app.button(key="heads-add").click().run()
    app = choose(app, head=0).button(key="heads-add").click().run()
    app = choose(app, head=3).button(key="heads-add").click().run()
    assert set(in_force(app)) == {f"ablate cross.1.{head}" for head in (0, 2, 3)}
    app = app.button(key="undo-ablate cross.1.2").click().run()
    assert set(in_force(app)) == {"ablate cross.1.0", "ablate cross.1.3"}
    app = app.button(key="undo-all").click().run()
    assert in_force(app) == []
    assert "undo-all" not in {button.key for button in app.button}


def test_an_intervention_that_cannot_be_computed_is_reported_and_not_in_force():
    app = choose(opened(), verb="row")
    app = chosen_in(app.text_input, "heads-weights").set_value("x y").run()
    app = app.button(key="heads-add").click().run()
    assert in_force(app) == []
    assert len(app.error) == 1
    assert chosen_in(app.text_input, "heads-weights").value == "x y"


def test_an_experiment_is_computed_once_and_what_was_computed_is_shown(monkeypatch):
    shown = []
    experiment = experiment_cache.experiment

    def counted(*given):
        shown.append(experiment(*given))
        return shown[-1]

    monkeypatch.setattr(experiment_cache, "experiment", counted)
    app = choose(opened(), site="cross", layer=1, head=2).button(key="heads-add").click().run()
    assert in_force(app) == ["ablate cross.1.2"]
    assert len(shown) == 1
    assert app.session_state["compared"] is shown[0]


def test_interventions_that_the_model_refuses_leave_those_in_force_and_the_draft():
    app = choose(opened(), site="cross", layer=1, head=2).button(key="heads-add").click().run()
    before = app.session_state["compared"]
    app = choose(app, verb="close", site="decoder", query=0, key=0)
    app = app.button(key="heads-add").click().run()
    assert "at least one unmasked key" in app.error[0].value
    assert in_force(app) == ["ablate cross.1.2"]
    assert app.session_state["compared"] is before
    assert chosen_in(app.selectbox, "heads-verb-en").value == "close"
    app = app.run()
    assert not app.error


def test_an_intervention_is_named_by_what_it_does_and_where():
    lines = ["ablate cross.1.2", "close decoder.*.* 3 0", "open encoder.0.1 1 2", "keep cross.0.0"]
    more = [*lines, "row cross.1.3 2 1,0", "close encoder.0.1 1 2"]
    by_line = {line: named(line, example_trace()) for line in more}
    assert len(set(by_line.values())) == len(more)
    assert "L1 H2" in by_line["ablate cross.1.2"]
    assert "all layers" in by_line["close decoder.*.* 3 0"]


def test_the_layers_of_a_hybrid_are_named_by_their_numbers():
    trace = replace(example_trace(), facts={"layer_numbers": {"cross": [3, 7]}})
    assert "L7 H2" in named("ablate cross.1.2", trace)
    assert "L9 H2" in named("ablate cross.9.2", trace)
    assert "L1 H2" in named("ablate decoder.1.2", trace)


def named(line: str, trace: Trace) -> str:
    (one,) = Interventions.parse([line])
    return intervention_text(one, trace, "en")


def test_a_drawing_is_named_with_what_restricts_it():
    trace = example_trace()
    whole = "drawn at temperature 0.8, seed 7"
    assert named("draw 0.8 7", trace) == whole
    assert named("draw 0.8 7 p=0.9", trace) == f"{whole}, top-p 0.9"
    assert named("draw 0.8 7 k=40 p=0.9", trace) == f"{whole}, top-k 40, top-p 0.9"


def test_a_choice_that_is_not_offered_is_left_out():
    app = choose(opened(), verb="close")
    for field in ("verb", "site", "layer", "head", "query", "key"):
        box = chosen_in(app.selectbox, f"heads-{field}-en")
        shown = box.value
        box.options[0] = "../../etc/passwd"  # what a connection may report instead
        app = box.select_index(0).run()
        assert not app.exception
        assert chosen_in(app.selectbox, f"heads-{field}-en").value == shown


def test_a_refused_intervention_names_its_head_as_the_page_does():
    with pytest.raises(InterventionError) as refused:
        Interventions.gather(ablate=[("cross", 1, 7)], keep=[("cross", 1, 7)])
    named = named_as_here(refused.value, "zh")
    assert say("errors.kept_and_removed", "zh", **named.facts).startswith("头 交叉 L1 H7 ")
