import math
from contextlib import ExitStack
from dataclasses import replace

import pytest
import torch
from torch import nn

from explorer.core.vocabulary import PAD
from explorer.model.hooks import recorded
from explorer.model.masks import causal_mask, padding_mask
from explorer.model.transformer import (
    Attention,
    Residual,
    SelfAttention,
    Transformer,
    dropout,
    sinusoids,
)
from tests.support.tiny_configs import ALONE, PRIMES

SOURCE = torch.tensor([[3, 4, 5, 12, 2], [6, 7, 2, PAD, PAD]])  # (B, S) = (2, 5)
TARGET = torch.tensor([[1, 6, 16, 7], [1, 8, PAD, PAD]])  # (B, T) = (2, 4)
REAL = TARGET != PAD
NOTHING = torch.empty(2, 0, dtype=torch.long)  # the source of a decoder alone


def copy_linear(ours: list[nn.Linear], weight: torch.Tensor, bias: torch.Tensor) -> None:
    weight.copy_(torch.cat([linear.weight for linear in ours]))
    bias.copy_(torch.cat([linear.bias for linear in ours]))


def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    own = isinstance(ours, SelfAttention)
    projections = [ours.query_key_value] if own else [ours.query, ours.key_value]
    copy_linear(projections, theirs.in_proj_weight, theirs.in_proj_bias)
    copy_linear([ours.output], theirs.out_proj.weight, theirs.out_proj.bias)


def copy_rest(ours: nn.Module, theirs: nn.Module) -> None:
    copy_linear([ours.feed_forward.expand], theirs.linear1.weight, theirs.linear1.bias)
    copy_linear([ours.feed_forward.contract], theirs.linear2.weight, theirs.linear2.bias)
    residuals = [module for module in ours.children() if isinstance(module, Residual)]
    for number, residual in enumerate(residuals, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.state_dict())


