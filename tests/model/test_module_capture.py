"""The attention of torch's own modules equals softmax(Q Kᵀ / √d) computed by hand, and the modules
stay as they were."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.model.module_capture import capture

WIDTH, HEADS = 12, 3
pytestmark = [
    pytest.mark.filterwarnings("ignore:enable_nested_tensor"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors"),
]


def refused(key, *given, contains="", **options):
    with pytest.raises(TraceError) as caught:
        capture(*given, **options)
    assert caught.value.key == key
    assert contains in str(caught.value)
    assert contains in caught.value.in_language("zh")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


def shaken(module):
    """`module` with random biases, which torch starts at 0."""
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3)
    return module


def by_hand(part, query, key, masked=None):
    """Weights (head, query, key) of one sequence (Q, D) over (K, D); masked: True = may not."""
    with torch.no_grad():
        if part.in_proj_weight is not None:
            own_query, own_key = part.in_proj_weight[:WIDTH], part.in_proj_weight[WIDTH : 2 * WIDTH]
        else:
            own_query, own_key = part.q_proj_weight, part.k_proj_weight
        bias = part.in_proj_bias
        bias = torch.zeros(3 * WIDTH) if bias is None else bias
        q = query @ own_query.T + bias[:WIDTH]
        k = key @ own_key.T + bias[WIDTH : 2 * WIDTH]
        width = WIDTH // HEADS
        rows = []
        for head in range(HEADS):
            own = slice(head * width, (head + 1) * width)
            scores = (q[:, own] @ k[:, own].T) / math.sqrt(width)
            if masked is not None:
                scores = scores.masked_fill(masked, -math.inf)
            rows.append(scores.exp() / scores.exp().sum(-1, keepdim=True))
        return torch.stack(rows).numpy()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_one_module_over_two_sequences_by_hand(batch_first, bias):
    part = nn.MultiheadAttention(WIDTH, HEADS, batch_first=batch_first, bias=bias)
    shaken(part)
    query, key = torch.randn(4, WIDTH), torch.randn(6, WIDTH)
    axis = 0 if batch_first else 1
    trace = capture(part, query.unsqueeze(axis), *[key.unsqueeze(axis)] * 2)
    assert trace.sites == ("cross",)
    assert trace.target_tokens == ("0", "1", "2", "3")
    assert trace.source_tokens == tuple("012345")
    np.testing.assert_allclose(trace.attention("cross")[0], by_hand(part, query, key), atol=1e-6)
    bare = capture(part, query, key, key)
    np.testing.assert_allclose(bare.attention("cross"), trace.attention("cross"), atol=1e-6)
    assert trace.integrity().ok.all()
    assert trace.facts["model"] == "MultiheadAttention"


def test_keys_and_values_of_another_width():
    part = shaken(nn.MultiheadAttention(WIDTH, HEADS, kdim=5, vdim=7))
    query, key, value = torch.randn(4, WIDTH), torch.randn(6, 5), torch.randn(6, 7)
    trace = capture(part, query, key, value)
    np.testing.assert_allclose(trace.attention("cross")[0], by_hand(part, query, key), atol=1e-6)


@pytest.mark.parametrize("kind", ["boolean", "numbers", "large numbers", "by head"])
def test_masks_mean_the_opposite_and_masked_cells_are_exactly_zero(kind):
    part = shaken(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True))
    x = torch.randn(2, 5, WIDTH)
    masked = torch.zeros(5, 5, dtype=torch.bool)
    masked[1, 0] = masked[3, 4] = masked[4, 2] = True
    padding = torch.zeros(2, 5, dtype=torch.bool)
    padding[1, 3] = True
    low = -1e9 if kind == "large numbers" else -math.inf
    numbers = kind in ("numbers", "large numbers")
    mask = torch.zeros(5, 5).masked_fill(masked, low) if numbers else masked
    if kind == "by head":
        mask = torch.zeros(2 * HEADS, 5, 5, dtype=torch.bool)
        mask[HEADS + 1] = masked
    given = torch.zeros(2, 5).masked_fill(padding, low) if numbers else padding
    trace = capture(part, x, x, x, attn_mask=mask, key_padding_mask=given, item=1)
    whole = masked | padding[1]
    for head in range(HEADS):
        own = whole if kind != "by head" or head == 1 else padding[1].expand(5, 5)
        expected = by_hand(part, x[1], x[1], own)[head]
        np.testing.assert_allclose(trace.attention("encoder")[0, head], expected, atol=1e-6)
        np.testing.assert_array_equal(trace.mask("encoder", 0, head), ~own.numpy())
        assert (trace.attention("encoder")[0, head][own.numpy()] == 0).all()
    reason = trace.mask_reason("encoder", 0, 1)
    assert (reason[:, 3] == "padding").all()
    assert (reason[1, 0], reason[3, 4], reason[4, 2]) == ("edited", "later position", "edited")
    assert trace.integrity().ok.all()


def test_numbers_that_are_added_are_no_mask():
    part = shaken(nn.MultiheadAttention(WIDTH, HEADS))
    x, slope = torch.randn(5, WIDTH), -torch.arange(25.0).view(5, 5)
    trace = capture(part, x, x, x, attn_mask=slope)
    assert trace.mask("encoder").all()
    with torch.no_grad():
        _, expected = part(x, x, x, attn_mask=slope, average_attn_weights=False)
    np.testing.assert_allclose(trace.attention("encoder")[0], expected, atol=1e-6)


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_a_whole_transformer(batch_first, norm_first):
    sizes = {"dim_feedforward": 20, "batch_first": batch_first, "norm_first": norm_first}
    model = shaken(nn.Transformer(WIDTH, HEADS, 2, 3, **sizes)).train()
    source, target = torch.randn(2, 6, WIDTH), torch.randn(2, 4, WIDTH)
    padding = torch.zeros(2, 6, dtype=torch.bool)
    padding[1, 4:] = True
    masks = {
        "tgt_mask": torch.ones(4, 4, dtype=torch.bool).triu(1),
        "src_key_padding_mask": padding,
        "memory_key_padding_mask": padding,
    }
    given = [one if batch_first else one.transpose(0, 1) for one in (source, target)]
    names = {"source_tokens": list("abcdef"), "target_tokens": list("wxyz")}
    trace = capture(model, *given, **masks, **names, item=1)
    assert {site: trace.attention(site).shape for site in trace.sites} == {
        "encoder": (2, HEADS, 6, 6),
        "decoder": (3, HEADS, 4, 4),
        "cross": (3, HEADS, 4, 6),
    }
    assert trace.source_tokens == tuple("abcdef")
    assert trace.target_tokens == tuple("wxyz")
    assert (trace.mask_reason("decoder")[0] == ["", *["later position"] * 3]).all()
    for site in ("encoder", "cross"):
        assert (trace.mask_reason(site)[:, 4:] == "padding").all()
        assert (trace.attention(site)[..., 4:] == 0).all()
    assert trace.integrity().ok.all()
    first, last = model.encoder.layers[0], model.decoder.layers[0]
    x = first.norm1(source[1]) if norm_first else source[1]
    expected = by_hand(first.self_attn, x, x, padding[1])
    np.testing.assert_allclose(trace.attention("encoder")[0], expected, atol=1e-5)
    y = last.norm1(target[1]) if norm_first else target[1]
    expected = by_hand(last.self_attn, y, y, torch.ones(4, 4, dtype=torch.bool).triu(1))
    np.testing.assert_allclose(trace.attention("decoder")[0], expected, atol=1e-5)


def test_the_module_is_left_as_it_was():
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 20, dropout=0.5, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).train()
    model.layers[1].eval()
    modes = [part.training for part in model.modules()]
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    x, wider = torch.randn(1, 5, WIDTH), torch.randn(1, 5, WIDTH + 1)
    random = torch.get_rng_state()
    assert torch.backends.mha.get_fastpath_enabled()
    capture(model, x)
    refused("capture_failed", model, wider, contains="TransformerEncoder")
    assert torch.backends.mha.get_fastpath_enabled()
    assert torch.equal(torch.get_rng_state(), random)
    assert [part.training for part in model.modules()] == modes
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name])


def test_its_fast_path_and_nested_tensors_have_the_same_weights():
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 20, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=True).eval()
    x, padding = torch.randn(2, 5, WIDTH), torch.zeros(2, 5, dtype=torch.bool)
    padding[0, 3:] = True
    with torch.no_grad():
        fast = model(x, src_key_padding_mask=padding)
    whole = capture(model, x, src_key_padding_mask=padding, item=0)
    alone = capture(model, x[:1, :3])
    np.testing.assert_allclose(
        whole.attention("encoder")[..., :3, :3], alone.attention("encoder"), atol=1e-6
    )
    with torch.no_grad():
        torch.testing.assert_close(fast[:1, :3], model(x[:1, :3]))


def test_a_language_model_of_encoder_layers_with_a_mask_of_numbers_is_a_decoder():
    """As in torch's own tutorial; the stack finds out that the mask is causal and passes the hint
    on, with which its layers need no mask."""
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 20, batch_first=True)
    model, x = shaken(nn.TransformerEncoder(layer, 2)), torch.randn(1, 5, WIDTH)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    for options in ({}, {"is_causal": True}):
        trace = capture(model, x, mask=mask, **options)
        assert trace.sites == ("decoder",)
        assert (trace.mask("decoder") == np.tri(5, dtype=bool)).all()
        expected = by_hand(model.layers[0].self_attn, x[0], x[0], mask < 0)
        np.testing.assert_allclose(trace.attention("decoder")[0], expected, atol=1e-6)
        assert trace.integrity().ok.all()


@pytest.mark.parametrize("layers", [1, 2])
def test_a_decoder_alone_has_its_own_attention_and_that_to_the_memory(layers):
    layer = nn.TransformerDecoderLayer(WIDTH, HEADS, 20, batch_first=True, norm_first=True)
    model = shaken(layer if layers == 1 else nn.TransformerDecoder(layer, layers))
    target, memory = torch.randn(1, 4, WIDTH), torch.randn(1, 4, WIDTH)
    trace = capture(model, target, memory)
    assert trace.sites == ("decoder", "cross")
    first = model if layers == 1 else model.layers[0]
    with torch.no_grad():
        y = first.norm1(target[0])
    expected = by_hand(first.self_attn, y, y)
    np.testing.assert_allclose(trace.attention("decoder")[0], expected, atol=1e-6)
    assert trace.attention("cross").shape == (layers, HEADS, 4, 4)
    assert trace.mask("cross").all()
    assert trace.integrity().ok.all()


class Block(nn.Module):
    """A block of a decoder as people write it, with pre-norm and no other mask than the hint."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, dropout=0.3, batch_first=True)

    def forward(self, x, mask):
        y = self.norm(x)
        mixed, none = self.attention(
            self.norm(x), y, y, attn_mask=mask, need_weights=False, is_causal=True
        )
        assert none is None
        return x + mixed


