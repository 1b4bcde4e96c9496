import pytest

from explorer.app import model_cache
from explorer.app.model_cache import TraceSizeError
from explorer.app.request import Request
from explorer.model.catalog import UploadedModel, UploadedTrace
from tests.support.catalog_members import summary
from tests.support.example_traces import example_trace


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


def test_padding_ends_at_the_model_s_longest_sequence(model):
    assert len(model_cache.trace(model, Request("tiny", "1 2 3", 16)).source_tokens) == 11


def test_a_trace_with_too_many_weights_is_refused(model, monkeypatch):
    monkeypatch.setattr(model_cache, "MOST_CELLS", 3 * 5 * 4**2)
    with pytest.raises(TraceSizeError, match="at most 4 tokens") as raised:
        model_cache.trace(model, Request("tiny", "1 2 3", 1))
    assert "4 个词元" in raised.value.in_language("zh")
    assert model_cache.trace(model, Request("tiny", "1 2 3", 0))
