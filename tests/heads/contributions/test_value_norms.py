import numpy as np
import pytest
import torch

from explorer.core.errors import TraceError
from explorer.heads.contributions.value_norms import value_norms
from explorer.model.hooks import capture, path


def test_value_norms_are_those_of_the_vectors_that_are_added(explorable):
    """Each vector by itself, from the weights of the model: A · (x W_V + b_V) W_O for one head."""
    trace = explorable.trace("1 2 3", capture="full", pad_to=6)
    norms = value_norms(explorable, trace)
    model = explorable.transformer
    with torch.no_grad(), capture(model, "*.values") as values:
        source = torch.tensor([[3, 4, 5, 2, 0, 0]])
        ids = [1, *explorable.target_vocabulary.encode(" ".join(trace.target_tokens[1:]))]
        model(source, torch.tensor([ids]))
    for site, layer in model.config.attentions:
        value = values[path(site, layer, "values")][0]  # (head, key, K)
        output = model.get_submodule(path(site, layer, "output"))
        for head in range(3):
            alone = torch.zeros(value.size(1), 12)
            alone[:, head * 4 : (head + 1) * 4] = value[head]
            vectors = output(alone) - output.bias  # (key, D)
            expected = trace.attention(site)[layer, head] * vectors.norm(dim=-1).detach().numpy()
            np.testing.assert_allclose(norms[site][layer, head], expected, rtol=1e-4, atol=1e-6)
    sums = norms["cross"].sum(-1)
    assert np.abs(sums - 1).max() > 0.01


def test_value_norms_need_a_full_capture(explorable):
    with pytest.raises(TraceError):
        value_norms(explorable, explorable.trace("1"))
