"""`model.run` of models of the library."""

import numpy as np
import pytest
import torch

from explorer.core.errors import InterventionError, PointError
from explorer.model.points import Point
from explorer.model.text_run import points, run


def uniform(pattern):
    return torch.full_like(pattern, 1 / pattern.size(-1))


@pytest.mark.parametrize("name", ["gpt2", "bart", "bert"])
def test_models_of_the_library_take_the_same_call(opened, name):
    model = opened(name)
    plain = run(model, "5 17 8")
    trace = plain.trace
    for kind in model.passes.read_kinds:
        for point in points(model, kind):
            found = run(model, trace, read=[point])
            torch.testing.assert_close(found.logits, plain.logits)
            assert len(found.values[point]) == 1
    for site in trace.sites:
        point = Point("pattern", site, 0)
        found = run(model, trace, {point: uniform}, read=[point])
        assert found.values[point].unique().numel() == 1
        assert (found.logits - plain.logits).abs().max() > 1e-6
        given = run(model, trace, read=[point]).values[point][0]
        np.testing.assert_allclose(given, trace.attention(site)[0], atol=1e-6)
    for kind in model.passes.changed_kinds:
        point = points(model, kind)[0]
        change = torch.zeros_like if kind != "mask" else lambda mask: torch.ones_like(mask).tril(-1)
        found = run(model, trace, {point: change})
        assert (found.logits - plain.logits).abs().max() > 1e-6, kind
    in_place = run(model, trace, {Point("pattern", trace.sites[0], 0): lambda value: value.zero_()})
    zeros = run(model, trace, {Point("pattern", trace.sites[0], 0): torch.zeros_like})
    assert torch.equal(in_place.logits, zeros.logits)
    with pytest.raises(PointError, match="it can change mask, pattern"):
        run(model, trace, {Point("scores", trace.sites[0], 0): torch.zeros_like})


def test_a_value_is_read_before_the_library_adds_to_it_in_place(opened):
    model, point = opened("gpt2"), Point("residual", "decoder", 0)
    plain = run(model, "5 17 8", read=[point])
    second = model.model.transformer.h[1]
    adding = second.register_forward_pre_hook(lambda _, given: given[0].add_(1))
    try:
        added = run(model, plain.trace, read=[point])
    finally:
        adding.remove()
    assert torch.equal(added.values[point], plain.values[point])
    assert not torch.equal(added.logits, plain.logits)


def test_of_a_family_whose_weights_alone_are_known_the_weights_are_read(opened):
    model = opened("gpt_neo")
    trace = model.trace("5 17 8", max_new_tokens=1)
    point = Point("pattern", "decoder", 0)
    weights = run(model, trace, read=[point]).values[point][0]
    np.testing.assert_allclose(weights, trace.attention("decoder")[0], atol=1e-6)
    with pytest.raises(PointError, match="cannot be read in this model; it can read mask, pattern"):
        run(model, trace, read=[Point("heads", "decoder", 0)])
    with pytest.raises((PointError, InterventionError)):
        run(model, trace, {point: uniform})
