"""The section of Heads that searches a corpus, without a browser."""

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import explorer
from explorer.app.server import access
from explorer.app.state.measurements import Measurements
from explorer.app.visitor_catalog import Uploads
from explorer.app.widgets.search_panel import names_of
from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.sites import Head
from explorer.heads.reports.report_files import Stored
from explorer.heads.search.attention_index import AttentionIndex
from explorer.heads.search.stored_indexes import IndexFile
from explorer.model.catalog import UploadedModel
from explorer.model.explorable import ExplorableModel
from tests.support.app_pages import (
    asked_in_bar,
    asked_visit,
    captions,
    chosen_in,
    components_of,
    open_page,
    picture_of,
    url_query,
)
from tests.support.catalog_members import summary
from tests.support.sample import sampled
from tests.support.short_runs import wait_for_job

LINES = "7 3 9 1 4\n1 2 3\n9 9 1 4 7 2\n5 5 1"
HEAD = {"site": "cross", "layer": "1", "head": "2"}


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing was measured on this machine."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    return tmp_path


def built(app: AppTest) -> AppTest:
    """After the index that the fields describe was built."""
    app = app.button(key="search-start").click().run()
    assert not app.error
    wait_for_job(app.session_state[Measurements.__name__].started[-1].job)
    app = app.run()
    assert not app.exception
    assert not app.error
    return app


def with_lines(**query: str) -> AppTest:
    """The section with an index of `LINES`."""
    app = open_page("heads", part="search", model="reverse", **query)
    app = app.radio(key="search-kind-en").set_value("lines").run()
    return built(app.text_area(key="search-lines").set_value(LINES).run())


def index_in(reports: Path) -> AttentionIndex:
    (path,) = reports.glob("*-index/*/index.safetensors")
    return explorer.open_index(path)


def weights(app: AppTest) -> list[str]:
    texts = [text.value.strip("*") for text in app.markdown]
    return [text for text in texts if text.replace(".", "").isdigit() and "." in text]


def links(app: AppTest) -> list[dict[str, str]]:
    """Those of answers: the links to the pages themselves ask nothing."""
    queries = [dict(parse_qsl(one.proto.query_string)) for one in app.get("page_link")]
    return [query for query in queries if query]


def fill_in(app: AppTest, name: str, value: object) -> AppTest:
    kinds = {"offset": app.number_input, "part": app.selectbox}
    field = chosen_in(kinds.get(name, app.text_input), f"search-{name}-en")
    app = field.set_value(value).run()
    assert not app.exception
    return app


def refused(app: AppTest) -> str:
    (error,) = app.error
    assert not app.exception
    assert not links(app)
    return error.value.replace("\\", "")


def test_answers_are_those_of_the_index_and_each_opens_in_explore(reports: Path) -> None:
    app = with_lines(**HEAD)
    found = index_in(reports).search(("cross", 1, 2))
    assert weights(app) == [f"{weight:.2f}" for weight in found.weight]
    expected = [dict(parse_qsl(link.removeprefix("?"))) for link in found.link]
    assert links(app) == expected
    assert [one.proto.label for one in app.get("download_button")] == ["Table (CSV)"]
    assert any(text.startswith("The 4 of 4 sentences") for text in captions(app))
    first = found.iloc[0]
    opened = open_page(**links(app)[0])
    assert not opened.error
    asked = asked_visit(opened)
    assert asked["text"].split() == first.source.split()
    assert asked["cell"] == f"{first['query']}.{first.key}"
    assert {name: asked[name] for name in HEAD} == HEAD
    seen, _ = picture_of(**asked)
    assert seen["view"]["cell"] == [first["query"], first.key]


def test_a_model_that_ships_answers_before_anything_is_built(reports: Path) -> None:
    app = open_page("heads", part="search", model="reverse", **HEAD)
    found = explorer.open_index(folders.shipped_reports() / "reverse.index").search("cross.1.2")
    assert weights(app) == [f"{weight:.2f}" for weight in found.weight]
    assert links(app) == [dict(parse_qsl(link.removeprefix("?"))) for link in found.link]
    assert not list(reports.iterdir())


@pytest.mark.parametrize("head", [Head("cross", 1, 2), Head("decoder", 0, 1)])
def test_all_heads_shows_three_sentences_of_the_head_on_screen(head: Head) -> None:
    place = {"site": head.site, "layer": str(head.layer), "head": str(head.head)}
    app = open_page("heads", model="reverse", **place)
    index = explorer.open_index(folders.shipped_reports() / "reverse.index")
    found = index.search(head, top=len(index))
    if head.site == "decoder":  # what the first token puts on itself is no finding
        assert not found[["query", "key"]].head(3).any(axis=None)
        found = index.search(head, part="content")
    assert weights(app) == [f"{weight:.2f}" for weight in found.weight[:3]]
    assert links(app) == [dict(parse_qsl(link.removeprefix("?"))) for link in found.link[:3]]
    assert sum("fires most at" in text for text in captions(app)) == 1


def test_a_model_without_an_index_has_no_sentences_of_its_heads(
    explorable: ExplorableModel,
) -> None:
    app = open_page("heads")
    mine = UploadedModel("mine", "stamp of mine", summary("123"), explorable)
    app.session_state["Uploads"] = Uploads(members={"mine": mine})
    app = asked_in_bar(app.run(), model="mine")
    assert not app.exception
    assert not any("fires most at" in text for text in captions(app))


