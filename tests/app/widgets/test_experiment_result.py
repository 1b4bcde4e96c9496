from streamlit.testing.v1 import AppTest


def page(lines: list[str]) -> None:
    """What these interventions change in one text of the shipped reverse model."""
    from dataclasses import replace

    from explorer.app import experiment_cache
    from explorer.app.state import session
    from explorer.app.widgets.experiment_result import steps_table, summary
    from explorer.core.interventions import Interventions
    from explorer.core.look import Look, Request
    from explorer.model.catalog import shipped_models

    model, request = shipped_models()["reverse"], Request("reverse", "7 3 9")
    interventions = Interventions.parse(lines)
    session.save(Look(replace(request, interventions=interventions)))
    compared = experiment_cache.experiment(model, request, interventions)
    summary(model, compared, "en")
    steps_table(compared, "en")


def shown(*lines: str) -> AppTest:
    app = AppTest.from_function(page, default_timeout=60, args=(list(lines),)).run()
    assert not app.exception
    return app


def summary_of(app: AppTest) -> str:
    return app.markdown[0].value.replace("\\", "").replace("\u2060", "")


def test_the_table_has_both_outputs_and_the_summary_says_whether_they_are_equal():
    app = shown("keep encoder.0.0", "keep decoder.0.0", "keep cross.0.1")
    steps = app.dataframe[0].value
    assert steps.original.tolist() == ["9", "3", "7", "eos"] + [""] * (len(steps) - 4)
    assert steps.same.tolist() == (steps.original == steps.changed).tolist()
    assert not steps.same.all()
    same = shown("ablate encoder.0.0")
    assert same.dataframe[0].value.same.all()
    assert summary_of(app).split()[:3] != summary_of(same).split()[:3]


def test_an_output_that_changes_by_rounding_alone_is_the_same_and_as_sure():
    """Without this head the ln probability changes by less than a millionth."""
    app = shown("ablate cross.1.1")
    steps = app.dataframe[0].value
    assert 0 < steps.log_probability.abs().sum() < 1e-4
    assert summary_of(app) == "Same output, just as sure as before."


def test_a_mean_names_its_batch_and_an_unmasked_later_position_is_called_counterfactual():
    assert "held out" not in summary_of(shown("ablate cross.1.2"))
    assert "held out" in summary_of(shown("ablate cross.1.2 mean"))
    assert "counterfactual" in summary_of(shown("open decoder.*.* 0 2")).lower()


def test_only_removed_heads_can_be_measured_on_many_sentences():
    assert [button.key for button in shown("close encoder.0.0 0 1").button] == []
    app = shown("ablate cross.1.2", "close encoder.0.0 0 1")
    assert len(app.markdown) == 1
    app = app.button(key="effect").click().run()
    assert not app.exception
    assert len(app.markdown) == 2