@torch.no_grad()
def reference(model: Transformer) -> nn.Transformer:
    """torch's Transformer with the weights of `model`; final norms only for pre-norm."""
    config = model.config
    pre = config.norm == "pre"
    sizes = {
        "d_model": config.d_model,
        "nhead": config.heads,
        "dim_feedforward": config.d_ff,
        "batch_first": True,
        "norm_first": pre,
    }
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**sizes),
        config.encoder_layers,
        norm=nn.LayerNorm(config.d_model) if pre else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(**sizes),
        config.decoder_layers,
        norm=nn.LayerNorm(config.d_model) if pre else None,
    )
    both = nn.Transformer(  # initialises all weights anew, so they are copied after
        config.d_model, config.heads, custom_encoder=encoder, custom_decoder=decoder
    )
    for ours, theirs in zip(model.encoder.layers, encoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_rest(ours, theirs)
    for ours, theirs in zip(model.decoder.layers, decoder.layers, strict=True):
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        copy_rest(ours, theirs)
    if pre:
        encoder.norm.load_state_dict(model.encoder.norm.state_dict())
        decoder.norm.load_state_dict(model.decoder.norm.state_dict())
    return both.eval()


def run_reference(model: Transformer, theirs: nn.Transformer) -> torch.Tensor:
    masked = ~causal_mask(TARGET.size(1))
    memory = theirs.encoder(model.encoder.embedding(SOURCE), src_key_padding_mask=SOURCE == PAD)
    hidden = theirs.decoder(
        model.decoder.embedding(TARGET),
        memory,
        tgt_mask=masked,
        tgt_key_padding_mask=TARGET == PAD,
        memory_key_padding_mask=SOURCE == PAD,
    )
    return model.logits(hidden)


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_logits_equal_those_of_torchs_transformer(make_model, norm):
    model = make_model(replace(PRIMES, norm=norm))
    expected = run_reference(model, reference(model))
    torch.testing.assert_close(model(SOURCE, TARGET)[REAL], expected[REAL], rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_every_heads_weights_equal_those_of_torchs_attention(make_model, norm):
    model = make_model(replace(PRIMES, norm=norm))
    theirs = reference(model)
    seen: dict[int, torch.Tensor] = {}
    attentions = [layer.self_attn for layer in theirs.encoder.layers]
    for layer in theirs.decoder.layers:
        attentions += [layer.self_attn, layer.multihead_attn]

    def look(module: nn.MultiheadAttention, args: tuple, kwargs: dict) -> None:
        wanted = {**kwargs, "need_weights": True, "average_attn_weights": False}
        seen[attentions.index(module)] = nn.MultiheadAttention.forward(module, *args, **wanted)[1]

    for attention in attentions:
        attention.register_forward_pre_hook(look, with_kwargs=True)
    run_reference(model, theirs)
    with recorded(model, "*.pattern") as patterns:
        model(SOURCE, TARGET)
    assert len(patterns) == len(attentions) == 8
    rows = {4: REAL, 5: torch.ones_like(SOURCE, dtype=torch.bool)}
    for number, (name, ours) in enumerate(patterns.items()):
        real = rows[ours.size(2)]
        torch.testing.assert_close(
            ours.transpose(1, 2)[real],
            seen[number].transpose(1, 2)[real],
            rtol=0,
            atol=1e-5,
            msg=lambda text, name=name: f"{name}: {text}",
        )


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_a_decoder_alone_is_torchs_encoder_with_the_mask_of_a_decoder(make_model, norm):
    model = make_model(replace(ALONE, norm=norm))
    layer = nn.TransformerEncoderLayer(42, 7, 29, batch_first=True, norm_first=norm == "pre")
    last = nn.LayerNorm(42) if norm == "pre" else None
    theirs = nn.TransformerEncoder(layer, 3, norm=last, enable_nested_tensor=False).eval()
    for ours, copied in zip(model.decoder.layers, theirs.layers, strict=True):
        copy_attention(ours.self_attention, copied.self_attn)
        copy_rest(ours, copied)
    if last is not None:
        theirs.norm.load_state_dict(model.decoder.norm.state_dict())
    masked = ~causal_mask(TARGET.size(1))
    x = model.decoder.embedding(TARGET)
    hidden = theirs(x, mask=masked, src_key_padding_mask=TARGET == PAD)
    expected = hidden @ model.logits.weight.T
    torch.testing.assert_close(model(NOTHING, TARGET)[REAL], expected[REAL], rtol=0, atol=1e-5)


@torch.no_grad()
def test_fused_and_explicit_attention_agree(make_model):
    model = make_model()
    plain = model(SOURCE, TARGET)
    with recorded(model, "*.scores"):
        torch.testing.assert_close(model(SOURCE, TARGET), plain, rtol=0, atol=1e-5)


@torch.no_grad()
def test_scores_are_scaled_and_not_masked_and_patterns_are_their_masked_softmax(make_model):
    model = make_model()
    with recorded(model, "decoder.layers.1.self_attention.*") as values:
        model(SOURCE, TARGET)
    scores, pattern, mask, mixed, output = (
        values[f"decoder.layers.1.self_attention.{name}"]
        for name in ("scores", "pattern", "mask", "values", "head_output")
    )
    assert scores.isfinite().all()
    expected = scores.masked_fill(~mask, -math.inf).softmax(-1)
    torch.testing.assert_close(pattern, expected)
    torch.testing.assert_close(output, pattern @ mixed)
    torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 7, 4))
    assert not pattern.masked_select(~mask.expand_as(pattern)).any()


@torch.no_grad()
def test_queries_and_keys_are_slices_of_the_projections(make_model):
    model = make_model()
    cross = model.decoder.layers[1].cross_attention
    projected = {}
    cross.query.register_forward_hook(lambda *given: projected.update(query=given[-1]))
    cross.key_value.register_forward_hook(lambda *given: projected.update(key_value=given[-1]))
    with recorded(model, "decoder.layers.1.cross_attention.*_vectors") as values:
        model(SOURCE, TARGET)
    width = model.config.head_width
    for head in range(model.config.heads):
        own = slice(head * width, (head + 1) * width)
        for name, whole in (("query", "query"), ("key", "key_value")):
            expected = projected[whole][..., own]
            vectors = values[f"decoder.layers.1.cross_attention.{name}_vectors"][:, head]
            torch.testing.assert_close(vectors, expected, rtol=0, atol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("config", "source"), [(PRIMES, SOURCE), (ALONE, NOTHING)])
