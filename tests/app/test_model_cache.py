import gc
import gzip
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.app import model_cache
from explorer.app.limited_cache import LimitedCache
from explorer.core import trace_size
from explorer.core.errors import TraceError, TraceSizeError
from explorer.core.look import SHOWN_MAPS, Request
from explorer.core.sites import Head
from explorer.heads.contributions import contributions
from explorer.heads.layer_contributions import LAYER_METHODS
from explorer.heads.logit_attribution import logit_attribution
from explorer.heads.score_parts import score_parts
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.directory_search import find_directories, named_models
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import summary
from tests.support.example_traces import example_trace
from tests.support.payloads import unpack_payload


@pytest.fixture
def model(explorable, request) -> UploadedModel:
    """An uploaded model; its stamp is new for each test, so that nothing is cached."""
    return UploadedModel("tiny", request.node.name, summary("123"), explorable)


def test_an_uploaded_trace_is_shown_whatever_is_asked():
    trace = example_trace()
    member = UploadedTrace("mine", "stamp", trace)
    assert model_cache.trace(member, Request("mine", "1 2")) is trace


def test_a_trace_is_computed_once(model):
    request = Request("tiny", "1 2 3", 2)
    trace = model_cache.trace(model, request)
    assert len(trace.source_tokens) == 6
    assert model_cache.trace(model, request) is trace
    assert model_cache.trace(model, Request("tiny", "1 2 3", 1)) is not trace


def test_a_greedy_trace_has_nothing_forced(model):
    free = model_cache.trace(model, Request("tiny", "1 2 3", 1))
    assert model_cache.greedy_trace(model, Request("tiny", "1 2 3", 1, ((1, 5),))) is free


def test_the_digest_is_of_the_weights(model):
    same = UploadedModel("another", "another stamp", summary("123"), model.model)
    assert model_cache.digest(model) == model_cache.digest(same)


def test_padding_ends_at_the_model_s_longest_sequence(model):
    assert len(model_cache.trace(model, Request("tiny", "1 2 3", 16)).source_tokens) == 11


def test_a_trace_has_as_many_layers_as_fit(model, monkeypatch):
    whole = model_cache.trace(model, Request("tiny", "1 2 3", 1))
    needed = sum(whole.attention(site).nbytes for site in whole.sites)
    monkeypatch.setattr(trace_size, "LARGEST_TRACE", needed - 1)
    monkeypatch.setattr(model_cache, "_traces", LimitedCache(10**9))
    part = model_cache.trace(model, Request("tiny", "1 2 3", 1))
    assert part.facts["model_layers"]["cross"] == len(whole.attention("cross")) == 2
    assert part.layer_numbers("cross") == (0,)
    monkeypatch.setattr(trace_size, "LARGEST_TRACE", 1)
    with pytest.raises(TraceSizeError, match="one layer"):
        model_cache.trace(model, Request("tiny", "1 2 3", 2))


def test_all_traces_together_are_bounded(model, monkeypatch):
    traces = [model_cache.trace(model, Request("tiny", text)) for text in ("1", "1 2", "1 2 3")]
    sizes = [model_cache.trace_bytes(trace) for trace in traces]
    arrays = sum(array.nbytes for array in traces[0].arrays.values())
    assert arrays < sizes[0] < sizes[1] < sizes[2]
    monkeypatch.setattr(model_cache, "_traces", LimitedCache(sizes[1] + sizes[2]))
    for text in ("1", "1 2", "1 2 3"):
        model_cache.trace(model, Request("tiny", text))
    assert model_cache._traces.size == sizes[1] + sizes[2]