def test_each_part_of_the_question_counts(reports: Path) -> None:
    app = with_lines(site="encoder", layer="0", head="1")
    index, head = index_in(reports), Head("encoder", 0, 1)
    asked: list[tuple[str, object, dict[str, object]]] = [
        ("offset", -1, {"offset": -1}),
        ("query", "1", {"offset": -1, "tokens": ("1", None)}),
        ("offset", None, {"tokens": ("1", None)}),
        ("key", " 9 ", {"tokens": ("1", "9")}),
        ("key", "", {"tokens": ("1", None)}),
        ("part", "same token", {"tokens": ("1", None), "part": "same token"}),
        ("part", "end", {"tokens": ("1", None), "part": "end"}),
    ]
    for name, value, question in asked:
        app = fill_in(app, name, value)
        found = index.search(head, **question)
        assert weights(app) == [f"{weight:.2f}" for weight in found.weight], question
        nothing = say("heads.search_nothing", least=f"{index.least:.1g}")
        assert [one.value for one in app.info] == [nothing] * found.empty


def test_a_link_asks_the_same_question_and_names_what_it_cannot_ask() -> None:
    app = fill_in(fill_in(with_lines(**HEAD), "key", "9"), "offset", 0)
    assert url_query(app)["ask"] == "key=9&offset=0"
    linked = open_page("heads", **url_query(app))
    assert not linked.warning
    assert weights(linked) == weights(app)
    assert chosen_in(linked.number_input, "search-offset-en").value == 0
    wrong = open_page("heads", **{**url_query(app), "ask": "offset=far"})
    assert any("question of the section" in one.value for one in wrong.warning)
    assert chosen_in(wrong.number_input, "search-offset-en").value is None


def test_another_head_is_searched_for_by_choosing_it(reports: Path) -> None:
    app = with_lines(**HEAD)
    app = chosen_in(app.selectbox, "search-head-en").set_value(Head("decoder", 0, 3)).run()
    assert url_query(app)["site"] == "decoder"
    found = index_in(reports).search(("decoder", 0, 3))
    assert weights(app) == [f"{weight:.2f}" for weight in found.weight]
    assert "attention_head_grid" in components_of(app)
    mean = open_page("heads", part="search", model="reverse", site="encoder", layer="1")
    assert chosen_in(mean.selectbox, "search-head-en").value == Head("encoder", 1, 0)


def test_what_cannot_be_searched_is_refused_in_one_sentence() -> None:
    app = with_lines(**HEAD)
    assert refused(fill_in(app, "key", "été")).startswith("No source has the token “été”.")
    app = fill_in(fill_in(app, "key", ""), "part", "same token")
    assert refused(app).startswith("In cross-attention")


def test_a_first_token_is_no_finding_and_a_sentence_says_so() -> None:
    app = with_lines(site="decoder", layer="0", head="1")
    assert [one.value[:36] for one in app.info] == ["The first token of a text can look o"]
    assert not fill_in(app, "offset", -1).info


def test_an_index_is_found_again_by_another_visitor_and_another_is_built() -> None:
    with_lines()
    app = open_page("heads", part="search", model="reverse", lang="zh")
    assert links(app)
    first, shipped = chosen_in(app.selectbox, "search-index-zh").options
    assert first == "输入的句子 · 4"
    assert shipped.endswith("种子 0 · 99")
    app = built(app.number_input(key="search-size").set_value(30).run())
    chosen = chosen_in(app.selectbox, "search-index-zh")
    assert len(chosen.options) == 3
    assert chosen.options[0].endswith("种子 0 · 30")
    assert any("30" in text for text in captions(app))
    app = chosen.set_value(chosen_in(app.selectbox, "search-index-zh").value).run()
    assert not app.exception


@pytest.mark.parametrize("name", sampled(["opus-tiny", "gpt-tiny", "bert-tiny"], 1))
def test_a_model_of_the_library_is_searched(
    name: str, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = built(open_page("heads", part="search", model=name))
    assert weights(app)
    opened = open_page(**links(app)[0])
    assert not opened.exception
    assert not opened.error
    assert not opened.warning
    assert "cell" in asked_visit(opened)


def test_an_uploaded_model_is_searched_in_a_class_and_opens_under_its_name_here(
    explorable: ExplorableModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    app = open_page("heads", part="search")
    mine = UploadedModel("mine", "stamp of mine", summary("123"), explorable)
    app.session_state["Uploads"] = Uploads(members={"mine": mine})
    app = built(asked_in_bar(app.run(), model="mine"))
    assert {link["model"] for link in links(app)} == {"mine"}
    app.query_params.clear()
    for name, value in links(app)[0].items():
        app.query_params[name] = value
    app = app.switch_page("views/explore.py").run()
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert "cell" in url_query(app)


def test_equal_names_are_numbered() -> None:
    file = IndexFile(Path("x"), "mine.tsv", 3)
    stored = [Stored(file, key, 0.0) for key in "abc"]
    names = names_of(stored, "en")
    assert names == {"a": "mine.tsv · 3", "b": "mine.tsv · 3 (2)", "c": "mine.tsv · 3 (3)"}
