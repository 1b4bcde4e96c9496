from pathlib import Path

import pytest

from explorer.app import compared_models, model_cache
from explorer.core.look import Request
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import shipped, summary, uploaded
from tests.support.example_traces import example_trace

SENTENCE = "The cat sleeps."


def offered(member, *others, text="1 2"):
    catalog = {other.name: other for other in (member, *others)}
    return list(compared_models.comparable(member, catalog, text))


def test_models_of_the_same_symbols_are_offered_those_of_the_same_task_first():
    member = shipped("reverse", "123", task="reverse")
    copy, early = shipped("copy", "312", task="copy"), shipped("early", "123", task="reverse")
    assert offered(member, copy, early) == ["early", "copy"]


def test_others_are_not_offered():
    trace = UploadedTrace("a trace", "stamp", example_trace())
    known = ("opus", "stamp", summary(), Path("opus"), TextKind.SENTENCE)
    library = DirectoryModel(*known, prefixes=(), vocabulary=9, weight_bytes=9)
    more, sentences = shipped("more", "1234"), shipped("english")
    assert offered(shipped("reverse", "123"), trace, library, more, sentences) == []
    assert offered(sentences, trace, library, more, text=SENTENCE) == []


def test_models_of_sentences_are_offered_where_the_text_means_something_to_them():
    english, other = shipped("english-french"), shipped("english-french-early")
    chinese = shipped("chinese-english")
    assert offered(english, other, chinese, text=SENTENCE) == ["english-french-early"]
    assert offered(chinese, english, other, text="你好吗") == []
    catalog = {one.name: one for one in (english, other, chinese)}
    asked = compared_models.comparable(english, catalog, "😀", "english-french-early")
    assert list(asked) == ["english-french-early"]


def test_an_upload_is_offered_like_any_other():
    assert offered(shipped("a-model", "a"), uploaded("mine", "stamp", "a"), text="a") == ["mine"]


@pytest.fixture
def model(explorable, request) -> UploadedModel:
    """An uploaded model; its stamp is new for each test, so that nothing is cached."""
    return UploadedModel("tiny", request.node.name, summary("123"), explorable)


def test_a_comparison_is_computed_once_of_the_trace_on_screen(model):
    other = UploadedModel("same", model.stamp + " again", model.summary, model.model)
    request = Request("tiny", "1 2 3", 1, ((1, 5),))
    compared = compared_models.comparison(model, other, request)
    assert compared.original is model_cache.greedy_trace(model, request)
    assert compared_models.comparison(model, other, request) is compared
    matched = compared.attention.matched()
    places = matched[["layer", "head"]].to_numpy().tolist()
    assert matched[["other_layer", "other_head"]].to_numpy().tolist() == places
    assert (matched.similarity > 0.9999).all()