class Twice(Block):
    """A block that runs two times; the queries are a tensor of their own, which has NaN the second
    time where the mask closes a whole row."""

    def forward(self, x, mask):
        for _ in range(2):
            x, _ = self.attention(x.clone(), x, x, attn_mask=mask)
        return x


class Own(nn.Module):
    """Embeddings, blocks and a head; `averaged` has what a block asks for."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(9, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.last = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, ids):
        x = self.tokens(ids)
        mask = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1)
        for block in self.blocks:
            x = block(x, mask)
        mixed, averaged = self.last(x, x, x, attn_mask=mask)
        assert averaged.dim() == 3
        return {"logits": x + mixed, "averaged": averaged, "name": "own"}


def test_a_model_of_ones_own_is_a_decoder_where_its_mask_is_causal():
    model, ids = shaken(Own()), torch.tensor([[1, 5, 3, 2]])
    trace = capture(model, ids, target_tokens=ids[0].tolist())
    assert trace.sites == ("decoder",)
    assert trace.target_tokens == ("1", "5", "3", "2")
    assert trace.source_tokens == ()
    assert trace.attention("decoder").shape == (3, HEADS, 4, 4)
    with torch.no_grad():
        x = model.blocks[0].norm(model.tokens(ids[0]))
    causal = torch.ones(4, 4, dtype=torch.bool).triu(1)
    expected = by_hand(model.blocks[0].attention, x, x, causal)
    np.testing.assert_allclose(trace.attention("decoder")[0], expected, atol=1e-6)
    assert trace.integrity().ok.all()
    assert trace.to_bytes() == Trace.from_bytes(trace.to_bytes()).to_bytes()


def test_a_mask_that_torch_ignores_is_not_shown():
    """With `is_causal` torch closes later positions whatever the mask says, unless weights are
    asked for."""
    block, x = shaken(Block()), torch.randn(1, 4, WIDTH)
    trace = capture(block, x, torch.zeros(4, 4, dtype=torch.bool))
    assert (trace.mask("decoder") == np.tri(4, dtype=bool)).all()
    assert trace.integrity().ok.all()


class OwnPair(nn.Module):
    """An encoder and a decoder of one's own without masks, over as many tokens."""

    def __init__(self):
        super().__init__()
        self.reader = nn.ModuleDict({"attention": nn.MultiheadAttention(WIDTH, HEADS)})
        self.writer = nn.ModuleDict(
            {name: nn.MultiheadAttention(WIDTH, HEADS) for name in ("own", "other")}
        )

    def forward(self, source, target):
        memory, _ = self.reader["attention"](source, source, source)
        x, _ = self.writer["own"](target, target, target)
        return self.writer["other"](x, memory, memory)[0]


