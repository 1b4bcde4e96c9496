from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from explorer.app.widgets.intervention_editor import intervention_text, named_as_here
from explorer.core.errors import InterventionError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.heads.removal import counterfactuals
from tests.support.app_pages import head_view, open_page, url_query
from tests.support.example_traces import example_trace

CHANGES = {"model": "reverse", "text": "7 3 9", "part": "compare", "with": "@changes"}


def typed(app: AppTest, line: str) -> AppTest:
    app = app.text_input(key="compare-typed").set_value(line).run()
    assert not app.exception
    return app


def in_force(app: AppTest) -> list[str]:
    return list(app.session_state["Look"].request.interventions.texts())


def test_typed_changes_are_in_the_url_and_undone_one_by_one_and_all():
    app = typed(open_page("heads", **CHANGES), "ablate cross.1.2")
    assert head_view(app, "model_comparison")[0]["outputs"][0] == ["9", "3", "7", "<eos>"]
    assert in_force(app) == ["ablate cross.1.2"]
    assert app.text_input(key="compare-typed").value == ""
    app = typed(app, " keep decoder.0.1; override-row cross.1.1 2 0.5, 0 0.5 ;")
    assert not app.error
    lines = ["ablate cross.1.2", "keep decoder.0.1", "row cross.1.1 2 0.5,0,0.5"]
    assert in_force(app) == lines
    assert url_query(app)["do"] == ";".join(lines)
    assert in_force(typed(app, lines[0])) == lines  # once
    app = app.button(key="undo-keep decoder.0.1").click().run()
    assert in_force(app) == [lines[0], lines[2]]
    app = app.button(key="undo-all").click().run()
    assert in_force(app) == []
    assert "undo-all" not in {button.key for button in app.button}


def test_a_row_that_is_set_again_is_replaced():
    app = open_page("heads", **CHANGES)
    for line in ("row cross.1.1 2 1", "row cross.1.1 1 1", "row cross.1.1 2 0 1"):
        app = typed(app, line)
    assert in_force(app) == ["row cross.1.1 1 1", "row cross.1.1 2 0,1"]


def test_a_line_may_begin_with_a_capital_and_its_head_is_shown():
    app = typed(open_page("heads", **CHANGES), "Ablate cross.0.3; omit positions")
    assert in_force(app) == ["ablate cross.0.3", "omit positions"]
    view = head_view(app, "model_comparison")[1]["original"]["view"]
    assert (view["site"], view["layer"], view["head"]) == ("cross", 0, 3)
    app = typed(app, "keep encoder.*.*")  # no single head: the picture stays
    view = head_view(app, "model_comparison")[1]["original"]["view"]
    assert (view["site"], view["layer"], view["head"]) == ("cross", 0, 3)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("remove cross.1.2", "“remove cross.1.2” is no intervention; write it like ablate"),
        ("ablate cross.1.9", "There is no head cross.1.9"),
        ("row cross.1.1 2 x y", "“row cross.1.1 2 x y” is no intervention; write it like"),
        ("row cross.1.1 2 0.5 nan", "The weights given for query 3 are no row"),
        ("row cross.1.1 1 0 0 0", "The weights given for query 2 are no row"),
        ("row decoder.0.0 1 0 0 0 1", "weight given for query 2 lies on masked cells"),
        ("row cross.0.0 1 " + "1 " * 30, "Too many weights for a row of “cross”: 30 given, 4 keys"),
        ("mask decoder.0.0 0 0", "at least one unmasked key"),
        ("keep cross.1.2", "Head Cross L1 H2 cannot be both"),
        ("draw 9 7", "0.1 to 5"),
        ("ablate cross.1.1; ablate cross.0.x", "“ablate cross.0.x” is no intervention"),
    ],
)
def test_a_line_that_is_refused_stays_and_changes_nothing(line, sentence):
    app = typed(open_page("heads", **CHANGES, do="ablate cross.1.2"), line)
    assert len(app.error) == 1
    assert sentence in app.error[0].value.replace("\\", "")
    assert in_force(app) == ["ablate cross.1.2"]
    assert app.text_input(key="compare-typed").value == line
    app = app.run()
    assert not app.error
    assert app.text_input(key="compare-typed").value == line


def test_removing_everything_is_refused():
    every = [
        f"ablate {site}.{layer}.{head}"
        for site in ("encoder", "decoder", "cross")
        for layer in range(2)
        for head in range(4)
    ]
    app = open_page("heads", **CHANGES, do=";".join(every[:-1]))
    assert not app.error
    app = typed(app, every[-1])
    assert "leave at least one" in app.error[0].value
    assert in_force(app) == every[:-1]


def test_more_changes_than_a_link_takes_are_refused():
    lines = [f"close decoder.0.{head} {query} 0" for head in range(4) for query in range(1, 7)]
    link = CHANGES | {"text": "7 3 9 1 4 a b c"}
    app = typed(open_page("heads", **link, do=";".join(lines)), "ablate cross.1.2")
    assert "At most 24 changes at a time" in app.error[0].value
    assert in_force(app) == lines


def test_a_typed_change_is_computed_once(monkeypatch):
    computed = []
    compare = counterfactuals.compare_traces

    def counted(*given):
        computed.append(compare(*given))
        return computed[-1]

    monkeypatch.setattr(counterfactuals, "compare_traces", counted)
    typed(open_page("heads", **CHANGES | {"text": "4 4 7 3 9"}), "ablate cross.1.0")
    assert len(computed) == 1


def test_a_change_reaches_no_other_visitor():
    mine = typed(open_page("heads", **CHANGES), "keep cross.1.1")
    yours = open_page("heads", **CHANGES)
    mine, yours = (head_view(app, "model_comparison")[0]["outputs"] for app in (mine, yours))
    assert yours[0] == yours[1] == mine[0] != mine[1]


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


def test_a_refused_intervention_names_its_head_as_the_page_does():
    with pytest.raises(InterventionError) as refused:
        Interventions.gather(ablate=[("cross", 1, 7)], keep=[("cross", 1, 7)])
    named = named_as_here(refused.value, "zh")
    assert say("errors.kept_and_removed", "zh", **named.facts).startswith("头 交叉 L1 H7 ")
