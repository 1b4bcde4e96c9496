"""Nothing that is measured of a model depends on its kind of norm or of positions."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from explorer.heads.contributions.contributions import METHODS, contributions
from explorer.heads.contributions.logit_attribution import logit_attribution
from explorer.heads.contributions.score_parts import score_parts
from explorer.model.checkpoint import Checkpoint
from explorer.model.explorable import ExplorableModel
from tests.support.transformer_variants import with_rms_norms, with_rotary_positions

TEXT = "1 2 <b> 3"
VARIANTS = list(product(("pre", "post"), ("layer", "rms"), ("sinusoids", "rotary"), (1, 0)))


@pytest.fixture(params=VARIANTS, ids=lambda variant: "-".join(map(str, variant)))
def variant(request, explorable, make_model):
    norm, kind, positions, encoder_layers = request.param
    checkpoint = explorable.checkpoint
    config = replace(checkpoint.model.config, norm=norm, encoder_layers=encoder_layers)
    model = make_model(config, seed=3)
    model = with_rms_norms(model) if kind == "rms" else model
    model = with_rotary_positions(model) if positions == "rotary" else model
    return ExplorableModel(Checkpoint(model, *[checkpoint.source_vocabulary] * 2, {}), "variant")


def test_a_trace_is_what_the_model_computes(variant):
    trace = variant.trace(TEXT, max_new_tokens=4, ablate=[("decoder", 0, 1)])
    assert trace.integrity().ok.all()


def test_attribution_and_score_parts_sum_to_the_scores(variant):
    options = {"target": "3 2 1"}
    found = logit_attribution(variant, TEXT, **options)
    of_heads = found.parts.groupby("step").value.sum()
    np.testing.assert_allclose(of_heads + found.remainder, found.difference, atol=1e-5)
    for site in found.trace.sites:
        last = len(found.trace.attention(site)) - 1
        parts = score_parts(variant, TEXT, site, last, 1, 2, 1, **options)
        assert parts.parts.value.sum() == pytest.approx(parts.score, abs=2e-6)


def test_every_method_gives_contributions(variant):
    for method in METHODS:
        matrix = contributions(variant, TEXT, method, target="3 2 1").matrix
        assert np.isfinite(matrix).all()
        if method != "leave_one_out":
            np.testing.assert_allclose(matrix.sum(-1), 1, atol=1e-5)
        else:  # nats, as docs/studies.md says
            assert np.abs(matrix.sum(-1) - 1).max() > 0.1


def test_without_positions_the_order_of_the_source_changes_nothing(variant):
    if variant.transformer.config.decoder_only:
        pytest.skip("the mask shows the order of a prompt")
    texts, options = ("1 2 3", "2 1 3"), {"target": "3 2 1"}
    one, other = (variant.trace(text, without=["positions"], **options) for text in texts)
    np.testing.assert_allclose(one.losses, other.losses, atol=1e-5)
    one, other = (variant.trace(text, **options) for text in texts)
    assert np.abs(one.losses - other.losses).max() > 1e-4