def test_attention_beside_cross_attention_is_the_decoders():
    model, source, target = shaken(OwnPair()), torch.randn(4, WIDTH), torch.randn(4, WIDTH)
    trace = capture(model, source, target)
    assert trace.sites == ("encoder", "decoder", "cross")
    expected = by_hand(model.reader["attention"], source, source)
    np.testing.assert_allclose(trace.attention("encoder")[0], expected, atol=1e-6)
    expected = by_hand(model.writer["own"], target, target)
    np.testing.assert_allclose(trace.attention("decoder")[0], expected, atol=1e-6)


@pytest.mark.parametrize("added", [{"add_bias_kv": True}, {"add_zero_attn": True}])
def test_the_weight_of_keys_that_torch_adds_is_a_sink(added):
    part = shaken(nn.MultiheadAttention(WIDTH, HEADS, **added))
    x = torch.randn(5, WIDTH)
    masked = torch.ones(5, 5, dtype=torch.bool).triu(1)
    trace = capture(part, x, x, x, attn_mask=masked)
    with torch.no_grad():
        _, weights = part(x, x, x, attn_mask=masked, average_attn_weights=False)
    np.testing.assert_allclose(trace.attention("decoder")[0], weights[..., :5], atol=1e-6)
    np.testing.assert_allclose(trace.arrays["decoder.sink"][0], weights[..., 5], atol=1e-6)
    checks = trace.integrity()
    assert "rows_and_sink_sum_to_one" in set(checks.check)
    assert checks.ok.all()


