"""`capture` of attention that people write themselves: weights equal exp and sums in float64 of its
own maps, sites and layers follow from paths, and what cannot be read is refused by name."""

import sys
from types import ModuleType

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.model.module_capture import capture
from tests.support.attention_modules import (
    HEADS,
    WIDTH,
    ByHandCausal,
    ContextPair,
    FusedCausal,
    JoinedHeads,
    Language,
    MultiHeaded,
    Pair,
    SeparateHeads,
    shaken,
    split,
)

IDS = torch.tensor([[4, 1, 7, 7, 2]])


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def softmaxed(scores, allowed=None):
    """Rows of exp(scores) / sum in float64; allowed: (query, key)."""
    scores = scores.detach().double().numpy()
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    powers = powers if allowed is None else powers * np.asarray(allowed)
    return powers / powers.sum(-1, keepdims=True)


def of_maps(query, key, x, context, allowed=None):
    """Weights (head, query, key) of two linear maps over (T, D) and (S, D), and their scores."""
    width = WIDTH // HEADS
    with torch.no_grad():
        q, k = (one.unflatten(-1, (-1, width)) for one in (query(x), key(context)))
        scores = torch.einsum("ihd,jhd->hij", q, k.expand(-1, HEADS, -1)) / width**0.5
    return softmaxed(scores, allowed), scores.numpy()


def refused(key, *given, contains="", **options):
    with pytest.raises(TraceError) as caught:
        capture(*given, **options)
    assert caught.value.key == key
    assert contains in str(caught.value)
    assert contains in caught.value.in_language("zh")


@pytest.mark.parametrize("kind", [FusedCausal, ByHandCausal])
def test_a_language_model_in_the_shape_of_nanogpt(kind):
    model = shaken(Language(lambda: kind(dropout=0.5))).train()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    trace = capture(model, IDS, target_tokens=IDS[0].tolist())
    assert trace.sites == ("decoder",)
    assert trace.facts["modules"] == {"decoder": ["h.0.attn", "h.1.attn"]}
    assert (trace.mask("decoder") == np.tri(5, dtype=bool)).all()
    with torch.no_grad():
        x = model.wte(IDS[0]) + model.wpe(torch.arange(5))
        for layer, block in enumerate(model.h):
            y = block.ln_1(x)
            maps = (
                lambda given, part=part, fused=block.attn.c_attn: fused(given)[
                    ..., part * WIDTH : (part + 1) * WIDTH
                ]
                for part in (0, 1)
            )
            weights, scores = of_maps(*maps, y, y, np.tri(5))
            np.testing.assert_allclose(trace.attention("decoder")[layer], weights, atol=1e-6)
            np.testing.assert_allclose(trace.scores("decoder")[layer], scores, atol=1e-5)
            x = x + block.attn.eval()(y[None])[0]
    checks = trace.integrity().set_index("check")
    assert checks.ok.all()
    assert ("recomputed_equals_output" in checks.index) == (kind is FusedCausal)
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name])
    assert trace.to_bytes() == Trace.from_bytes(trace.to_bytes()).to_bytes()


