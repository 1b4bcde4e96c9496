"""Two models, texts or moments of a training compared on the page Heads."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer import load
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
    assert url_query(app)["with"] == "reverse-almost"  # the first one of the same task
    choice = chosen_in(app.selectbox, "compare-with-en")
    assert len(choice.options) == 9  # four models, a text, interventions, the recorded runs
    app = choice.set_value("sort").run()
    assert url_query(app)["with"] == "sort"
    header, traces = head_view(app, "model_comparison")
    assert header["names"] == ["reverse", "sort"]
    assert header["outputs"][1][:3] == ["1", "3", "4"]
    assert traces["changed"]["target"] == traces["original"]["target"]
    assert "By itself sort says “1 3 4 7 9 a b c”" in shown_texts(app)
    table = app.dataframe[0].value
    assert len(table) == 24
    assert table.similarity.between(0, 1).all()
    again = open_page("heads", **url_query(app))
    assert head_view(again, "model_comparison")[0]["names"] == ["reverse", "sort"]


def test_models_that_say_the_same_are_said_to():
    app = open_page("heads", **{**COMPARED, "text": "7 3 7", "with": "copy"})
    assert "Both models say the same" in shown_texts(app)


def test_a_pair_of_a_link_is_shown_first():
    link = {**COMPARED, "site": "cross", "layer": "1", "head": "2", "other": "0.3"}
    app = open_page("heads", **link)
    header, traces = head_view(app, "model_comparison")
    assert header["pair"] == [0, 3]
    assert traces["original"]["view"]["head"] == 2
    assert url_query(app)["other"] == "0.3"


def test_a_model_of_other_tokens_gives_way_to_one_of_the_same_with_one_sentence():
    app = open_page("heads", **COMPARED, **{"with": "english-french"})
    assert len(app.error) == 1
    assert "english\\-french" in app.error[0].value
    assert url_query(app)["with"] == "reverse-almost"
    assert not app.run().error  # said once


def test_a_model_that_does_not_exist_is_refused_with_one_sentence():
    app = open_page("heads", **COMPARED, **{"with": "nonsense"})
    assert [warning.value for warning in app.warning] == [
        "Not all of this link could be followed; the default is shown for: model compared with."
    ]
    assert url_query(app)["with"] == "reverse-almost"


def test_where_no_other_model_can_be_compared_another_text_is():
    app = open_page("heads", model="chinese-english", part="compare")
    assert not app.exception
    assert chosen_in(app.selectbox, "compare-with-en").value == "@text"
    assert not app.error
    assert head_view(app, "model_comparison")[0]["rule"] == "same"


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
    assert "“1 2 3” gives “3 2 1”; “3 2 1” gives “1 2 3”." in said
    captions = " ".join(one.value for one in app.caption).replace("\\", "")
    assert "beside it the same head." in captions
    assert "Gold weights here are of this one text" in captions
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
    assert url_query(app)["other_text"] == "3 2 1"


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
    app = open_page("heads", **link)  # without any
    assert "There are no interventions on “reverse” yet" in app.error[0].value.replace("\\", "")
    assert url_query(app)["with"] == "reverse-almost"


def test_a_text_that_the_other_model_cuts_otherwise_names_the_token():
    text = "My grandmother's caterpillars marched."
    link = {"model": "english-french", "text": text, "part": "compare", "with": "chinese-english"}
    app = open_page("heads", **link)
    assert len(app.error) == 1
    assert "cuts this text into other tokens: source token" in app.error[0].value.replace("\\", "")
    assert not app.dataframe


def test_two_moments_of_a_run_are_compared_and_are_in_the_url():
    app = open_page("heads", model="sort", part="compare")
    choice = chosen_in(app.selectbox, "compare-with-en")
    assert choice.options[-1] == "recorded training reverse, two moments"
    app = choice.set_value("recorded/reverse@").run()
    assert not app.exception
    assert url_query(app)["with"] == "recorded/reverse@225-1000"
    header, traces = head_view(app, "model_comparison")
    assert header["names"] == ["step 225", "step 1000"]
    assert not header["given"]
    assert traces["original"]["source"] == ["7", "3", "9", "1", "4", "<eos>"]
    app = chosen_in(app.selectbox, "compare-first-en").set_value(100).run()
    assert url_query(app)["with"] == "recorded/reverse@100-1000"
    assert "Exact match: 25.8\u00a0%, then 100.0\u00a0%." in shown_texts(app)
    app = chosen_in(app.selectbox, "compare-with-en").set_value("copy").run()
    assert url_query(app)["with"] == "copy"
    assert not [one for one in app.selectbox if "first" in one.key]


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("recorded/reverse@3-1000", "no moment at step 3; an early one and the last are shown"),
        ("runs/none@3-1000", "There is no training “none” here any more"),
    ],
)
def test_moments_that_are_not_there_are_one_sentence(pair, words):
    app = open_page("heads", part="compare", **{"with": pair})
    assert not app.exception
    (error,) = app.error
    assert words in error.value.replace("\\", "")
    assert ("first" in str([one.key for one in app.selectbox])) == pair.startswith("recorded")


def test_a_comparison_that_fails_says_which_token_is_missing_and_stays():
    app = open_page(
        "heads",
        model="english-french",
        text="😀",
        part="compare",
        **{"with": "english-french-early"},
    )
    assert "“english-french-early” has no token" in app.error[0].value.replace("\\", "")
    assert chosen_in(app.selectbox, "compare-with-en").value == "english-french-early"
    assert url_query(app)["with"] == "english-french-early"
