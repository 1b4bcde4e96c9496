"""Two models, texts or moments of a training compared on the page Heads."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer import load
from explorer.core.i18n import say
from tests.support.app_pages import chosen_in, head_view, open_page, url_query

TEXT = "7 3 9 1 4 a b c"
COMPARED = {"model": "reverse", "text": TEXT, "part": "compare"}


def shown_texts(app: AppTest) -> str:
    """All paragraphs, without escapes."""
    return " ".join(one.value for one in app.markdown).replace("\\", "")


def test_two_models_are_compared_and_the_choice_is_in_the_url():
    app = open_page("heads", **COMPARED)
    assert not app.exception
    assert not app.error
    choice = chosen_in(app.selectbox, "compare-with-en")
    assert choice.value == "@text"
    assert choice.options[:2] == ["another text in this model", "this text + my changes"]
    assert choice.options[2].startswith("reverse-almost")  # the first model of the same task
    assert len(choice.options) == 9  # four models, a text, interventions, the recorded runs
    app = choice.set_value("sort").run()
    assert url_query(app)["with"] == "sort"
    header, traces = head_view(app, "model_comparison")
    assert header["names"] == ["reverse", "sort"]
    assert header["outputs"][1][:3] == ["1", "3", "4"]
    assert traces["changed"]["target"] == traces["original"]["target"]
    assert "sort writes “1 3 4 7 9 a b c”" in shown_texts(app)
    table = app.dataframe[0].value
    assert len(table) == 24
    assert table.similarity.between(0, 1).all()
    again = open_page("heads", **url_query(app))
    assert head_view(again, "model_comparison")[0]["names"] == ["reverse", "sort"]


def test_models_that_say_the_same_are_said_to():
    app = open_page("heads", **{**COMPARED, "text": "7 3 7", "with": "copy"})
    assert say("heads.compare_same").rstrip(".") in shown_texts(app)


def test_a_pair_of_a_link_is_shown_first():
    link = {**COMPARED, "site": "cross", "layer": "1", "head": "2", "other": "0.3"}
    app = open_page("heads", **link)
    header, traces = head_view(app, "model_comparison")
    assert header["pair"] == [0, 3]
    assert traces["original"]["view"]["head"] == 2
    assert url_query(app)["other"] == "0.3"


def test_a_model_of_other_tokens_gives_way_to_another_text_with_one_sentence():
    app = open_page("heads", **COMPARED, **{"with": "english-french"})
    assert len(app.error) == 1
    assert "english\\-french" in app.error[0].value
    assert chosen_in(app.selectbox, "compare-with-en").value == "@text"
    assert not app.run().error  # said once


def test_a_model_that_does_not_exist_is_refused_with_one_sentence():
    app = open_page("heads", **COMPARED, **{"with": "nonsense"})
    assert [warning.value for warning in app.warning] == [
        say("explore.link_refused", parts="model compared with")
    ]
    assert chosen_in(app.selectbox, "compare-with-en").value == "@text"


@pytest.mark.parametrize("model", ["chinese-english", "english-french", "english", "induction"])
def test_another_text_is_compared_first(model):
    app = open_page("heads", model=model, part="compare")
    assert not app.exception
    assert chosen_in(app.selectbox, "compare-with-en").value == "@text"
    assert not app.error
    header, _ = head_view(app, "model_comparison")
    assert header["rule"] == "same"
    assert header["names"][0] != header["names"][1]


def test_another_text_is_compared_position_by_position_and_is_in_the_url():
    app = open_page("heads", part="compare", text="1 2 3", pad="0", other_text="3 2 1")
    assert not app.exception
    assert not app.error
    query = url_query(app)
    assert query["other_text"] == "3 2 1"
    assert "with" not in query
    header, traces = head_view(app, "model_comparison")
    assert header["names"] == ["“1 2 3”", "“3 2 1”"]
    assert not header["given"]
    assert traces["changed"]["source"] == ["3", "2", "1", "<eos>"]
    said = shown_texts(app)
    assert "“1 2 3” gives “3 2 1”. “3 2 1” gives “1 2 3”." in said
    captions = " ".join(one.value for one in app.caption).replace("\\", "")
    assert "beside it the same head." in captions
    assert say("heads.gold_of_text") in captions
    app = chosen_in(app.text_input, "compare-text-en").set_value("2 2 2").run()
    assert url_query(app)["other_text"] == "2 2 2"
    assert head_view(app, "model_comparison")[1]["changed"]["source"][:3] == ["2", "2", "2"]


def test_the_outputs_of_two_texts_are_whole_although_only_a_part_is_compared():
    texts = {"text": "The black cat is asleep.", "other_text": "The white cat is asleep."}
    app = open_page("heads", part="compare", model="english-french", pad="0", **texts)
    assert not app.exception
    header, traces = head_view(app, "model_comparison")
    whole = [load("english-french").trace(text).predicted_tokens for text in texts.values()]
    assert len(whole[0]) != len(whole[1])
    assert header["outputs"] == [list(tokens) for tokens in whole]
    assert len(traces["original"]["predicted"]) == min(map(len, whole))


@pytest.mark.parametrize(("text", "language"), [("1 2", "en"), ("1 2 nonsense", "zh")])
def test_another_text_that_does_not_fit_is_one_sentence(text, language):
    app = open_page("heads", part="compare", text="1 2 3", other_text=text, lang=language)
    assert not app.exception
    assert len(app.error) == 1
    assert not app.dataframe
    box = chosen_in(app.text_input, f"compare-text-{language}")
    app = box.set_value("").run()
    assert not app.error
    assert say("heads.other_text_empty", language) in [
        one.value.replace("\\", "") for one in app.info
    ]
    assert url_query(app)["other_text"] == "3 2 1"


def test_equal_texts_are_said_before_anything_else():
    app = open_page("heads", part="compare", text="1 2 3", other_text="1 2 3")
    assert not app.exception
    assert say("heads.compare_equal_texts") in shown_texts(app)
    assert "gives" not in shown_texts(app)


def test_a_head_that_a_link_names_is_not_explained():
    link = {"part": "compare", "text": "1 2 3", "other_text": "3 2 1"}
    assert "Shown first" in " ".join(one.value for one in open_page("heads", **link).caption)
    app = open_page("heads", **link, site="cross", layer="0", head="1")
    assert "Shown first" not in " ".join(one.value for one in app.caption)


def test_the_text_without_and_with_interventions_is_compared():
    link = {"model": "reverse", "part": "compare", "text": TEXT, "with": "@changes"}
    app = open_page("heads", **link, do="ablate cross.1.2")
    assert not app.exception
    assert not app.error
    header, traces = head_view(app, "model_comparison")
    assert header["names"] == ["without", "with interventions"]
    assert traces["changed"]["target"] == traces["original"]["target"]
    assert url_query(app)["with"] == "@changes"


CHANGES = {"model": "reverse", "part": "compare", "text": TEXT, "with": "@changes"}


def test_a_text_with_changes_opens_beside_itself_at_the_changed_head():
    """As after *Edit* on Explore, whose link names no comparison."""
    link = {"model": "reverse", "part": "compare", "text": TEXT, "do": "ablate encoder.1.3"}
    app = open_page("heads", **link)
    assert url_query(app)["with"] == "@changes"
    view = head_view(app, "model_comparison")[1]["original"]["view"]
    assert (view["site"], view["layer"], view["head"]) == ("encoder", 1, 3)


def test_without_a_change_both_sides_are_alike_and_one_sentence_says_how_to_make_one():
    app = open_page("heads", **CHANGES)
    assert not app.exception
    assert not app.error
    assert any(say("heads.no_changes") in one.value for one in app.caption)
    assert url_query(app)["with"] == "@changes"
    header, traces = head_view(app, "model_comparison")
    assert header["outputs"][0] == header["outputs"][1] == [*reversed(TEXT.split()), "<eos>"]
    assert traces["original"]["target"] == traces["changed"]["target"]
    assert "Same output" not in shown_texts(app)


def test_changes_that_the_model_refuses_say_so_and_can_be_undone():
    app = open_page("heads", **CHANGES, do="ablate cross.9.9")
    assert not app.exception
    assert "There is no head cross.9.9" in app.error[0].value.replace("\\", "")
    header = head_view(app, "model_comparison")[0]
    assert header["outputs"][0] == header["outputs"][1]
    app = app.button(key="undo-ablate cross.9.9").click().run()
    assert not app.error
    assert "do" not in url_query(app)


def test_an_output_that_changes_by_rounding_alone_is_the_same_and_as_sure():
    """Without this head the ln probability changes by less than a millionth."""
    app = open_page("heads", **{**CHANGES, "text": "7 3 9"}, do="ablate cross.1.1")
    assert "Same output, just as sure as before." in shown_texts(app)


def test_a_mean_names_its_batch_and_an_unmasked_later_position_is_called_counterfactual():
    app = open_page("heads", **CHANGES, do="ablate cross.1.2")
    assert "held out" not in shown_texts(app)
    assert say("heads.counterfactual") not in shown_texts(app)
    app = open_page("heads", **CHANGES, do="ablate cross.1.2 mean;open decoder.*.* 1 4")
    assert not app.error
    assert "Mean over reverse, held out" in shown_texts(app)
    assert say("heads.counterfactual") in shown_texts(app)
    checks = head_view(app, "model_comparison")[1]["changed"]["integrity"]
    assert {one["check"]: one for one in checks}["cached_equals_full"]["expected"]


def test_the_effect_is_measured_on_many_sentences():
    heads = ";".join(f"ablate cross.{layer}.{head}" for layer in range(2) for head in range(4))
    app = open_page("heads", **CHANGES, do=heads).button(key="effect").click().run()
    assert "64 sentences" in shown_texts(app)
    assert "Exact match 100.0\u00a0% → 0.0\u00a0%" in shown_texts(app)
    assert "right answers" in shown_texts(app)
    assert "whole heads" not in shown_texts(app)


def test_only_removed_heads_are_measured_on_many_sentences():
    app = open_page("heads", **CHANGES, do="close decoder.0.0 1 0")
    assert "effect" not in {button.key for button in app.button}
    app = open_page("heads", **CHANGES, do="keep cross.1.1;close decoder.0.0 1 0")
    app = app.button(key="effect").click().run()
    assert say("heads.effect_heads_alone") in shown_texts(app)
