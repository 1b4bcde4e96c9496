import pytest
import torch

from explorer.core.vocabulary import PAD
from explorer.heads.evaluation_batches import line_sentences, task_sentences, token_losses
from explorer.heads.gradient_importance import gate_gradients, importance
from explorer.model.attention_paths import all_heads, attentions
from explorer.model.intervention_hooks import gated


def loss_of(explorable, one, gates) -> float:
    """The mean loss of a token of one sentence, in double precision."""
    model = explorable.transformer
    with torch.no_grad(), gated(model, gates):
        losses = token_losses(model(one.source, one.queries), one.labels)
    return (losses.sum() / (one.labels != PAD).sum()).item()


def test_gradients_equal_central_differences(explorable):
    """Each gate of each sentence, one at a time."""
    explorable.transformer.double()
    config, step = explorable.transformer.config, 1e-5
    order = attentions(config)
    try:
        torch.set_default_dtype(torch.float64)
        for part in task_sentences(explorable, 4).parts():
            gradients = gate_gradients(explorable.transformer, part)
            for number, one in enumerate(part.parts(1)):
                for site, layer, head in all_heads(config):
                    at = (0, order.index((site, layer)), head)
                    up, down = torch.ones(2, 1, len(order), config.heads)
                    up[at] += step
                    down[at] -= step
                    slope = loss_of(explorable, one, up) - loss_of(explorable, one, down)
                    own = gradients[number, at[1], head].item()
                    assert own == pytest.approx(slope / (2 * step), abs=1e-6)
    finally:
        torch.set_default_dtype(torch.float32)


def test_importance_is_the_mean_over_sentences_of_absolute_gradients(explorable):
    batch = task_sentences(explorable, 30)
    slopes = [gate_gradients(explorable.transformer, one).abs().flatten() for one in batch.parts(1)]
    table = importance(explorable, batch)
    expected = torch.stack(slopes).mean(0).tolist()
    assert table.importance.tolist() == pytest.approx(expected, rel=1e-3, abs=1e-7)
    assert (table.importance > 0).all()
    assert (table.importance_low <= table.importance).all()
    assert (table.importance <= table.importance_high).all()


@torch.no_grad()
def test_importance_works_without_grad_mode_and_sets_no_gradients(explorable):
    shares: list[float] = []
    table = importance(explorable, line_sentences(explorable, ["1 2", "甲"], "x"), shares.append)
    assert (table.importance > 0).all()
    assert shares[-1] == 1
    assert all(weight.grad is None for weight in explorable.transformer.parameters())
