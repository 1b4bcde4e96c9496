import gc
import weakref
from pathlib import Path

import pytest

from explorer.app import model_cache
from explorer.app.limited_cache import LimitedCache
from explorer.app.model_cache import SourceExtent, extent_of
from explorer.core import trace_size
from explorer.core.errors import TraceSizeError, VocabularyError
from explorer.core.look import Request
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.directory_search import find_directories, named_models
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.model_directory import DirectoryModel
from tests.support.catalog_members import summary
from tests.support.example_traces import example_trace
from tests.support.huggingface_families import saved, tiny_model
from tests.support.model_directories import bert


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
    monkeypatch.setattr(trace_size, "largest_trace", lambda: needed - 1)
    monkeypatch.setattr(model_cache, "_traces", LimitedCache(10**9))
    part = model_cache.trace(model, Request("tiny", "1 2 3", 1))
    assert part.facts["model_layers"]["cross"] == len(whole.attention("cross")) == 2
    assert part.layer_numbers("cross") == (0,)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 1)
    with pytest.raises(TraceSizeError, match="one layer"):
        model_cache.trace(model, Request("tiny", "1 2 3", 2))


def test_the_largest_trace_and_what_is_computed_from_it_are_kept_together():
    assert trace_size.largest_trace() + 2**29 == model_cache.MOST_TRACE_BYTES
    assert model_cache._traces.most == model_cache.MOST_TRACE_BYTES


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


def test_the_extent_of_a_text_in_a_checkpoint(explorable):
    assert extent_of(explorable, "1 2 3") == SourceExtent(tokens=4, longest=11)
    with pytest.raises(VocabularyError):
        extent_of(explorable, "9")


def test_a_second_text_counts(tmp_path):
    model = open_directory(bert(tmp_path / "bert"))
    one, other = (extent_of(model, text).tokens for text in ("The cat.", "A dog."))
    assert extent_of(model, "The cat.", "A dog.").tokens == one + other - 1  # one [CLS]


def test_the_extent_of_a_text_in_a_directory(tmp_path):
    marian = open_directory(saved(tiny_model("marian"), tmp_path / "marian"))
    assert extent_of(marian, "5 6 7") == SourceExtent(3, 40)
    t5 = open_directory(saved(tiny_model("t5"), tmp_path / "t5"))
    assert extent_of(t5, "5 6 7").longest >= 20_000
    with pytest.raises(VocabularyError):
        extent_of(t5, "999")