@torch.no_grad()
def test_step_by_step_logits_equal_those_of_the_whole_pass(make_model, config, source, norm):
    model = make_model(replace(config, norm=norm))
    mask = padding_mask(source)
    cache = model.start(model.encode(source, mask), mask)
    stepwise = torch.stack([model.step(token, cache) for token in TARGET.T], dim=1)
    full = model(source, TARGET)
    torch.testing.assert_close(stepwise[REAL], full[REAL], rtol=0, atol=1e-5)


@torch.no_grad()
def test_padding_does_not_change_the_logits(make_model):
    model = make_model()
    alone = model(SOURCE[1:, :3], TARGET[1:, :2])
    together = model(SOURCE, TARGET)[1:, :2]
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)


@torch.no_grad()
def test_no_row_depends_on_later_tokens(make_model):
    model = make_model()
    other = TARGET.clone()
    other[0, 2:] = torch.tensor([9, 10])
    assert torch.equal(model(SOURCE, TARGET)[0, :2], model(SOURCE, other)[0, :2])


def test_sinusoids_are_those_of_the_paper():
    positions = sinusoids(5, 6)
    assert positions.shape == (5, 6)
    assert positions[0].tolist() == [0, 1, 0, 1, 0, 1]
    angle = 3 / 10_000 ** (2 / 6)
    assert positions[3, 2].item() == pytest.approx(math.sin(angle), abs=1e-6)
    assert positions[3, 3].item() == pytest.approx(math.cos(angle), abs=1e-6)


@torch.no_grad()
def test_embeddings_are_scaled_by_the_root_of_the_width(make_model):
    embedding = make_model().encoder.embedding
    token = torch.tensor([[5]])
    expected = embedding.tokens.weight[5] * math.sqrt(42) + sinusoids(9, 42)[8]
    torch.testing.assert_close(embedding(token, start=8)[0, 0], expected)


def test_tied_embeddings_are_one_matrix():
    config = replace(PRIMES, source_vocabulary=17, tied_embeddings=True)
    model = Transformer(config)
    assert model.logits.weight is model.encoder.embedding.tokens.weight
    assert model.logits.weight is model.decoder.embedding.tokens.weight
    assert sum(weight.numel() for weight in model.parameters()) == config.parameters


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("config", [replace(PRIMES, source_vocabulary=17), ALONE])
def test_parameters_are_counted_without_building_the_model(config, tied, norm):
    config = replace(config, norm=norm, tied_embeddings=tied)
    built = sum(weight.numel() for weight in Transformer(config).parameters())
    assert config.parameters == built


def test_a_decoder_alone_has_nothing_of_an_encoder_and_no_bias_of_its_logits():
    model = Transformer(ALONE)
    names = [*model.state_dict(), *model.hook_points]
    assert all(name.startswith(("decoder.", "logits.")) for name in names)
    assert not any("cross" in name for name in names)
    assert "logits.bias" not in model.state_dict()
    assert not model.logits.bias.any()


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_dropout_drops_its_share_and_keeps_the_mean(kind):
    torch.manual_seed(0)
    x = torch.ones(301, 333, dtype=kind, requires_grad=True)
    y = dropout(x, 0.3)
    assert y.dtype == kind
    assert (y == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    assert y.float().mean().item() == pytest.approx(1, abs=0.01)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_dropout_follows_the_seed_and_a_share_of_0_drops_nothing():
    x = torch.ones(5, 7)
    torch.manual_seed(1)
    first = dropout(x, 0.5)
    torch.manual_seed(1)
    assert torch.equal(dropout(x, 0.5), first)
    assert dropout(x, 0.0) is x


@pytest.mark.parametrize("explicit", [False, True])
def test_dropout_is_for_training_alone(explicit):
    """In evaluation a dropout of 0.9 changes nothing; in training two passes differ."""
    torch.manual_seed(0)
    model = Transformer(replace(PRIMES, dropout=0.9))
    none = Transformer(replace(PRIMES, dropout=0.0))
    none.load_state_dict(model.state_dict())
    with ExitStack() as captures:
        for one in (model, none) if explicit else ():
            captures.enter_context(recorded(one, "*.pattern"))
        assert torch.equal(model.eval()(SOURCE, TARGET), none.eval()(SOURCE, TARGET))
        model.train()
        assert not torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))
