from dataclasses import replace

import numpy as np
import pytest

from explorer.app import compared_texts, model_cache
from explorer.core.errors import TraceError
from explorer.core.look import Request
from explorer.model.catalog import UploadedModel
from tests.support.catalog_members import summary


@pytest.fixture
def model(explorable, request) -> UploadedModel:
    """An uploaded model; its stamp is new for each test, so that nothing is cached."""
    return UploadedModel("tiny", request.node.name, summary("123"), explorable)


def test_symbols_are_first_compared_with_the_other_way_round(model):
    assert compared_texts.initial_text(model, "1 2  3") == "3 2 1"


def test_two_texts_are_compared_once_and_with_as_much_padding(model):
    request = Request("tiny", "1 2 3", 1)
    compared = compared_texts.comparison(model, request, "3 2 1")
    assert compared_texts.comparison(model, request, "3 2 1") is compared
    other = model_cache.greedy_trace(model, replace(request, text="3 2 1"))
    assert len(compared.forced.source_tokens) == 5  # three symbols, the end, padding
    rows = len(compared.forced.target_tokens)
    expected = other.attention("cross")[:, :, :rows]
    np.testing.assert_allclose(compared.forced.attention("cross"), expected, atol=1e-6)


def test_a_text_of_another_length_is_refused(model):
    with pytest.raises(TraceError, match="“1 2 3” has 5"):
        compared_texts.comparison(model, Request("tiny", "1 2 3", 1), "1 2")