def test_queries_keys_and_values_of_the_function_are_those_of_its_call():
    part, x = shaken(FusedCausal()), torch.randn(1, 5, WIDTH)
    trace = capture(part, x)
    assert trace.facts["modules"] == {"decoder": [""]}
    with torch.no_grad():
        q, k, v = (split(one)[0].numpy() for one in part.c_attn(x).split(WIDTH, dim=2))
    np.testing.assert_array_equal(trace.query_vectors("decoder")[0], q)
    np.testing.assert_array_equal(trace.key_vectors("decoder")[0], k)
    np.testing.assert_array_equal(trace.values("decoder")[0], v)
    mixed = trace.attention("decoder")[0] @ v
    np.testing.assert_allclose(trace.head_output("decoder")[0], mixed, atol=1e-6)
    scale = trace.arrays["decoder.score_scale"]
    np.testing.assert_allclose(scale, [(WIDTH // HEADS) ** -0.5])


class Attends(nn.Module):
    """The function of torch with any arguments."""

    def forward(self, query, key, value, **options):
        return F.scaled_dot_product_attention(query, key, value, **options)


def test_masks_scale_and_grouped_heads_of_the_function():
    """In its boolean mask True means may attend, the opposite of nn.MultiheadAttention."""
    query, key = torch.randn(2, 4, 3, 8), torch.randn(2, 2, 6, 8)
    allowed = torch.ones(2, 1, 3, 6, dtype=torch.bool)
    allowed[1, :, :, 4:] = False
    allowed[1, :, 2, 1] = False
    options = {"attn_mask": allowed, "scale": 0.7, "enable_gqa": True}
    trace = capture(Attends(), query, key, key, item=1, **options)
    assert trace.sites == ("cross",)
    grouped = key[1].repeat_interleave(2, 0)  # (4, 6, 8)
    scores = torch.einsum("hid,hjd->hij", query[1], grouped) * 0.7
    expected = softmaxed(scores, allowed[1])
    np.testing.assert_allclose(trace.attention("cross")[0], expected, atol=1e-6)
    assert (trace.mask_reason("cross")[:, 4:] == "padding").all()
    assert trace.mask_reason("cross")[2, 1] == "edited"
    np.testing.assert_array_equal(trace.key_vectors("cross")[0], grouped)
    np.testing.assert_allclose(trace.arrays["cross.score_scale"], [0.7])
    assert trace.integrity().ok.all()


def test_numbers_that_are_added_are_in_the_scores_and_no_mask_unless_they_are_large():
    x, slope = torch.randn(1, 2, 5, 8), -torch.arange(25.0).view(5, 5)
    mask = slope.masked_fill(torch.ones(5, 5).triu(1) > 0, -1e9)
    trace = capture(Attends(), x, x, x, attn_mask=mask)
    scores = torch.einsum("hid,hjd->hij", x[0], x[0]) / 8**0.5 + slope
    np.testing.assert_allclose(
        trace.attention("decoder")[0], softmaxed(scores, np.tri(5)), atol=1e-6
    )
    open_cells = np.tri(5, dtype=bool)
    assert (trace.mask("decoder") == open_cells).all()
    np.testing.assert_allclose(
        trace.scores("decoder")[0][:, open_cells], scores[:, open_cells], rtol=1e-5, atol=1e-5
    )


def test_keys_that_are_no_tokens_are_named():
    class Remembering(FusedCausal):
        def forward(self, x):
            q, k, v = map(split, self.c_attn(x).split(WIDTH, dim=2))
            k, v = (torch.cat([one, one[:, :, :2]], dim=2) for one in (k, v))
            return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)

    refused("capture_other_keys", Language(Remembering), IDS, contains="h.0.attn")


def test_dropout_in_eval_mode_is_named():
    x = torch.randn(1, 2, 5, 8)
    refused("capture_other_output", Attends(), x, x, x, dropout_p=0.5, contains="dropout_p")


def test_half_precision_of_the_function():
    part, x = shaken(FusedCausal()), torch.randn(1, 5, WIDTH)
    expected = capture(part, x).attention("decoder")
    half = capture(part.to(torch.bfloat16), x.to(torch.bfloat16))
    assert half.facts["precision"] == "half"
    assert half.integrity().ok.all()
    np.testing.assert_allclose(half.attention("decoder"), expected, atol=0.03)


@pytest.mark.parametrize("source", [6, 4])
def test_an_encoder_and_a_decoder_in_the_shape_of_the_annotated_transformer(source):
    """With as many tokens on both sides, too."""
    model = shaken(Pair(MultiHeaded))
    x, y = torch.randn(2, source, WIDTH), torch.randn(2, 4, WIDTH)
    source_mask = torch.ones(2, 1, source)
    source_mask[1, :, -1] = 0
    trace = capture(model, x, y, source_mask, torch.ones(1, 4, 4).tril(), item=1)
    layers = (0, 1)
    assert trace.facts["modules"] == {
        "encoder": [f"encoder.layers.{layer}.self_attn" for layer in layers],
        "decoder": [f"decoder.layers.{layer}.self_attn" for layer in layers],
        "cross": [f"decoder.layers.{layer}.src_attn" for layer in layers],
    }
    first, open_keys = model.encoder["layers"][0], source_mask[1]
    z = first.norms[0](x[1])
    weights, scores = of_maps(*first.self_attn.linears[:2], z, z, open_keys)
    np.testing.assert_allclose(trace.attention("encoder")[0], weights, atol=1e-6)
    np.testing.assert_allclose(trace.scores("encoder")[0], scores, atol=1e-5)
    first = model.decoder["layers"][0]
    z = first.norms[0](y[1])
    weights, _ = of_maps(*first.self_attn.linears[:2], z, z, np.tri(4))
    np.testing.assert_allclose(trace.attention("decoder")[0], weights, atol=1e-6)
    assert (trace.mask_reason("cross")[:, -1] == "padding").all()
    assert (trace.mask_reason("decoder")[0] == ["", *["later position"] * 3]).all()
    checks = trace.integrity().set_index("check")
    assert checks.ok.all()
    assert checks.error["hooked_equals_plain"] == 0


def test_an_encoder_and_a_decoder_in_the_shape_of_x_transformers():
    """Nothing but the stack tells whose self-attention it is: no two parts share a block."""
    model = shaken(ContextPair())
    x, y = torch.randn(1, 4, WIDTH), torch.randn(1, 4, WIDTH)
    trace = capture(model, x, y)
    assert trace.facts["modules"] == {
        "encoder": ["encoder.layers.0.1.attend", "encoder.layers.1.1.attend"],
        "decoder": ["decoder.layers.0.1.attend", "decoder.layers.2.1.attend"],
        "cross": ["decoder.layers.1.1.attend", "decoder.layers.3.1.attend"],
    }
    with torch.no_grad():
        memory = model.encoder(x, None, None)[0]
        norm, part = model.decoder.layers[0]
        later = torch.ones(4, 4, dtype=torch.bool).tril()
        z = y[0] + part(norm(y), mask=later)[0]
        norm, part = model.decoder.layers[1]
        q = part.norm_q(part.to_q(norm(z)).unflatten(-1, (HEADS, -1)))
        k = part.norm_k(part.to_k(memory))
    scores = torch.einsum("ihd,jd->hij", q, k) / (WIDTH // HEADS) ** 0.5
    np.testing.assert_allclose(trace.attention("cross")[0], softmaxed(scores), atol=1e-6)
    assert trace.mask("cross").all()
    assert trace.mask("encoder").all()
    assert (trace.mask("decoder") == np.tri(4, dtype=bool)).all()
    assert trace.integrity().ok.all()


def test_heads_that_are_modules_of_their_own_are_heads_of_one_layer():
    model = shaken(Language(SeparateHeads))
    trace = capture(model, IDS)
    assert trace.attention("decoder").shape == (2, HEADS, 5, 5)
    assert trace.facts["modules"] == {"decoder": ["h.0.attn.heads.0", "h.1.attn.heads.0"]}
    with torch.no_grad():
        x = model.h[0].ln_1(model.wte(IDS[0]) + model.wpe(torch.arange(5)))
        for number, head in enumerate(model.h[0].attn.heads):
            scores = head.query(x) @ head.key(x).T / (WIDTH // HEADS) ** 0.5
            expected = softmaxed(scores, np.tri(5))
            np.testing.assert_allclose(trace.attention("decoder")[0, number], expected, atol=1e-6)
    assert trace.integrity().ok.all()


def test_heads_and_sequences_along_one_axis():
    model, x = shaken(JoinedHeads()), torch.randn(2, 5, WIDTH)
    trace = capture(model, x[:1])
    weights, scores = of_maps(model.W_q, model.W_k, x[0], x[0])
    np.testing.assert_allclose(trace.attention("encoder")[0], weights, atol=1e-6)
    np.testing.assert_allclose(trace.scores("encoder")[0], scores, atol=1e-5)
    refused("capture_joined_heads", model, x, item=0, contains="6")


class InPlace(FusedCausal):
    """A mask that is written into the scores, which are then divided in place."""

    def forward(self, x):
        q, k, v = map(split, self.c_attn(x).split(WIDTH, dim=2))
        scores = torch.matmul(q, k.mT)
        scores /= 2.0
        scores[..., torch.ones(5, 5).triu(1) > 0] = -10000.0
        return torch.softmax(scores, 3) @ v


def test_a_mask_that_is_written_into_the_scores():
    part, x = shaken(InPlace()), torch.randn(1, 5, WIDTH)
    trace, expected = capture(part, x), capture(shaken_like(part, FusedCausal()), x)
    np.testing.assert_allclose(trace.attention("decoder"), expected.attention("decoder"), atol=1e-6)
    np.testing.assert_allclose(trace.scores("decoder"), expected.scores("decoder"), atol=1e-5)


def shaken_like(part, other):
    other.load_state_dict(part.state_dict())
    return other


def test_what_torch_compiles_is_run_as_it_is_written():
    model = shaken(Language(FusedCausal))
    expected = capture(model, IDS).attention("decoder")
    model.h[0].attn = torch.compile(model.h[0].attn, backend="eager")
    model.h[1].attn.compile(backend="eager")
    with torch.no_grad():
        model(IDS)
    trace = capture(model, IDS)
    np.testing.assert_array_equal(trace.attention("decoder"), expected)


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_scripted_modules_are_refused_by_name():
    model = Language(FusedCausal)
    model.h[1].attn = torch.jit.trace(model.h[1].attn.eval(), torch.randn(1, 5, WIDTH))
    refused("capture_script", model, IDS, contains="h.1.attn")


KERNEL = """
def flash_attn_func(q, k, v, causal=False):
    return v + 0 * (q + k)
"""


def test_fused_kernels_of_other_packages_are_refused_by_name(monkeypatch):
    """Also where other layers call torch's function, since a part of the layers is no trace."""
    name = "flash_attn.flash_attn_interface"
    package = ModuleType(name)
    exec(KERNEL, package.__dict__)
    monkeypatch.setitem(sys.modules, name, package)

    class Flash(FusedCausal):
        def forward(self, x):
            q, k, v = map(split, self.c_attn(x).split(WIDTH, dim=2))
            return package.flash_attn_func(q, k, v).transpose(1, 2).flatten(2)

    refused("capture_kernel", Language(Flash), IDS, contains=name)
    mixed = Language(FusedCausal)
    mixed.h[1]["attn"] = Flash()
    before = sys.getprofile()
    refused("capture_kernel", mixed, IDS, contains="Language")
    assert sys.getprofile() is before


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_flex_attention_is_refused_by_name():
    from torch.nn.attention.flex_attention import flex_attention

    class Flex(FusedCausal):
        def forward(self, x):
            q, k, v = map(split, self.c_attn(x).split(WIDTH, dim=2))
            return flex_attention(q, k, v).transpose(1, 2).flatten(2)

    refused("capture_kernel", Language(Flex), IDS, contains="torch.nn.attention.flex_attention")


def test_a_softmax_of_anything_else_is_no_attention():
    class Router(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, WIDTH)
            self.gate = nn.Linear(WIDTH, 4)

        def forward(self, ids):
            x = self.table(ids)
            return self.gate(x).softmax(-1), (x @ self.table.weight.T).softmax(-1)

    refused("capture_no_attention", Router(), IDS, contains="Router")
