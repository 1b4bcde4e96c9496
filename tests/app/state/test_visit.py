"""The visit that Explore and Heads share."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import streamlit as st

from explorer.app.state import session
from explorer.app.state import visit as visit_state
from explorer.core.interventions import Interventions
from explorer.core.look import NO_INTERVENTIONS, Look, Reading, Request, Selection
from explorer.model.catalog import CatalogMember, UploadedTrace
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import shipped, summary
from tests.support.small_trace import small_trace

CATALOG = {
    "reverse": shipped("reverse", "123", task="reverse"),
    "letters": shipped("letters", "abc"),
}


@pytest.fixture(autouse=True)
def visit(monkeypatch) -> None:
    """A session that has just opened the first model."""
    monkeypatch.setattr(st, "session_state", {})
    session.save(Look(Request("reverse", "1 2", 2)))


def request() -> Request:
    return visit_state.current().request


def ask(catalog: Mapping[str, CatalogMember] = CATALOG, **asked: object) -> None:
    """What the row of controls reports: what it shows, with `asked` in the place of some of it."""
    shown = {name: getattr(request(), name) for name in ("model", "text", "pad", "pair", "reading")}
    visit_state.read_request(json.loads(msgspec.json.encode({**shown, **asked})), catalog)


def force_a_token() -> None:
    """As a link does."""
    visit = visit_state.current()
    session.save(replace(visit, request=replace(visit.request, forced=((1, 4),))))


def test_another_text_is_decoded_greedily():
    force_a_token()
    ask(text="3 3")
    assert request() == Request("reverse", "3 3", 2)


def test_a_text_that_is_too_long_for_a_link_is_asked_for_by_nobody_else():
    member = CATALOG["reverse"]
    short, long = "1 2", "1 " * 1000 + "2"
    shared = visit_state.shared_query(member, Request("reverse", short))
    assert shared is not None
    assert shared["text"] == short
    assert visit_state.shared_query(member, Request("reverse", long)) is None


def test_another_padding_keeps_what_is_forced():
    force_a_token()
    ask(pad=5)
    assert request() == Request("reverse", "1 2", 5, ((1, 4),))


def test_another_text_keeps_the_changes_that_any_text_can_have():
    visit_state.set_interventions(Interventions.parse(["ablate cross.0.0", "close cross.0.1 1 0"]))
    ask(text="3 3")
    assert request().interventions.texts() == ("ablate cross.0.0",)


def bert(name: str, *, reads_pairs: bool = True) -> DirectoryModel:
    kind = TextKind.SENTENCE
    known = (name, "stamp", summary(), Path(name), kind)
    sizes = {"vocabulary": 9, "weight_bytes": 9}
    return DirectoryModel(*known, prefixes=(), reads_pairs=reads_pairs, **sizes)


def test_a_second_text_stays_with_models_that_read_one():
    catalog = CATALOG | {"one": bert("one"), "two": bert("two")}
    ask(pair="ignored")
    assert request().pair is None
    visit_state.choose_model("one", catalog)
    assert request().pair == ""
    ask(catalog, pair="A dog.", text="The cat.")
    assert (request().text, request().pair) == ("The cat.", "A dog.")
    visit_state.choose_model("two", catalog)
    assert request().pair == "A dog."
    visit_state.choose_model("reverse", catalog)
    assert request().pair is None


@pytest.mark.parametrize(
    "wrong",
    [
        *({"pad": count} for count in (17, -1, "x", None, 1.5)),
        *({"text": text} for text in (3, None, "x" * 20_001)),
        {"pair": 3},
        {"reading": {"source_language": "../x"}},
        {"reading": {"chat": "yes"}},
        {"model": "missing"},
        {"model": None},
    ],
)
def test_a_report_that_the_row_never_makes_is_ignored(wrong):
    before = visit_state.current()
    ask(**wrong, number=3)
    assert visit_state.current() == before
    assert visit_state.last_read() == 3  # so that the row shows the visit again


@pytest.mark.parametrize("report", [None, "x", [], {}, {"number": -1}])
def test_what_is_no_report_of_the_row_is_ignored(report):
    before = visit_state.current()
    visit_state.read_request(report, CATALOG)
    assert visit_state.current() == before
    assert visit_state.last_read() == 0


@pytest.mark.parametrize(
    ("model", "typed", "shown"),
    [
        ("letters", "c a", "c a"),
        ("letters", "7 3", "a b c"),
        ("copy", "3 3 3", "3 3 3"),
        ("upload", "3 3", "1 2"),  # which the next model is asked for
    ],
)
def test_another_model_is_asked_for_the_text_that_the_row_reports(model, typed, shown):
    trace = UploadedTrace("upload", "stamp", small_trace())
    catalog = CATALOG | {"copy": shipped("copy", "123", task="copy"), "upload": trace}
    visit_state.select(Selection("cross", 0, 3, 2))
    force_a_token()
    ask(catalog, model=model, text=typed, pad=0)
    assert (request().model, request().forced) == (model, ())
    assert visit_state.current().selection == Selection()
    if shown == "a b c":
        shown = catalog["letters"].examples[0]
    assert request().text == shown


def test_a_trace_without_its_model_is_asked_for_nothing():
    session.save(Look(Request("upload", "1 2")))
    ask({"upload": UploadedTrace("upload", "stamp", small_trace())}, text="3 3", pad=2)
    assert request() == Request("upload", "1 2")


def test_a_model_that_is_not_listed_is_not_chosen():
    before = request()
    visit_state.choose_model("missing", CATALOG)
    assert request() == before


def test_a_model_that_cannot_read_the_text_gets_one_it_can():
    visit_state.choose_model("letters", CATALOG)
    assert CATALOG["letters"].summary.reads(request().text)
    visit_state.choose_model("reverse", CATALOG)
    assert CATALOG["reverse"].summary.reads(request().text)


def test_another_model_keeps_a_text_that_fits():
    longer = " ".join("1231231")
    ask(text=longer)
    visit_state.choose_model("reverse", CATALOG)
    assert request().text == longer


def test_who_guesses_or_reads_words_goes_on_with_another_model():
    visit_state.select(Selection(site="cross", layer=1, head=2, step=3, guess=True, words=True))
    visit_state.choose_model("reverse", CATALOG)
    assert visit_state.current().selection == Selection(guess=True, words=True)


def test_another_model_has_other_heads_and_tokens():
    force_a_token()
    visit_state.set_interventions(Interventions.parse(["keep cross.0.0"]))
    visit_state.choose_model("letters", CATALOG)
    assert request().forced == ()
    assert request().interventions == NO_INTERVENTIONS


def test_a_text_that_the_other_kind_of_model_cannot_read_is_replaced():
    translator = shipped("own", most_tokens=65)
    catalog = {**CATALOG, "own": translator}
    visit_state.choose_model("own", catalog)
    assert request().text == translator.examples[0]
    ask(catalog, text="Good morning!")
    visit_state.choose_model("own", catalog)
    assert request().text == "Good morning!"
    visit_state.choose_model("reverse", catalog)
    assert CATALOG["reverse"].summary.reads(request().text)


TRANSLATORS = {
    "french": shipped("french", most_tokens=65, sentences=("The cat is here.", "I see him.")),
    "to-english": shipped(
        "to-english", most_tokens=65, sentences=("我昨天买了三本书。", "猫在这里。")
    ),
    "german": shipped("german", most_tokens=65, sentences=("She sings well.",)),
}


@pytest.mark.parametrize(
    ("before", "text", "after", "shown"),
    [
        ("french", "Good morning!", "to-english", "我昨天买了三本书。"),
        ("french", "I see him.", "to-english", "我昨天买了三本书。"),
        ("to-english", "今天很冷。", "french", "The cat is here."),
        ("french", "I see him.", "german", "She sings well."),
        ("french", "Good morning!", "german", "Good morning!"),
        ("to-english", "今天 I sing.", "to-english", "今天 I sing."),
    ],
)
def test_another_translator_gets_a_text_in_its_language(before, text, after, shown):
    session.save(Look(Request(before, text, 0)))
    visit_state.choose_model(after, TRANSLATORS)
    assert request().text == shown


def test_an_example_of_a_toy_task_stays_where_it_can_be_read():
    catalog = {**CATALOG, "copy": shipped("copy", "123", task="copy")}
    ask(text=catalog["reverse"].examples[0])
    visit_state.choose_model("copy", catalog)
    assert request().text == catalog["reverse"].examples[0]


def test_the_default_request_is_the_first_model_s_first_example():
    assert visit_state.default_request(CATALOG) == Request(
        "reverse", CATALOG["reverse"].examples[0]
    )


def test_a_cell_of_a_training_opens_with_its_text_and_step():
    initial = Request("reverse", "1 2", 2)
    place = {"site": "cross", "layer": 1, "head": 2.0, "query": 3, "key": 0}
    seen = visit_state.visit_of_cell(initial, {**place, "text": "7 3 9"})
    selection = Selection("cross", 1, 2, 4, cell=(3, 0))
    assert (seen.request, seen.selection) == (Request("reverse", "7 3 9", 2), selection)
    encoder = visit_state.visit_of_cell(initial, {**place, "site": "encoder"})
    assert (encoder.request, encoder.selection.step) == (initial, None)
    for text in ("", "x" * 10**6, 3, None):
        bad = {"site": "../x", "layer": -1, "head": "1", "query": 0.5, "key": True, "text": text}
        seen = visit_state.visit_of_cell(initial, bad)
        assert (seen.request, seen.selection) == (initial, Selection())


def test_the_selection_is_read_part_by_part():
    visit_state.read_selection({"site": "../x", "layer": 1, "head": "2", "step": 3.0})
    assert visit_state.current().selection == Selection(None, 1, None, 3)
    visit_state.read_selection("cross")
    assert visit_state.current().selection == Selection(None, 1, None, 3)
    visit_state.read_selection({"cell": [1, 2], "inside": "depth"})
    assert visit_state.current().selection == Selection(cell=(1, 2), inside="depth")
    visit_state.read_selection({"cell": [1, 2], "inside": "<b>"})
    assert visit_state.current().selection == Selection(cell=(1, 2))
    for shows, read in (("rollout", "rollout"), ("contribution", None), ("<b>", None), (1, None)):
        visit_state.read_selection({"layer": 1, "shows": shows})
        assert visit_state.current().selection == Selection(layer=1, shows=read)
    for next_view, read in (("heads", "heads"), ("log", None), (["heads"], None)):
        visit_state.read_selection({"layer": 1, "next": next_view})
        assert visit_state.current().selection == Selection(layer=1, next=read)
    for words, read in ((True, True), (False, None), ("1", None)):
        visit_state.read_selection({"layer": 1, "words": words})
        assert visit_state.current().selection == Selection(layer=1, words=read)


def test_no_model_opens_with_padding_and_what_a_visitor_chose_stays():
    translator = shipped("own", most_tokens=65)
    for member in (CATALOG["reverse"], translator):
        assert visit_state.initial_request(member).pad == 0
    ask(pad=5)
    visit_state.choose_model("own", {**CATALOG, "own": translator})
    assert request().pad == 5


def test_another_model_is_looked_at_anew_and_another_text_is_not():
    visit_state.select(Selection("cross", 0, 3, 2))
    ask(text="3 3")
    assert visit_state.current().selection == Selection("cross", 0, 3, 2)
    visit_state.choose_model("letters", CATALOG)
    assert visit_state.current().selection == Selection()


def test_a_model_that_is_gone_gives_way_to_the_first_with_one_sentence():
    assert visit_state.leave_missing(CATALOG) is None
    force_a_token()
    catalog = {"letters": CATALOG["letters"]}
    gone = visit_state.leave_missing(catalog)
    assert visit_state.current() == Look(visit_state.initial_request(CATALOG["letters"]))
    assert "“reverse” is no longer there" in str(gone)


def test_languages_and_a_chat_are_for_models_of_the_library_alone():
    catalog = CATALOG | {"one": bert("one")}
    french = {"source_language": "fr", "target_language": "", "chat": False}
    ask(reading=french)
    assert request().reading is None
    visit_state.choose_model("one", catalog)
    force_a_token()
    ask(catalog, reading=french)
    assert request().forced == ()
    ask(catalog, reading={**french, "chat": True})
    assert request().reading == Reading("fr", "", chat=True)
    visit_state.choose_model("one", catalog)
    assert request().reading == Reading()
