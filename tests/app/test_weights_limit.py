from dataclasses import replace

import pytest

from explorer.app import model_cache, weights_limit
from explorer.core.errors import TraceSizeError
from explorer.core.look import Request
from explorer.model.catalog import UploadedModel
from tests.support.catalog_members import summary


def test_what_has_too_many_weights_is_not_compared(explorable, monkeypatch):
    model = UploadedModel("tiny", "of the limit", summary("123"), explorable)
    trace = model_cache.greedy_trace(model, Request("tiny", "1 2 3"))
    cells = sum(trace.attention(site).size for site in trace.sites)
    monkeypatch.setattr(weights_limit, "MOST_CELLS", cells)
    weights_limit.refuse_large(trace)
    padded = model_cache.greedy_trace(model, Request("tiny", "1 2 3", 2))
    assert padded.source_tokens[-2:] == ("<pad>", "<pad>")
    weights_limit.refuse_large(padded)  # the visitor's text is no longer
    foreign = (*padded.source_tokens[:-2], "[PAD]", "[PAD]")
    weights_limit.refuse_large(replace(padded, source_tokens=foreign, digest=""))
    monkeypatch.setattr(weights_limit, "MOST_CELLS", cells - 1)
    with pytest.raises(TraceSizeError, match=f"has {cells:,} weights"):
        weights_limit.refuse_large(trace)
