"""Two models, two texts, and two moments of the recorded run that ships."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.app import comparisons, model_cache
from explorer.app.comparisons import ComparisonError
from explorer.core import folders
from explorer.core.errors import ExplorerError, TraceError
from explorer.core.look import MomentPair, Request
from explorer.heads.patching.activation_patching import patch
from explorer.jobs.training_run import Run
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import shipped, summary, uploaded
from tests.support.example_traces import example_trace
from tests.support.finished_runs import finished_run

SENTENCE = "The cat sleeps."


def offered(member, *others, text="1 2"):
    catalog = {other.name: other for other in (member, *others)}
    return list(comparisons.comparable(member, catalog, text))


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
    asked = comparisons.comparable(english, catalog, "😀", "english-french-early")
    assert list(asked) == ["english-french-early"]


def test_a_model_of_another_kind_is_not_offered():
    translator = shipped("english-french", encoder_layers=1, decoder_layers=1)
    writer = shipped("english", decoder_layers=1)
    known = (summary(encoder_layers=2), Path("x"), TextKind.PROMPT)
    library = DirectoryModel("gpt2", "stamp", *known, prefixes=(), vocabulary=9, weight_bytes=9)
    assert offered(library, translator, writer, text=SENTENCE) == ["english"]
    filling = replace(library, name="bert", kind=TextKind.MASKED)
    assert offered(filling, translator, writer, text=SENTENCE) == []


def test_an_upload_is_offered_like_any_other():
    assert offered(shipped("a-model", "a"), uploaded("mine", "stamp", "a"), text="a") == ["mine"]


@pytest.fixture
def model(explorable, request) -> UploadedModel:
    """An uploaded model; its stamp is new for each test, so that nothing is cached."""
    return UploadedModel("tiny", request.node.name, summary("123"), explorable)


def test_a_comparison_is_computed_once_of_the_trace_on_screen(model):
    other = UploadedModel("same", model.stamp + " again", model.summary, model.model)
    request = Request("tiny", "1 2 3", 1, ((1, 5),))
    compared = comparisons.of_models(model, other, request)
    assert compared.original is model_cache.greedy_trace(model, request)
    assert comparisons.of_models(model, other, request) is compared
    matched = compared.attention.matched()
    places = matched[["layer", "head"]].to_numpy().tolist()
    assert matched[["other_layer", "other_head"]].to_numpy().tolist() == places
    assert (matched.similarity > 0.9999).all()


def test_symbols_are_first_compared_with_the_other_way_round(model):
    assert comparisons.initial_text(model, "1 2  3") == "3 2 1"


def test_two_texts_are_compared_once_and_with_as_much_padding(model):
    request = Request("tiny", "1 2 3", 1)
    compared = comparisons.of_texts(model, request, "3 2 1")
    assert comparisons.of_texts(model, request, "3 2 1") is compared
    other = model_cache.greedy_trace(model, replace(request, text="3 2 1"))
    assert len(compared.forced.source_tokens) == 5  # three symbols, the end, padding
    rows = len(compared.forced.target_tokens)
    expected = other.attention("cross")[:, :, :rows]
    np.testing.assert_allclose(compared.forced.attention("cross"), expected, atol=1e-6)


def test_a_text_of_another_length_is_refused(model):
    with pytest.raises(TraceError, match="“1 2 3” has 5"):
        comparisons.of_texts(model, Request("tiny", "1 2 3", 1), "1 2")


def test_two_texts_are_patched_once_whatever_their_padding(model):
    request = Request("tiny", "1 2 3", 1)
    patched = comparisons.patched(model, request, "3 2 2", "heads")
    assert comparisons.patched(model, request, "3 2 2", "heads") is patched
    assert comparisons.patched(model, request, "3 2 2", "residual").found.sites == "residual"
    expected = patch(model_cache.model_of(model), "1 2 3", "3 2 2", prefix=patched.prefix)
    np.testing.assert_array_equal(patched.found.table, expected.table)


RECORDED = "recorded/reverse"


@pytest.fixture
def own_runs(tmp_path, monkeypatch):
    monkeypatch.setenv(folders.RUNS_VARIABLE, str(tmp_path))
    return tmp_path


def recorded() -> Run:
    return comparisons.runs_with_moments()[RECORDED]


def test_runs_without_moments_are_not_listed(own_runs):
    finished_run(own_runs / "reverse-1")
    assert set(comparisons.runs_with_moments()) == {
        RECORDED,
        f"{RECORDED}-without-mask",
        "recorded/induction",
    }


def test_the_opening_pair_is_an_early_moment_and_the_last():
    steps = comparisons.steps_of(recorded())
    assert steps == sorted(steps)
    pair = comparisons.initial_pair(RECORDED, steps)
    assert (pair.first, pair.second) == (steps[8], steps[-1])  # of 40
    assert comparisons.pair_query(RECORDED, steps) == {"part": "compare", "with": str(pair)}
    with pytest.raises(ComparisonError, match="“reverse” has fewer than two moments"):
        comparisons.initial_pair(RECORDED, steps[:1])


def test_the_stored_probes_are_compared_with_what_the_model_says_by_itself():
    compared = comparisons.of_moments(MomentPair(RECORDED, 100, 1000))
    stored = [recorded().probe(step) for step in (100, 1000)]
    for side, probe in zip((compared.original, compared.forced), stored, strict=True):
        np.testing.assert_array_equal(side.attention("cross"), probe.attention("cross"))
        assert side.integrity().ok.all()
    assert compared.forced.predicted_tokens == stored[1].predicted_tokens  # it has learnt it
    assert compared.original.predicted_tokens == ("4", "1", "9", "7", "7", "<eos>")
    difference = stored[0].attention("cross") - stored[1].attention("cross")
    np.testing.assert_array_equal(compared.attention.difference("cross"), difference)


def test_scores_are_those_of_the_metrics():
    scores = comparisons.moment_scores(recorded(), 100)
    assert scores == {"exact_match": pytest.approx(0.2578125)}
    assert comparisons.moment_scores(recorded(), 3) == {}


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (MomentPair("runs/none", 1, 2), "no training “none” here any more"),
        (MomentPair("runs/../..", 1, 2), "no training"),
        (MomentPair(RECORDED, 3, 1000), "no moment at step 3"),
    ],
)
def test_what_is_not_there_is_one_sentence(own_runs, pair, words):
    with pytest.raises(ComparisonError, match=words):
        comparisons.of_moments(pair)


def test_a_run_that_was_begun_anew_is_read_anew_and_a_damaged_moment_refused(own_runs):
    copy = own_runs / "copy"
    shutil.copytree(recorded().folder, copy)
    pair = MomentPair("runs/copy", 100, 1000)
    before = comparisons.of_moments(pair)
    assert comparisons.of_moments(pair) is before
    shutil.copy(copy / "moments" / "000975.trace", copy / "moments" / "001000.trace")
    assert comparisons.of_moments(pair) is not before
    (copy / "moments" / "001000.trace").write_bytes(b"damaged")
    with pytest.raises(ExplorerError):
        comparisons.of_moments(pair)
