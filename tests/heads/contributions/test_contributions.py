from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from explorer.core.errors import ConfigError, VocabularyError
from explorer.heads.contributions.contributions import METHODS, contributions
from explorer.heads.contributions.contributions_result import Contributions
from explorer.model.checkpoint import Checkpoint
from explorer.model.explorable import ExplorableModel
from tests.support.slow_contributions import SlowContributions, alti, norm, rollout

SHARES = {"alti": alti, "value_norm_residual": norm, "rollout": rollout}
SUM_TO_1 = [*SHARES, "value_norm"]


@pytest.fixture(params=["pre", "post"])
def tiny(request, explorable, make_model) -> ExplorableModel:
    """As `explorable`, with two layers of the encoder and both kinds of norm."""
    model = explorable.transformer
    config = replace(model.config, encoder_layers=2, norm=request.param)
    vocabulary = explorable.source_vocabulary
    return ExplorableModel(Checkpoint(make_model(config, 5), vocabulary, vocabulary, {}), "two")


@pytest.mark.parametrize("method", SHARES)
def test_a_slow_implementation_agrees(tiny, method):
    found = contributions(tiny, "1 2 <b> 3", method, target="3 3 2 1")
    slow = SlowContributions(tiny.transformer, SHARES[method])
    expected = slow.matrix([3, 4, 6, 5, 2], [1, 5, 5, 4, 3])
    np.testing.assert_allclose(found.matrix, expected, rtol=0, atol=1e-5)


def test_a_slow_implementation_of_value_norms_agrees(tiny):
    found = contributions(tiny, "1 2 <b> 3", "value_norm", target="3 3 2 1")
    slow = SlowContributions(tiny.transformer, norm)
    slow.matrix([3, 4, 6, 5, 2], [1, 5, 5, 4, 3])
    lengths = {
        site: [(added**2).sum(-1) ** 0.5 for own, added in slow.added if own == site]
        for site in ("decoder", "cross")
    }
    expected = np.zeros((5, 10))
    for prefix, source in zip(lengths["decoder"], lengths["cross"], strict=True):
        row = np.concatenate([source, prefix], 1)
        expected += row / row.sum(-1, keepdims=True) / 2
    np.testing.assert_allclose(found.matrix, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", SUM_TO_1)
def test_rows_sum_to_one_and_nothing_comes_from_later_positions(tiny, method):
    found = contributions(tiny, "3 2 1 甲", method)
    rows, source = len(found.predicted_tokens), len(found.source_tokens)
    assert found.matrix.shape == (rows, source + rows)
    np.testing.assert_allclose(found.matrix.sum(-1), 1, atol=1e-9)
    assert (found.matrix >= 0).all()
    assert not found.matrix[:, source:][~np.tri(rows, dtype=bool)].any()
    np.testing.assert_allclose(found.source_share, found.matrix[:, :source].sum(-1))


@pytest.mark.parametrize("method", METHODS)
def test_the_tokens_are_those_of_a_trace(explorable, method):
    trace = explorable.trace("1 2 3")
    found = contributions(explorable, "1 2 3", method)
    assert found.source_tokens == trace.source_tokens
    assert found.target_tokens == trace.target_tokens
    assert found.predicted_tokens == trace.predicted_tokens
    assert found.tokens == (*trace.source_tokens, *trace.target_tokens)
    assert found.method == method
    forced = contributions(explorable, "1 2 3", method, target="3 2")
    assert forced.predicted_tokens == ("3", "2", "<eos>")


def small() -> Contributions:
    matrix = np.array([[0.5, 0.25, 0.25, 0], [0.5, -0.5, 0, 1.5]])
    return Contributions("alti", "m", ("a", "b"), ("<bos>", "x"), ("x", "<eos>"), matrix)


def test_the_share_of_the_source_counts_what_is_positive():
    assert small().source_share.tolist() == [0.75, 0.25]
    nothing = replace(small(), matrix=np.zeros((2, 4)))
    assert np.isnan(nothing.source_share).all()


def test_the_table_has_a_row_for_each_cell_that_a_step_can_use():
    expected = pd.DataFrame(
        [
            (1, "x", "source", 0, "a", 0.5),
            (1, "x", "source", 1, "b", 0.25),
            (1, "x", "prefix", 0, "<bos>", 0.25),
            (2, "<eos>", "source", 0, "a", 0.5),
            (2, "<eos>", "source", 1, "b", -0.5),
            (2, "<eos>", "prefix", 0, "<bos>", 0.0),
            (2, "<eos>", "prefix", 1, "x", 1.5),
        ],
        columns=["step", "predicted", "side", "position", "token", "value"],
    )
    pd.testing.assert_frame_equal(small().table(), expected, check_dtype=False)


def test_the_repr_fits_on_a_line():
    assert repr(small()) == "Contributions(alti of 'm': 2 rows, 2 source + 2 prefix tokens)"


@pytest.mark.parametrize("method", ["attention", "", None, 3, ["alti"]])
def test_a_method_that_does_not_exist_is_refused(explorable, method):
    with pytest.raises(ConfigError, match=r"method is .* choose one of alti"):
        contributions(explorable, "1", method)


@pytest.mark.parametrize("method", METHODS)
def test_texts_that_cannot_be_read_are_refused_as_those_of_a_trace(explorable, method):
    for text, target in [("", None), ("1 " * 11, None), (5, None), ("9", None), ("1", "1 " * 11)]:
        with pytest.raises(VocabularyError) as traced:
            explorable.trace(text, target=target)
        with pytest.raises(VocabularyError) as caught:
            contributions(explorable, text, method, target=target)
        assert str(caught.value) == str(traced.value)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_looks_ahead_has_later_positions(make_model, explorable, method):
    config = replace(explorable.transformer.config, causal=False)
    vocabulary = explorable.source_vocabulary
    model = ExplorableModel(Checkpoint(make_model(config), vocabulary, vocabulary, {}), "leak")
    found = contributions(model, "1 2 3", method, target="3 2 1")
    assert (found.matrix[0, 5:] != 0).all()
    assert len(found.table()) == found.matrix.size


@pytest.mark.parametrize("method", SHARES)
def test_a_slow_implementation_of_a_decoder_alone_agrees(continuing, method):
    found = contributions(continuing, "1 2 <b>", method, target="3 3")
    slow = SlowContributions(continuing.transformer, SHARES[method])
    expected = slow.matrix([], [1, 3, 4, 6, 5, 5])
    np.testing.assert_allclose(found.matrix, expected, rtol=0, atol=1e-5)
    assert found.source_tokens == ()
    assert found.predicted_tokens == ("1", "2", "<b>", "3", "3", "<eos>")
    np.testing.assert_allclose(found.matrix.sum(-1), 1, atol=1e-9)
    assert not found.source_share.any()


@pytest.mark.parametrize("method", METHODS)
def test_a_decoder_alone_continues_the_text(continuing, method):
    found, trace = contributions(continuing, "1 2 <b>", method), continuing.trace("1 2 <b>")
    assert found.target_tokens == trace.target_tokens
    assert found.predicted_tokens == trace.predicted_tokens
    assert found.matrix.shape == (len(trace.target_tokens),) * 2
