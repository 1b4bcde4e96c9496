"""What carries the difference of two texts, on the page Heads."""

import pytest

import explorer
from tests.support.app_pages import chosen_in, head_view, open_page, url_query

LINK = {"part": "compare", "model": "induction", "text": "7 3 9 1 5 7"}
TRANSLATED = {
    "part": "compare",
    "model": "english-french",
    "text": "The black cat is asleep.",
    "other_text": "The white cat is asleep.",
}


def asked(app, sites: str, language: str = "en"):
    return chosen_in(app.button_group, f"patched-sites-{language}").set_value(sites).run()


def patched_of(app):
    return head_view(app, "model_comparison")[0]["patched"]


def test_nothing_is_patched_until_it_is_asked_for_and_again_closes_it():
    app = open_page("heads", **LINK, other_text="9 3 7 1 5 7")
    assert not app.exception
    assert patched_of(app) is None
    app = asked(app, "heads")
    assert not app.exception
    assert not app.error
    expected = explorer.load("induction").patch("7 3 9 1 5 7", "9 3 7 1 5 7")
    patched = patched_of(app)
    assert (patched["prefix"], patched["predicted"]) == (None, ["3", "1"])
    assert patched["metrics"] == pytest.approx([expected.clean, expected.corrupted])
    (table,) = patched["tables"]
    assert (table["site"], table["tokens"]) == ("decoder", [])
    columns = expected.table[["layer", "head", "restored", "metric"]]
    assert table["cells"] == [pytest.approx(row) for row in columns.to_numpy().tolist()]
    assert url_query(app)["ask"] == "heads"
    linked = open_page("heads", **url_query(app))
    assert not linked.warning
    assert patched_of(linked) == patched
    app = chosen_in(app.button_group, "patched-sites-en").set_value(None).run()
    assert patched_of(app) is None
    assert "ask" not in url_query(app)


def test_positions_of_a_translation_are_patched_after_what_both_outputs_begin_with():
    app = asked(open_page("heads", **TRANSLATED), "residual")
    texts = TRANSLATED["text"], TRANSLATED["other_text"]
    model = explorer.load("english-french")
    expected = model.patch(*texts, prefix="Le chat", sites="residual")
    patched = patched_of(app)
    assert patched["prefix"] == "Le chat"
    assert patched["predicted"] == ["▁noir", "▁blanc"]
    encoder, decoder = patched["tables"]
    assert encoder["tokens"][:3] == [["▁The", "▁The"], ["▁black", "▁white"], ["▁cat", "▁cat"]]
    assert [one for one, _ in decoder["tokens"]] == ["<bos>", "▁Le", "▁chat"]
    shares = [cell[2] for table in (encoder, decoder) for cell in table["cells"]]
    assert shares == pytest.approx(expected.table.restored.to_list())


def test_the_picture_stays_at_the_head_of_the_link():
    place = {"site": "cross", "layer": "2", "head": "5"}
    app = asked(open_page("heads", **TRANSLATED, **place), "heads")
    view = head_view(app, "model_comparison")[1]["original"]["view"]
    assert (view["site"], view["layer"], view["head"]) == ("cross", 2, 5)


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Both texts give the same output"), ("zh", "输出相同")]
)
def test_texts_with_one_output_are_refused_with_one_sentence_beside_the_maps(language, words):
    app = open_page("heads", **LINK, other_text="7 3 9 1 5 7", lang=language)
    app = asked(app, "heads", language)
    assert not app.exception
    (error,) = app.error
    assert words in error.value
    assert patched_of(app) is None


def test_texts_of_other_lengths_are_not_asked_about():
    app = open_page("heads", **LINK, other_text="7 3")
    assert len(app.error) == 1
    assert not [one for one in app.button_group if (one.key or "").startswith("patched-sites")]
