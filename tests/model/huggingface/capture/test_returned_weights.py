"""Families whose attention is computed in their own way: what they return, and what is refused."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

from explorer.core.errors import InterventionError, ModelDirectoryError
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import given_sentences
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.model.huggingface.anatomy import Anatomy, Kind, Place
from explorer.model.huggingface.capture.passes import cache_argument
from explorer.model.huggingface.capture.returned_weights import returned_anatomy, returned_calls
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.huggingface_families import (
    TESTED_WEIGHTS_ONLY,
    WEIGHTS_ONLY,
    saved,
    tiny_model,
)

TEXT = "5 17 8 41 9 23"
NEW = 6
DECODERS = [name for name in TESTED_WEIGHTS_ONLY if "Caus" in WEIGHTS_ONLY[name].model]
DECODERS += [name for name in ("fsmt", "mvp", "openai-gpt") if name in TESTED_WEIGHTS_ONLY]


@pytest.fixture(scope="module")
def pair(opened, directory):
    """By family: the model opened here, and the library's own."""

    def open_both(name):
        model_class = getattr(transformers, WEIGHTS_ONLY[name].model)
        reference = model_class.from_pretrained(directory(name), attn_implementation="eager")
        return opened(name), reference.eval()

    return cache(open_both)


def library_call(reference, trace, kind):
    """What the library's own call returns for the tokens of a trace without padding."""
    source = torch.tensor([[int(token) for token in trace.source_tokens or trace.target_tokens]])
    given = {"input_ids": source}
    if kind == Kind.ENCODER_DECODER:
        given["decoder_input_ids"] = torch.tensor([[int(token) for token in trace.target_tokens]])
        given["use_cache"] = False
    with torch.inference_mode():
        return reference(**given, output_attentions=True, return_dict=True)


def returned_by(out, kind):
    if kind == Kind.ENCODER_DECODER:
        found = (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)
        return dict(zip(("encoder", "decoder", "cross"), map(torch.cat, found), strict=True))
    return {"decoder" if kind == Kind.DECODER_ONLY else "encoder": torch.cat(out.attentions)}


def traced(model, **options):
    if model.kind != Kind.ENCODER_ONLY:
        options.setdefault("max_new_tokens", NEW)
    return model.trace(TEXT, **options)


def expected_mask(trace, site, window):
    """Which cells are open, from the positions and the labels of padding alone."""
    keys = np.array([token != "<pad>" for token in trace.keys(site)])
    queries = np.arange(len(trace.queries(site)))[:, None]
    mask = np.broadcast_to(keys, (len(queries), len(keys)))
    if site == "decoder":
        distance = queries - np.arange(len(keys))
        mask = mask & (distance >= 0) & (distance < (window or len(queries)))
    return mask


@pytest.mark.parametrize("name", TESTED_WEIGHTS_ONLY)
def test_the_weights_are_the_librarys_to_the_bit(pair, name):
    model, reference = pair(name)
    assert model.anatomy.weights_only
    trace = traced(model)
    checks = trace.integrity()
    assert checks.ok.all(), checks
    assert "equals_library" not in set(checks.check)  # it would compare the library with itself
    assert trace.facts["weights_only"] is True
    assert model.notes[0].key == "weights_only"
    out = library_call(reference, trace, model.kind)
    own = returned_by(out, model.kind)
    assert set(own) == set(trace.sites)
    for site, weights in own.items():
        np.testing.assert_array_equal(trace.attention(site), weights)


@pytest.mark.parametrize("name", TESTED_WEIGHTS_ONLY)
@pytest.mark.parametrize("pad_to", [None, 9])
def test_masked_cells_are_those_of_the_positions_and_have_no_weight(pair, name, pad_to):
    model, _ = pair(name)
    trace = traced(model, pad_to=pad_to)
    windows = WEIGHTS_ONLY[name].windows
    for site in trace.sites:
        real = np.array([token != "<pad>" for token in trace.queries(site)])
        for layer, weights in enumerate(trace.attention(site)):
            expected = expected_mask(trace, site, windows[layer] if windows else None)
            found = trace.mask(site, layer, 0)
            np.testing.assert_array_equal(found[real], expected[real])
            assert (weights[:, found] > 0).all()
            assert not weights[:, ~found].any()
    assert trace.integrity().ok.all(), trace.integrity()


@pytest.mark.parametrize("name", DECODERS)
def test_decoding_is_that_of_generate(pair, name):
    model, reference = pair(name)
    trace = traced(model)
    given = {"input_ids": torch.tensor([[int(token) for token in TEXT.split()]])}
    if model.kind == Kind.ENCODER_DECODER:
        own = transformers.DynamicCache
        given["input_ids"] = torch.tensor([[int(token) for token in trace.source_tokens]])
        given[cache_argument(reference)] = transformers.EncoderDecoderCache(own(), own())
    out = reference.generate(
        **given, max_new_tokens=NEW, do_sample=False, num_beams=1, forced_eos_token_id=None
    )
    steps = trace.steps()
    decoded = out[0].tolist()
    chosen = steps[steps.chosen & (steps.step >= steps.step.max() - NEW + 1)].id.tolist()
    assert chosen[-NEW:] == decoded[len(decoded) - len(chosen[-NEW:]) :]


