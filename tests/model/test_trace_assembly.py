from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import TraceError
from explorer.core.vocabulary import EOS, SymbolVocabulary
from explorer.model.checkpoint import Checkpoint
from explorer.model.explorable import ExplorableModel
from explorer.model.row_logits import RowLogits
from explorer.model.trace_assembly import Decoded, assembled


def test_a_trace_has_the_tokens_that_were_fed_in_and_predicted(explorable):
    """Symbols 1 2 3 have the ids 3 4 5; the logits prefer the chosen ones, but for the forced."""
    chosen = torch.tensor([5, 3, EOS])
    logits = torch.zeros(3, 8)
    logits[[0, 1, 2], [5, 4, EOS]] = 3.0
    decoded = Decoded(torch.tensor([3, 4, EOS]), chosen, RowLogits.of(logits[None]), frozenset({2}))
    arrays = {
        "cross.attention": np.full((1, 1, 3, 3), 1 / 3, np.float32),
        "cross.closed": np.zeros((3, 3), np.uint8),
    }
    trace = assembled(explorable.checkpoint, decoded, arrays, {}, {"model": "tiny"})
    assert trace.source_tokens == ("1", "2", "<eos>")
    assert trace.target_tokens == ("<bos>", "3", "1")
    assert trace.predicted_tokens == ("3", "1", "<eos>")
    assert trace.text == "3 1"
    assert trace.facts["ended"]
    steps = trace.steps()
    assert steps[steps.chosen].token.tolist() == ["3", "1", "<eos>"]
    assert steps[steps.forced].step.unique().tolist() == [2]
    share = torch.tensor([3.0, *[0.0] * 7]).softmax(0)[0].item()
    chosen = steps[(steps.step == 1) & steps.chosen].probability.item()
    assert chosen == pytest.approx(share, abs=1e-6)  # another order of the sum on each processor
    assert trace.arrays["gold"][:2].tolist() == [[False, True, False], [True, False, False]]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_prediction_after_each_layer_is_that_of_a_model_that_ends_there(
    make_model, explorable, norm
):
    model = make_model(replace(explorable.transformer.config, norm=norm), seed=5)
    whole = replace(explorable.checkpoint, model=model)
    trace = ExplorableModel(whole, "tiny").trace("1 2 3", target="2 1", capture="full")
    table = trace.early_predictions()
    for layer in range(2):
        shorter = make_model(replace(model.config, decoder_layers=layer + 1))
        shorter.load_state_dict(model.state_dict(), strict=False)
        short = ExplorableModel(replace(whole, model=shorter), "short")
        expected = short.trace("1 2 3", target="2 1").steps().query("rank <= 3")
        found = table[table.layer == layer]
        assert found.token.tolist() == expected.token.tolist()
        np.testing.assert_allclose(found.probability, expected.probability, atol=1e-6)
    one = ExplorableModel(whole, "tiny").trace("1 2 3", target="2 1", capture="full", layers=[1])
    own = table[table.layer == 1].probability
    np.testing.assert_allclose(one.early_predictions().probability, own, atol=1e-6)
    assert set(one.early_predictions().layer) == {1}
    with pytest.raises(TraceError, match="early predictions"):
        explorable.trace("1 2").early_predictions()


def test_a_vocabulary_of_one_symbol_has_fewer_predictions(make_model, explorable):
    config = replace(explorable.transformer.config, source_vocabulary=4, target_vocabulary=4)
    vocabulary = SymbolVocabulary(("1",))
    checkpoint = Checkpoint(make_model(config), vocabulary, vocabulary, {})
    trace = ExplorableModel(checkpoint, "one").trace("1 1", target="1", capture="full")
    assert set(trace.early_predictions()["rank"]) == {1, 2}
