from types import SimpleNamespace

import numpy as np
import pytest
import torch

from explorer.core.interventions import Interventions
from explorer.model.huggingface.anatomy import Anatomy, Kind, Place
from explorer.model.huggingface.capture.recording import Recording
from explorer.model.huggingface.inputs import Inputs

TEXT = "5 17 8 41 9 23"
ANATOMY = Anatomy(
    Kind.ENCODER_DECODER,
    (Place("encoder", 0, 0, 2, 4),),
    (
        Place("decoder", 0, 0, 2, 4),
        Place("cross", 0, 0, 2, 4),
        Place("decoder", 1, 1, 2, 4),
        Place("cross", 1, 1, 2, 4),
    ),
)


def call(value):
    given = {"mask": None, "given": None, "module": None, "options": {}}
    states = torch.zeros(1, 2, 3, 4)
    return SimpleNamespace(
        weights=torch.full((1, 2, 3, 3), value), query=states, key=states, **given
    )


def test_only_the_weights_of_chosen_layers_are_kept_and_compared():
    recording = Recording(ANATOMY, {"cross": (1,)}, full=False)
    keep, compare = recording.keep(), recording.compare()
    keep["encoder"](0, call(0.1))
    for index in range(4):
        keep["decoder"](index, call(index / 8))
    compare["encoder"](0, call(0.9))
    compare["decoder"](1, call(0.9))
    assert recording.difference == 0
    compare["decoder"](3, call(0.5))
    assert recording.difference == 0.125
    side = torch.ones(1, 3, dtype=torch.long)
    arrays = recording.finished(Inputs(side, side, side, side), Interventions())
    assert sorted(arrays) == ["cross.attention", "cross.closed"]
    assert arrays["cross.attention"].shape == (1, 2, 3, 3)
    assert np.unique(arrays["cross.attention"]).tolist() == [0.375]
    assert not arrays["cross.closed"].any()


def test_the_masks_of_all_layers_are_kept():
    recording = Recording(ANATOMY, {"cross": (1,)}, full=False)
    for index in range(4):
        recording.keep()["decoder"](index, call(0.5))
    (cell,) = Interventions.gather(edit_mask=[("decoder", None, None, 1, 2)]).edit_mask
    assert recording.unmasked(cell).tolist() == [[True, True], [True, True]]


@pytest.mark.parametrize("name", ["marian", "llama", "gemma2", "bert"])
def test_full_capture_gives_what_the_weights_are_made_of(opened, name):
    model = opened(name)
    most = None if name == "bert" else 3
    trace = model.trace(TEXT, capture="full", max_new_tokens=most)
    for site in trace.sites:
        for layer in range(len(trace.attention(site))):
            mask = trace.mask(site, layer, 0)
            scores = np.where(mask, trace.scores(site)[layer].astype(np.float64), -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            np.testing.assert_allclose(trace.attention(site)[layer], weights, atol=1e-6)
        queries, keys = trace.query_vectors(site), trace.key_vectors(site)
        config = model.model.config
        divisor = getattr(config, "query_pre_attn_scalar", queries.shape[-1])
        products = queries @ keys.swapaxes(-1, -2) / np.sqrt(divisor)
        if name == "gemma2":
            products = np.tanh(products / config.attn_logit_softcapping)
            products = products * config.attn_logit_softcapping
        np.testing.assert_allclose(trace.scores(site), products, atol=1e-5)
        mixed = trace.attention(site) @ trace.values(site)
        np.testing.assert_allclose(trace.head_output(site), mixed, atol=1e-5)


def test_a_sink_takes_the_rest_of_each_row_but_of_one_that_was_set(opened):
    model = opened("gpt_oss")
    plain = model.trace(TEXT, max_new_tokens=2)
    sink = plain.arrays["decoder.sink"]
    total = plain.attention("decoder").sum(-1) + sink
    np.testing.assert_allclose(total, np.ones_like(total), atol=1e-5)
    edited = model.trace(TEXT, override_row=[("decoder", 0, 1, 2, (1.0, 1.0))], max_new_tokens=2)
    assert edited.arrays["decoder.sink"][0, 1, 2] == 0
    assert (sink > 0).all()
    assert "decoder.sink" not in opened("llama").trace(TEXT, max_new_tokens=2).arrays
