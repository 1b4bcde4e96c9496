"""Against an independent float64 loop: each head's vector is carried up to the logits, where the
code under test takes the direction of the logits down."""

from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.core.vocabulary import BOS, EOS
from explorer.heads.contributions.logit_attribution import attribution_of, logit_attribution
from explorer.model.explorable import ExplorableModel, load
from explorer.model.hooks import recorded

ROOT = Path(__file__).parents[3]
ATTENTIONS = {"decoder": "self_attention", "cross": "cross_attention"}
LAYERS = 2


@torch.no_grad()
def attributed_one_by_one(model, text, steps):
    """(step, layer, site, head) → the part, and the differences; forced to the tokens of `steps`,
    (chosen, runner-up) ids."""
    double = deepcopy(model.transformer).double()
    source = torch.tensor([[*model.source_vocabulary.encode(text), EOS]])
    target = torch.tensor([[BOS, *(chosen for chosen, _ in steps[:-1])]])
    with recorded(double, "decoder.*", "logits.values") as values:
        double(source, target)

    def through(norm, read, vector):
        scale = ((read - read.mean()).pow(2).mean() + norm.eps).sqrt()
        return norm.weight * (vector - vector.mean()) / scale

    def to_logits(vector, step, layer, site):
        """`vector`, written by a sublayer, in the output of the decoder."""
        if model.transformer.config.norm == "pre":
            last = values[f"decoder.layers.{LAYERS - 1}.around_feed_forward.output"][0, step]
            return through(double.decoder.norm, last, vector)
        for above in range(layer, LAYERS):
            for name in ("self_attention", "cross_attention", "feed_forward"):
                path = f"decoder.layers.{above}.around_{name}"
                if above == layer and name == "self_attention" and site == "cross":
                    continue
                read = values[f"{path}.input"] + values[f"{path}.sublayer_output"]
                vector = through(double.get_submodule(path), read[0, step], vector)
        return vector

    parts = {}
    for layer, (site, attention) in product(range(LAYERS), ATTENTIONS.items()):
        path = f"decoder.layers.{layer}.{attention}"
        weight = double.get_submodule(f"{path}.output").weight
        mixed = values[f"{path}.head_output"][0]  # (head, step, width)
        for head, step in np.ndindex(mixed.shape[:2]):
            alone = torch.zeros(weight.size(1), dtype=torch.float64).view(len(mixed), -1)
            alone[head] = mixed[head, step]
            vector = to_logits(weight @ alone.flatten(), step, layer, site)
            chosen, other = double.logits.weight[list(steps[step])]
            parts[step + 1, layer, site, head] = float(vector @ chosen - vector @ other)
    logits = values["logits.values"][0]
    return parts, [float(row[a] - row[b]) for row, (a, b) in zip(logits, steps, strict=True)]


def chosen_and_runner_up(trace):
    steps = trace.steps()
    chosen = steps[steps.chosen].id.tolist()
    return [
        (token, next(int(i) for i in steps[steps.step == step].id if i != token))
        for step, token in enumerate(chosen, 1)
    ]


@pytest.mark.parametrize("options", [{}, {"target": "3 1"}], ids=["decoded", "forced"])
def test_each_part_is_that_of_a_loop_over_heads(normed_model, options):
    found = logit_attribution(normed_model, "1 2 3", **options)
    steps = chosen_and_runner_up(found.trace)
    parts, differences = attributed_one_by_one(normed_model, "1 2 3", steps)
    table = found.parts.set_index(["step", "layer", "site", "head"]).value
    places = product(range(1, len(steps) + 1), range(LAYERS), ATTENTIONS, range(3))
    assert table.index.tolist() == list(places)
    np.testing.assert_allclose(table, [parts[place] for place in table.index], atol=1e-5)
    np.testing.assert_allclose(found.difference, differences, atol=1e-5)
    labels = normed_model.target_vocabulary.labels([other for _, other in steps])
    assert found.runner_up == tuple(labels)


def test_parts_and_remainder_sum_to_the_difference_of_log_probabilities(normed_model):
    found = logit_attribution(normed_model, "3 1", pad_to=5, ablate=[("cross", 0, 1)])
    total = found.parts.groupby("step").value.sum().to_numpy() + found.remainder
    np.testing.assert_allclose(total, found.difference, atol=1e-4)
    steps = found.trace.steps()
    chosen = np.log(steps[steps.chosen].probability.to_numpy())
    others = np.log(steps[~steps.chosen].drop_duplicates("step").probability.to_numpy())
    np.testing.assert_allclose(found.difference, chosen - others, atol=1e-4)
    removed = found.parts.query("site == 'cross' and layer == 0 and head == 1")
    assert (removed.value == 0).all()