def test_a_query_that_may_attend_to_no_key_is_named_in_every_module():
    """In one attention, one layer and several layers, of which torch makes NaN, 0 or both."""
    part = shaken(nn.MultiheadAttention(WIDTH, HEADS))
    x, masked = torch.randn(4, WIDTH), torch.zeros(4, 4, dtype=torch.bool)
    masked[2] = True
    low = torch.zeros(4, 4).masked_fill(masked, -math.inf)
    layer = shaken(nn.TransformerEncoderLayer(WIDTH, HEADS, 20))
    stack = nn.TransformerEncoder(layer, 3)
    for mask in (masked, low):
        key = "capture_closed_query"
        refused(key, part, x, x, x, attn_mask=mask, contains="2")
        refused(key, layer, x, src_mask=mask, contains="2")
        refused(key, stack, x, mask=mask, contains="“encoder”")


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_mask_the_wrong_way_round_is_blamed_on_the_attention_that_has_it(norm_first):
    """`tril` leaves the last query no key, since True = may NOT attend."""
    sizes = {"dim_feedforward": 20, "batch_first": True, "norm_first": norm_first}
    model = shaken(nn.Transformer(WIDTH, HEADS, 2, 2, **sizes))
    source, target = torch.randn(1, 6, WIDTH), torch.randn(1, 4, WIDTH)
    wrong = torch.ones(4, 4, dtype=torch.bool).tril()
    for contains in ("“decoder”", "3", "True", "~mask"):
        given = {"tgt_mask": wrong, "contains": contains}
        refused("capture_closed_query", model, source, target, **given)
    capture(model, source, target, tgt_mask=~wrong)
    refused("capture_closed_query", Twice(), target, wrong, contains="“encoder”")
    padding = torch.tensor([[True] * 6])
    given = {"memory_key_padding_mask": padding, "contains": "“cross”"}
    refused("capture_closed_query", model, source, target, **given)


