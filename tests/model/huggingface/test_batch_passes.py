"""Batches against the library's own model, one sentence at a time, hooks on its projections."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

from explorer.core.errors import EvaluationBatchError
from explorer.core.interventions import Interventions
from explorer.heads.metrics.evaluation_batches import token_losses
from explorer.heads.removal.gradient_importance import gate_gradients
from explorer.model.evaluation_batch import TokenKind
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.generation_settings import GenerationSettings
from tests.support.huggingface_families import FAMILIES, TESTED
from tests.support.projected_heads import projected

TEXTS = ["5 17 8 41 9 23", "9 9 30", "12 44 7 61"]
PAIRS = [("5 17 8 41 9 23", "30 31 7"), ("9 9 30", "8 8 8 41"), ("12 44 7 61", "50")]


def passes_of(opened, name):
    """The passes of a model; one that fills in masks has 41 as its mask."""
    model = opened(name)
    if model.kind != Kind.ENCODER_ONLY:
        return model.passes

    class WithMask(type(model.tokens)):
        mask_id = 41

    return replace(model.passes, tokens=WithMask(None, model.tokens.size))


def batch_of(passes):
    if passes.anatomy.kind == Kind.ENCODER_DECODER:
        return passes.pairs(PAIRS, "three")
    return passes.texts(TEXTS, "three", seed=1)


def library_losses(name, model, passes, batch, gates=None):
    """The summed loss of each sentence, alone and without padding, by the library's own `model`.

    gates: (head,) on the outputs of heads.
    """
    kind = passes.anatomy.kind
    losses = []
    for number in range(len(batch)):
        given = {}
        rows = batch.labels.kinds[number]
        if batch.source is not None:
            length = int(batch.source.lengths[number])
            given["input_ids"] = batch.source.ids[number : number + 1, :length]
        if batch.queries is not None:
            length = int(batch.queries.lengths[number])
            side = "input_ids" if kind == Kind.DECODER_ONLY else "decoder_input_ids"
            given[side] = batch.queries.ids[number : number + 1, :length]
        labels = batch.labels.ids[number].masked_fill(rows == TokenKind.PADDING, -100)[:length]

        def scaled(site, layer, states):
            first = passes.heads.index((site, layer, 0))
            return states * gates[first : first + states.size(2)][:, None]

        if gates is None:
            logits = model(**given).logits[0]
        else:
            with projected(model, name, passes.anatomy, scaled):
                logits = model(**given).logits[0]
        losses.append(torch.nn.functional.cross_entropy(logits, labels, reduction="sum"))
    return torch.stack(losses)


@pytest.fixture(scope="module")
def library(directory):
    """By family: the library's own model, on explicit attention."""

    def load(name):
        model_class = getattr(transformers, FAMILIES[name].model)
        return model_class.from_pretrained(directory(name), attn_implementation="eager").eval()

    return cache(load)


@pytest.mark.parametrize("name", TESTED)
def test_losses_and_gradients_are_the_library_s_own(opened, library, name):
    passes = passes_of(opened, name)
    batch = batch_of(passes)
    with torch.no_grad():
        losses = token_losses(passes.logits(batch), batch.labels).sum(1)
        expected = library_losses(name, library(name), passes, batch)
        torch.testing.assert_close(losses, expected, atol=1e-4, rtol=1e-4)
    gates = torch.ones(len(passes.heads), requires_grad=True)
    means = library_losses(name, library(name), passes, batch, gates) / batch.labels.lengths
    own = gate_gradients(SimpleNamespace(passes=passes), batch)
    for number, mean in enumerate(means):
        (gradient,) = torch.autograd.grad(mean, gates, retain_graph=True)
        torch.testing.assert_close(own[number], gradient, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("name", TESTED)
@torch.no_grad()
def test_gates_of_copies_are_removed_heads(opened, library, name):
    passes = passes_of(opened, name)
    batch, count = batch_of(passes), len(passes.heads)
    removed = [0, count // 2, count - 1]
    gates = torch.ones(len(removed) + 1, count)
    gates[range(1, len(removed) + 1), removed] = 0
    found = passes.logits(batch, gates.repeat_interleave(len(batch), 0))
    found = found.unflatten(0, (len(gates), len(batch)))
    for variant, number in enumerate(removed, start=1):
        done = Interventions.gather(ablate=[passes.heads[number]])
        expected = passes.logits(batch, interventions=done)
        real = batch.labels.real  # what padding predicts is of no use
        torch.testing.assert_close(found[variant][real], expected[real], atol=1e-4, rtol=0)
        losses = token_losses(found[variant], batch.labels).sum(1)
        expected = library_losses(name, library(name), passes, batch, gates[variant])
        torch.testing.assert_close(losses, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", TESTED)
def test_attention_in_a_batch_is_that_of_each_text_alone(opened, name):
    passes, model = passes_of(opened, name), opened(name)
    batch = batch_of(passes)
    layers = list(passes.attentions(batch))
    assert [(layer.site, layer.layer) for layer in layers] == list(
        dict.fromkeys(head[:2] for head in passes.heads)
    )
    for number, ((text, output), masked) in enumerate(
        zip(PAIRS, (batch.source or batch.queries).ids, strict=True)
    ):
        if model.kind == Kind.ENCODER_DECODER:
            trace = model.trace(text, target=output, capture="full")
        else:
            text = " ".join(str(int(token)) for token in masked[: len(text.split())])
            trace = model.trace(text, max_new_tokens=None, capture="full")
        for layer in layers:
            queries, keys = len(trace.queries(layer.site)), len(trace.keys(layer.site))
            if model.kind == Kind.DECODER_ONLY:
                queries = keys = len(text.split())
            unmasked = layer.unmasked[number]
            mask = trace.mask(layer.site, layer.layer, 0)[:queries, :keys]
            assert (unmasked[:queries, :keys].numpy() == mask).all()
            assert not unmasked[queries:].any()
            assert not unmasked[:, keys:].any()
            for own, whole in [
                (layer.weights[number], trace.attention(layer.site)[..., :keys]),
                (layer.output[number], trace.head_output(layer.site)),
            ]:
                expected = whole[layer.layer][:, :queries]
                own = own[:, :queries, : expected.shape[-1]]
                np.testing.assert_allclose(own, expected, atol=1e-5)


def test_choices_follow_the_rules_of_generation(opened):
    model = opened("marian")
    generation = SimpleNamespace(forced_bos_token_id=3)
    configured = SimpleNamespace(config=model.model.config, generation_config=generation)
    settings = GenerationSettings(configured, model.tokens.size)
    passes = replace(model.passes, settings=settings)
    logits = torch.zeros(1, 3, 67)
    logits[..., 5] = 1
    assert passes.choices(logits).tolist() == [[3, 5, 5]]
    assert opened("llama").passes.choices(logits).tolist() == [[5, 5, 5]]


@pytest.mark.parametrize(
    ("name", "targets"), [("marian", "greedy"), ("llama", "next"), ("bert", "none")]
)
def test_texts_have_the_targets_of_their_kind_of_model_and_their_name(opened, name, targets):
    batch = opened(name).passes.texts(TEXTS, "three")
    assert (batch.name, batch.targets) == ("three", targets)
    read = [[int(token) for token in text.split()] for text in TEXTS]
    texts = (batch.source or batch.queries).ids.tolist()
    assert all(row[: len(ids)] == ids for row, ids in zip(texts, read, strict=True))


def test_pairs_need_both_stacks(opened):
    with pytest.raises(EvaluationBatchError) as caught:
        opened("llama").passes.pairs(PAIRS, "three")
    assert caught.value.key == "pairs_refused"