@pytest.fixture
def directories(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[DirectoryModel]:
    """Three directories, of which one fits into the cache."""
    monkeypatch.setattr(
        model_cache, "_directories", LimitedCache(300_000, model_cache._free_memory)
    )
    return list(named_models(find_directories([model_folder])).values())


def test_models_of_directories_are_dropped_when_memory_is_needed(directories):
    bert, gpt, opus = directories
    assert model_cache.opened(bert) is None
    model = model_cache.model_of(bert)
    assert model_cache.model_of(bert) is model
    assert model_cache.opened(bert) is model
    weights = next(model.model.parameters())
    assert model_cache._directories.size == model.memory > weights.nbytes
    gc.freeze()  # as every loaded checkpoint does
    alive = weakref.ref(model.model)
    del model, weights
    model_cache.model_of(gpt)
    model_cache.model_of(opus)
    assert model_cache.opened(bert) is None
    assert alive() is None


def test_a_model_of_a_directory_is_traced_with_padding(directories):
    _, gpt, opus = directories
    assert "<pad>" in model_cache.trace(opus, Request("opus", "The cat.", 2)).source_tokens
    padded = model_cache.trace(gpt, Request("gpt", "The cat", 2))
    assert padded.target_tokens[:2] == ("<pad>", "<pad>")
    assert padded.facts["prompt"] > 2
    longest = model_cache.trace(gpt, Request("gpt", "a" * 395, 16))
    assert longest.target_tokens[0] == "<pad>"
    assert len(longest.target_tokens) == 400


def test_one_layer_of_a_trace_on_screen_is_captured_in_full(model):
    request = Request("tiny", "1 2 3", 2)
    shown = model_cache.trace(model, request)
    capture = model_cache.layer_capture(model, request, shown)
    assert capture is not None
    layer = capture("cross", 1)
    assert layer is not None
    assert layer.sites == ("cross",)
    np.testing.assert_allclose(layer.attention("cross")[0], shown.attention("cross")[1], atol=1e-6)
    assert layer.query_vectors("cross").shape[:3] == layer.attention("cross").shape[:3]
    assert capture("cross", 1) is layer


def test_what_captures_a_layer_keeps_neither_model_nor_trace(explorable, request):
    member = UploadedModel("tiny", request.node.name, summary("123"), replace(explorable))
    asked = Request("tiny", "1 2 3", 2)
    shown = member.model.trace("1 2 3")
    capture = model_cache.layer_capture(member, asked, shown)
    kept = [weakref.ref(shown), weakref.ref(member.model)]
    del shown, member
    gc.collect()
    assert [reference() for reference in kept] == [None, None]
    assert capture is not None
    assert capture("cross", 0) is None


def test_an_uploaded_trace_cannot_be_captured_again():
    trace = example_trace()
    member = UploadedTrace("mine", "stamp", trace)
    assert model_cache.layer_capture(member, Request("mine", ""), trace) is None


def test_the_contributions_of_a_trace_on_screen_are_computed_once(model):
    request = Request("tiny", "1 2 3", 2)
    shown = model_cache.trace(model, request)
    contribute = model_cache.contributions(model, request)
    assert contribute is not None
    for method in ("alti", "leave_one_out"):
        data = contribute(shown, method)
        assert data is not None
        header, arrays = unpack_payload(gzip.decompress(data))
        expected = contributions(model_cache.model_of(model), "1 2 3", method).source_share
        np.testing.assert_allclose(arrays["source_share"], expected, atol=1e-4)
        assert len(header["agreement"]) == (5 if method == "leave_one_out" else 0)
        assert contribute(shown, method) is data


def test_the_parts_of_heads_in_a_trace_on_screen_are_those_of_python(model):
    request = Request("tiny", "1 2 3", 2, ((2, 5),))
    shown = model_cache.trace(model, request)
    attribute = model_cache.attribution(model, request)
    assert attribute is not None
    data = attribute(shown)
    assert data is not None
    header, arrays = unpack_payload(gzip.decompress(data))
    tiny = model_cache.model_of(model)
    expected = logit_attribution(tiny, "1 2 3", pad_to=6, force={2: 5})
    assert header["runner_up"] == list(expected.runner_up)
    np.testing.assert_allclose(arrays["difference"], expected.difference, atol=1e-5)
    cross = expected.parts[expected.parts.site == "cross"].value
    np.testing.assert_allclose(arrays["cross"], cross, atol=1e-5)
    assert attribute(shown) is data


@pytest.mark.parametrize(
    "head", [Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 1, 2)]
)
def test_the_scores_of_a_head_are_split_as_in_python(model, head):
    request = Request("tiny", "1 2 3", 2, ((2, 5),))
    split = model_cache.score_split(model, request)
    assert split is not None
    data = split(model_cache.trace(model, request), head)
    assert data is not None
    header, arrays = unpack_payload(gzip.decompress(data))
    names, width = (header["query_parts"], header["key_parts"]), header["width"]
    queries, keys = (
        arrays[kind].reshape(len(parts), -1, width)
        for kind, parts in zip(("queries", "keys"), names, strict=True)
    )
    tiny = model_cache.model_of(model)
    expected = score_parts(tiny, "1 2 3", *head, 2, 1, pad_to=6, force={2: 5}).table
    assert (expected.index.tolist(), expected.columns.tolist()) == names
    found = queries[:, 2] @ keys[:, 1].T * header["scale"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_head_that_does_not_exist_has_no_score(model):
    request = Request("tiny", "1 2 3")
    split = model_cache.score_split(model, request)
    assert split is not None
    with pytest.raises(TraceError):
        split(model_cache.trace(model, request), Head("cross", 9, 0))


def test_what_computes_contributions_keeps_no_model(explorable, request):
    member = UploadedModel("tiny", request.node.name, summary("123"), replace(explorable))
    shown = member.model.trace("1 2 3")
    contribute = model_cache.contributions(member, Request("tiny", "1 2 3", 0))
    assert contribute is not None
    del member
    gc.collect()
    assert contribute(shown, "alti") is None


def test_the_methods_offered_are_those_of_layers():
    assert SHOWN_MAPS == LAYER_METHODS


def test_an_uploaded_trace_has_neither_contributions_nor_parts_of_heads():
    member = UploadedTrace("mine", "stamp", example_trace())
    assert model_cache.contributions(member, Request("mine", "")) is None
    assert model_cache.attribution(member, Request("mine", "")) is None
    assert model_cache.score_split(member, Request("mine", "")) is None