def test_that_of_a_trace_needs_no_further_decoding(normed_model):
    options = {"pad_to": 6, "force": {1: 5}}
    found = attribution_of(normed_model, normed_model.trace("1 2 3", **options))
    expected = logit_attribution(normed_model, "1 2 3", **options)
    np.testing.assert_allclose(found.parts.value, expected.parts.value, atol=1e-5)
    np.testing.assert_allclose(found.rest.value, expected.rest.value, atol=1e-5)
    np.testing.assert_allclose(found.difference, expected.difference, atol=1e-5)
    assert found.runner_up == expected.runner_up


def test_the_remainder_names_its_sources(normed_model):
    found = logit_attribution(normed_model, "1 2")
    first = found.rest[found.rest.step == 1]
    layers = {"feed_forward", "attention_bias"}
    alone = {"token", "position", "logit_bias"}
    (layers if normed_model.transformer.config.norm == "post" else alone).add("norm_bias")
    of_layers = first.dropna()
    assert sorted(zip(of_layers.layer, of_layers.part, strict=True)) == sorted(
        (layer, part) for layer in (0, 1) for part in layers
    )
    assert set(first[first.layer.isna()].part) == alone
    np.testing.assert_allclose(found.remainder[0], first.value.sum())


@pytest.fixture
def last_attention(explorable):
    """The cross-attention of a model with pre-norm whose last feed-forward adds nothing: what it
    writes has no effect but through the last LayerNorm."""
    last = explorable.transformer.decoder.layers[-1]
    with torch.no_grad():
        for weight in last.feed_forward.parameters():
            weight.zero_()
    return last.cross_attention


def scale(found):
    """Of the last LayerNorm, (step,)."""
    ends = found.trace.arrays["decoder.layer_output"][-1].astype(np.float64)
    return np.sqrt(ends.var(-1) + 1e-5)


def of_stream(found):
    """The difference before the last LayerNorm divides it: linear in the residual stream."""
    constant = found.rest[found.rest.part.isin(["norm_bias", "logit_bias"])]
    return (found.difference - constant.groupby("step").value.sum().to_numpy()) * scale(found)


def test_the_part_of_a_head_of_the_last_attention_is_what_its_removal_takes(
    explorable, last_attention
):
    before = logit_attribution(explorable, "1 2 3", target="1 1")
    for head in range(3):
        removed = [("cross", 1, head)]
        after = logit_attribution(explorable, "1 2 3", target="1 1", ablate=removed)
        same = np.array(after.runner_up) == np.array(before.runner_up)
        assert same.any()
        parts = before.parts.query(f"site == 'cross' and layer == 1 and head == {head}").value
        taken = of_stream(before) - of_stream(after)
        np.testing.assert_allclose((parts.to_numpy() * scale(before))[same], taken[same], atol=1e-5)


def test_the_bias_of_the_last_attention_is_what_its_removal_takes(explorable, last_attention):
    before = logit_attribution(explorable, "1 2 3", target="1 1")
    with torch.no_grad():
        last_attention.output.bias.zero_()
    after = logit_attribution(explorable, "1 2 3", target="1 1")
    assert after.runner_up == before.runner_up
    biases = [
        found.rest.query("part == 'attention_bias' and layer == 1").value * scale(found)
        for found in (before, after)  # after: that of the decoder's self-attention alone
    ]
    taken = of_stream(before) - of_stream(after)
    np.testing.assert_allclose(biases[0].to_numpy() - biases[1].to_numpy(), taken, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "text"),
    [("reverse", "7 3 9 1 4"), ("english-french", "I do not like the black cat.")],
)
def test_the_sums_hold_for_shipped_models(name, text):
    found = logit_attribution(load(ROOT / f"checkpoints/{name}.safetensors"), text)
    total = found.parts.groupby("step").value.sum().to_numpy() + found.remainder
    np.testing.assert_allclose(total, found.difference, atol=1e-4)
    assert (found.difference > 0).all()  # greedy: each step chooses the most probable token


def test_in_reverse_the_heads_that_read_the_source_speak_for_the_chosen_token():
    found = logit_attribution(load(ROOT / "checkpoints/reverse.safetensors"), "7 3 9 1 4")
    by_site = found.parts.groupby("site").value.sum()
    assert by_site.cross > 5 * abs(by_site.decoder)


def test_its_repr_is_short(explorable):
    found = logit_attribution(explorable, "1 2", target="2 1")
    assert repr(found) == "LogitAttribution('2 1': 3 steps, 12 heads)"


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_parts_of_a_decoder_alone_sum_to_the_difference(continuing, make_model, norm):
    config = replace(continuing.transformer.config, norm=norm)
    checkpoint = replace(continuing.checkpoint, model=make_model(config, seed=5))
    found = logit_attribution(ExplorableModel(checkpoint, norm), "1 2 3")
    total = found.parts.groupby("step").value.sum().to_numpy() + found.remainder
    np.testing.assert_allclose(total, found.difference, atol=1e-4)
    assert set(found.parts.site) == {"decoder"}
    assert (found.rest[found.rest.part == "logit_bias"].value == 0).all()