def test_what_needs_to_change_the_attention_is_refused(opened):
    model = opened("gpt_neo")
    batch = given_sentences(model, [TEXT, "7 8 9"])
    gates = torch.zeros(2, len(model.anatomy.all_heads))
    for ask in (
        lambda: model.trace(TEXT, capture="full"),
        lambda: model.trace(TEXT, ablate=[("decoder", 0, 0)]),
        lambda: model.trace(TEXT, keep=[("decoder", 0, 0)]),
        lambda: model.trace(TEXT, edit_mask=[("decoder", 0, 0, 3, 1)]),
        lambda: model.trace(TEXT, override_row=[("decoder", 0, 0, 3, [1, 0, 0, 0, 0, 0])]),
        lambda: model.passes.logits(batch, gates),
        lambda: measure(model, batch, gradients=True),
        lambda: measure(model, batch, removed_on=2),
        lambda: mean_outputs(model, batch),
        model.output_weights,
    ):
        with pytest.raises(InterventionError) as caught:
            ask()
        assert caught.value.key == "weights_only"
        assert "gpt_neo" in str(caught.value)


@pytest.mark.parametrize("name", TESTED_WEIGHTS_ONLY)
def test_heads_are_measured_over_sentences_of_several_lengths(pair, name):
    """Padding in a batch changes nothing in the weights of a sentence."""
    model, _ = pair(name)
    batch = given_sentences(model, [TEXT, "7 8 9"])
    report = measure(model, batch)
    assert len(report.heads) == len(model.anatomy.all_heads)
    site = next(iter(model.anatomy.places)).site
    layer = next(iter(model.passes.attentions(batch)))
    assert layer.site == site
    queries = batch.source if site == "encoder" else batch.queries
    for number, real in enumerate(queries.real):
        rows = layer.weights[number][:, real]
        torch.testing.assert_close(rows.sum(-1), torch.ones(rows.shape[:2]))
        assert not rows[..., ~real].any()


def test_a_window_is_found_where_the_config_names_one_longer_than_the_probe(tmp_path):
    """The probe is made longer; in one with all layers global nothing is outside."""
    far = open_directory(saved(tiny_model("gpt_neo", window_size=14), tmp_path / "far"))
    assert [place.window for place in far.anatomy.decoder] == [14, None, 14]
    everywhere = {"attention_types": [[["global"], 3]], "window_size": 14}
    whole = open_directory(saved(tiny_model("gpt_neo", **everywhere), tmp_path / "whole"))
    assert [place.window for place in whole.anatomy.decoder] == [None] * 3


def one_head(weights):
    return {"decoder": [torch.tensor(weights)[None, None]]}


def inputs(tokens, mask=None):
    ids = torch.zeros(1, tokens, dtype=torch.long)
    return Inputs(target=ids, target_mask=torch.tensor([mask or [1] * tokens]))


PLACE = Place("decoder", 0, 0, 1, 0)


@pytest.mark.parametrize(
    ("weights", "key"),
    [
        ([[1.0, 0.0], [0.5, 0.4]], "not_one"),
        ([[0.5, 0.5], [0.5, 0.5]], "not_masked"),
        ([[1.0, 0.0], [float("nan"), 0.5]], "not_one"),
        ([[1.0], [1.0]], "other_axes"),
    ],
)
def test_rows_that_are_none_are_refused(weights, key):
    with pytest.raises(ModelDirectoryError) as caught:
        list(returned_calls([PLACE], one_head(weights), inputs(2), "bloom"))
    assert caught.value.key == key


def test_a_weight_of_padding_is_refused():
    weights = one_head([[1.0, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]])
    with pytest.raises(ModelDirectoryError) as caught:
        list(returned_calls([PLACE], weights, inputs(3, [0, 1, 1]), "bloom"))
    assert caught.value.key == "not_masked"


def test_a_zero_in_one_head_is_an_unmasked_cell_and_in_all_heads_an_unknown_mask():
    model = SimpleNamespace(config=transformers.BloomConfig())
    first = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]])
    other = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.4, 0.4]])
    both = {"decoder": [torch.stack([first, other])[None]]}
    anatomy = returned_anatomy(Kind.DECODER_ONLY, both, inputs(3), model)
    assert anatomy == Anatomy(Kind.DECODER_ONLY, (), (Place("decoder", 0, 0, 2, 0),))
    [call] = returned_calls(anatomy.decoder, both, inputs(3), "bloom")
    assert call.mask.tolist() == [[[[True, False, False], [True, True, False], [True] * 3]]]
    same = {"decoder": [torch.stack([first, first])[None]]}
    with pytest.raises(ModelDirectoryError) as caught:
        returned_anatomy(Kind.DECODER_ONLY, same, inputs(3), model)
    assert caught.value.key == "unknown_mask"


def test_half_precision_opens(tmp_path):
    model = open_directory(saved(tiny_model("bloom"), tmp_path), dtype="bfloat16")
    trace = model.trace(TEXT, max_new_tokens=3)
    assert trace.facts["precision"] == "half"
    assert trace.integrity().ok.all(), trace.integrity()
