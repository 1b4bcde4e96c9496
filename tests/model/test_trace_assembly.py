import numpy as np
import pytest
import torch

from explorer.core.vocabulary import EOS
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