def test_a_query_without_key_of_another_sequence_does_not_matter():
    part, x = (
        shaken(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)),
        torch.randn(2, 4, WIDTH),
    )
    padding = torch.zeros(2, 4, dtype=torch.bool)
    padding[1] = True
    trace = capture(part, x, x, x, key_padding_mask=padding, item=0)
    expected = by_hand(part, x[0], x[0])
    np.testing.assert_allclose(trace.attention("encoder")[0], expected, atol=1e-6)
    given = {"key_padding_mask": padding, "item": 1}
    refused("capture_closed_query", part, x, x, x, **given, contains="0")
    # Finite numbers leave weights, and such a row is padding.
    low = torch.zeros(4, 4)
    low[2] = -1e9
    trace = capture(part, x[0], x[0], x[0], attn_mask=low)
    assert (trace.attention("encoder")[0, :, 2] == 0).all()


def test_half_precision_and_wrappers(tmp_path):
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 20, batch_first=True)
    model, x = nn.TransformerEncoder(layer, 2), torch.randn(1, 5, WIDTH)
    expected = capture(model, x).attention("encoder")
    held = nn.DataParallel(torch.compile(model, backend="eager"))
    np.testing.assert_array_equal(capture(held, x).attention("encoder"), expected)
    half = capture(model.to(torch.bfloat16), x.to(torch.bfloat16))
    assert half.facts["precision"] == "half"
    assert half.integrity().ok.all()
    np.testing.assert_allclose(half.attention("encoder"), expected, atol=0.02)


def test_a_batch_is_chosen_from():
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 20, batch_first=True).eval()
    x = torch.randn(3, 5, WIDTH)
    for item in range(3):
        chosen, alone = capture(layer, x, item=item), capture(layer, x[item])
        np.testing.assert_allclose(
            chosen.attention("encoder"), alone.attention("encoder"), atol=1e-6
        )
    refused("capture_batch", layer, x, contains="3")
    for item in (3, -1, 1.0, True):
        refused("capture_no_item", layer, x, item=item, contains=str(item))


def test_what_cannot_be_shown_says_so():
    refused("capture_no_module", "gpt2", contains="str")
    refused("capture_no_attention", nn.Linear(2, 2), torch.ones(1, 2), contains="Linear")
    unused = nn.Sequential(nn.Linear(2, 2))
    unused[0].other = nn.MultiheadAttention(2, 1)
    refused("capture_no_attention", unused, torch.ones(1, 2), contains="Sequential")
    uneven = nn.Sequential(
        *[nn.TransformerEncoderLayer(WIDTH, heads, 20, batch_first=True) for heads in (2, 4)]
    )
    refused("capture_uneven", uneven, torch.randn(1, 5, WIDTH), contains="(2, 5, 5), (4, 5, 5)")
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 20, batch_first=True)
    refused("wrong_shape", layer, torch.randn(1, 5, WIDTH), source_tokens=["a"])
    for empty in ((1, 0, WIDTH), (0, 5, WIDTH)):
        refused("capture_no_tokens", layer, torch.randn(empty), contains="(")
    given = {"target_tokens": list("abcde"), "contains": "target_tokens"}
    refused("capture_no_side", layer, torch.randn(1, 5, WIDTH), **given)
    given = {"source_tokens": list("abcd"), "contains": "decoder"}
    refused("capture_no_side", shaken(Own()), torch.tensor([[1, 5, 3, 2]]), **given)


class Counting(nn.Module):
    """A module whose result depends on how often it has run."""

    def __init__(self):
        super().__init__()
        self.attention, self.runs = nn.MultiheadAttention(WIDTH, HEADS), 0

    def forward(self, x):
        self.runs += 1
        return self.attention(x, x, x)[0] + self.runs


class Drawing(Counting):
    """A module that adds noise to its result, also in eval mode."""

    def forward(self, x):
        return self.attention(x, x, x)[0] + torch.randn_like(x)


def test_a_module_with_a_state_is_refused_and_chance_is_the_same_in_both_runs():
    x = torch.randn(4, WIDTH)
    refused("capture_changes", Counting(), x)
    assert capture(Drawing(), x).integrity().ok.all()
