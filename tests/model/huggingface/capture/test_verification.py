"""Every family: weights, masks, decoding and interventions against the library's own."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.capture import verification
from explorer.model.huggingface.capture.passes import cache_argument
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.huggingface_families import (
    FAMILIES,
    REFUSED,
    TESTED,
    TESTED_REFUSED,
    saved,
    tiny_model,
)
from tests.support.projected_heads import projected

TEXT = "5 17 8 41 9 23"
NEW = 6


@pytest.fixture(scope="module")
def pair(opened, directory):
    """By family: the model opened here, and the library's own, on explicit attention."""

    def open_both(name):
        model_class = getattr(transformers, FAMILIES[name].model)
        reference = model_class.from_pretrained(directory(name), attn_implementation="eager")
        return opened(name), reference.eval()

    return cache(open_both)


def inputs_of(trace, kind, pad):
    """The arguments of the library for the tokens of `trace`, and which keys are padding."""
    ids = trace.source_tokens or trace.target_tokens
    mask = torch.tensor([[int(token != "<pad>") for token in ids]])
    source = torch.tensor([[pad if token == "<pad>" else int(token) for token in ids]])
    given = {"input_ids": source, "attention_mask": mask}
    if kind == Kind.ENCODER_DECODER:
        given["decoder_input_ids"] = torch.tensor([[int(token) for token in trace.target_tokens]])
    elif kind == Kind.DECODER_ONLY and not mask.all():
        given["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
    return given, mask[0].numpy() == 0


def library_weights(reference, trace, kind):
    given, _ = inputs_of(trace, kind, reference.config.pad_token_id or 0)
    with torch.inference_mode():
        out = reference(**given, output_attentions=True, return_dict=True)
    if kind == Kind.ENCODER_DECODER:
        found = (out.encoder_attentions, out.decoder_attentions, out.cross_attentions)
        return dict(zip(("encoder", "decoder", "cross"), map(torch.cat, found), strict=True)), out
    site = "decoder" if kind == Kind.DECODER_ONLY else "encoder"
    return {site: torch.cat(out.attentions)}, out


def traced(model, pad_to=9, **options):
    if model.kind != Kind.ENCODER_ONLY:
        options["max_new_tokens"] = NEW
    return model.trace(TEXT, pad_to=pad_to, **options)


@pytest.mark.parametrize("name", TESTED)
def test_weights_and_masks_are_those_of_the_library(pair, name):
    model, reference = pair(name)
    trace = traced(model)
    assert trace.integrity().ok.all(), trace.integrity()
    assert {"equals_library", "padding_changes_nothing"} <= set(trace.integrity().check)
    assert trace.facts["family"] == name
    own, _ = library_weights(reference, trace, model.kind)
    _, padding = inputs_of(trace, model.kind, 0)
    assert set(own) == set(trace.sites)
    for site, weights in own.items():
        padded_rows = np.zeros(len(trace.queries(site)), bool)
        for layer in range(len(weights)):
            reasons = expected_reasons(trace, site, layer, padding, FAMILIES[name].windows)
            assert (trace.mask_reason(site, layer, 0) == reasons).all(), (site, layer)
            rows = (reasons == "").any(1)
            padded_rows |= ~rows
            captured = trace.attention(site)[layer]
            np.testing.assert_allclose(captured[:, rows], weights[layer][:, rows], atol=1e-6)
            assert not captured[:, ~rows].any()


def expected_reasons(trace, site, layer, padding, windows):
    """Why each cell is masked, from the positions alone."""
    queries, keys = len(trace.queries(site)), len(trace.keys(site))
    padded = np.zeros(keys, bool) if site == "decoder" and trace.source_tokens else padding
    window = windows[layer] if windows else None
    reasons = np.full((queries, keys), "", dtype=object)
    for query in range(queries):
        for key in range(keys):
            if padded[key]:
                reasons[query, key] = "padding"
            elif site == "decoder" and key > query:
                reasons[query, key] = "later position"
            elif site != "cross" and window is not None and abs(query - key) >= window:
                reasons[query, key] = "outside the window"
    return reasons


@pytest.mark.parametrize("name", [name for name in TESTED if "Masked" not in FAMILIES[name].model])
def test_decoding_is_that_of_generate(pair, name):
    model, reference = pair(name)
    trace = traced(model)
    short, pad = model.trace(TEXT, pad_to=9, max_new_tokens=1), reference.config.pad_token_id or 0
    given, _ = inputs_of(short, model.kind, pad)
    given = {key: given[key] for key in ("input_ids", "attention_mask")}
    if model.kind == Kind.ENCODER_DECODER:  # else T5 may have at most as many decoder layers
        cache = transformers.DynamicCache
        given[cache_argument(reference)] = transformers.EncoderDecoderCache(cache(), cache())
    out = reference.generate(
        **given,
        max_new_tokens=NEW,
        do_sample=False,
        num_beams=1,
        forced_eos_token_id=None,
        encoder_no_repeat_ngram_size=0,
        output_logits=True,
        return_dict_in_generate=True,
    )
    decoded = out.sequences[0, -len(out.logits) :].tolist()
    steps = trace.steps()
    first = steps.step.max() - len(decoded) + 1
    chosen = steps[steps.chosen & (steps.step >= first)]
    assert chosen.id.tolist() == decoded
    for step, logits in enumerate(out.logits, start=first):
        own = steps[steps.step == step]
        expected = logits[0].float().log_softmax(-1)[own.id.tolist()]
        np.testing.assert_allclose(np.log(own.probability), expected, atol=1e-4)


def assert_logits(trace, out):
    """The most probable tokens of a trace have the library's probabilities."""
    steps = trace.steps()
    best = steps[(steps["rank"] == 1) & (steps.step > 3)]
    logits = out.logits[0].float().log_softmax(-1)
    expected = logits[(best.step - 1).tolist(), best.id.tolist()]
    np.testing.assert_allclose(np.log(best.probability), expected, atol=1e-4)


def assert_attention(trace, own):
    for site, weights in own.items():
        for layer, own_layer in enumerate(weights):
            rows = trace.mask(site, layer, 0).any(1)
            captured = trace.attention(site)[layer][:, rows]
            np.testing.assert_allclose(captured, own_layer[:, rows], atol=1e-6)


@pytest.mark.parametrize("name", TESTED)
def test_interventions_on_heads_are_exact(pair, name):
    """A removed head is a slice of zeros in the input of the output projection; heads that are
    kept are those that are not removed."""
    model, reference = pair(name)
    chosen = {
        (site, model.anatomy.layers(site) - 1 - (site == "encoder"), 1)
        for site in FAMILIES[name].projection
    }
    heads = [head for head in model.anatomy.all_heads if head.site in FAMILIES[name].projection]
    plain = traced(model).steps()
    for options, removed in [
        ({"ablate": chosen}, chosen),
        ({"keep": chosen}, {tuple(head) for head in heads} - chosen),
    ]:
        trace = traced(model, **options)

        def zero(site, layer, states, removed=removed):
            for other, number, head in removed:
                if (other, number) == (site, layer):
                    states[:, :, head] = 0
            return states

        with projected(reference, name, model.anatomy, zero):
            own, out = library_weights(reference, trace, model.kind)
        assert_attention(trace, own)
        if model.kind != Kind.ENCODER_ONLY:
            assert_logits(trace, out)
            decoded = trace.facts.get("prompt", 1)  # the first step that is not of the prompt
            before, after = (
                steps[steps.step == decoded].probability for steps in (plain, trace.steps())
            )
            assert not np.allclose(before, after)


@pytest.mark.parametrize("name", TESTED)
def test_interventions_on_cells_and_rows_are_exact(pair, name):
    """Without a cell, the other weights of its row grow alike; a row that is set has the given
    weights. What the head then mixes from its values is seen in the output projection."""
    model, reference = pair(name)
    query, key = 5, 4
    for site in FAMILIES[name].projection:
        layer = model.anatomy.layers(site) - 1
        options = {"target": "5 9 8 7 6", "pad_to": 9} if model.kind != Kind.ENCODER_ONLY else {}
        whole = model.trace(TEXT, **options).attention(site)[layer, 1, query].astype(float)
        without = np.where(np.arange(len(whole)) == key, 0, whole)
        given = np.where(np.arange(len(whole)) >= key, whole > 0, 0)
        edits = {
            "edit_mask": ([(site, layer, 1, query, key)], without / (1 - whole[key])),
            "override_row": ([(site, layer, 1, query, given)], given / given.sum()),
        }
        for verb, (edit, expected) in edits.items():
            trace = model.trace(TEXT, **options, capture="full", **{verb: edit})
            row = trace.attention(site)[layer, 1, query]
            np.testing.assert_allclose(row, expected, atol=1e-6)
            mixed = torch.tensor(expected @ trace.values(site)[layer, 1], dtype=torch.float32)

            def mix(place, number, states, here=(site, layer), mixed=mixed):
                if (place, number) == here:
                    states[0, query, 1] = mixed
                return states

            with projected(reference, name, model.anatomy, mix):
                own, out = library_weights(reference, trace, model.kind)
            own[site][layer, 1, query] = torch.tensor(expected)
            assert_attention(trace, own)
            if model.kind != Kind.ENCODER_ONLY:
                assert_logits(trace, out)


@pytest.mark.parametrize("name", TESTED_REFUSED)
def test_other_families_are_refused_with_the_reason(directory, name):
    with pytest.raises(ModelDirectoryError) as caught:
        open_directory(directory(name))
    assert caught.value.key == REFUSED[name][3], str(caught.value)


@pytest.mark.parametrize("name", ["minimax", "recurrent_gemma"])
def test_layers_with_attention_are_shown_and_decoding_is_that_of_generate(name, tmp_path):
    """MiniMax returns states of its other layers among its weights, and its cache counts no rows;
    RecurrentGemma keeps its states in its modules and returns no cache."""
    folder = saved(mixed(name), tmp_path / name)
    model = open_directory(folder)
    trace = model.trace(TEXT, max_new_tokens=NEW)
    assert trace.integrity().ok.all(), trace.integrity()
    numbers = trace.facts["layer_numbers"]["decoder"]
    assert numbers == {"minimax": [1, 3], "recurrent_gemma": [2, 5]}[name]
    own = type(model.model).from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.tensor([[int(token) for token in TEXT.split()]])
    found = own.generate(ids, max_new_tokens=NEW, do_sample=False)[0]
    assert list(trace.predicted_tokens) == [str(number) for number in found.tolist()[1:]]
    with torch.inference_mode():
        returned = own(found[None, :-1], output_attentions=True, use_cache=False).attentions
    weights = [returned[number] for number in numbers] if name == "minimax" else returned
    np.testing.assert_allclose(trace.attention("decoder"), torch.cat(tuple(weights)), atol=1e-6)


def mixed(name):
    """A model in which some layers have attention."""
    sizes = {"vocab_size": 67, "hidden_size": 32, "intermediate_size": 32, "eos_token_id": None}
    sizes |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    torch.manual_seed(0)
    if name == "minimax":
        layers = ["linear_attention", "full_attention"] * 2
        sizes |= {"num_hidden_layers": 4, "layer_types": layers, "num_local_experts": 2}
        made = transformers.MiniMaxForCausalLM(transformers.MiniMaxConfig(**sizes))
    else:
        sizes |= {"num_hidden_layers": 6, "lru_width": 32}
        made = transformers.RecurrentGemmaForCausalLM(transformers.RecurrentGemmaConfig(**sizes))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def test_block_sparse_attention_is_told_which_setting_shows_it(tmp_path):
    sizes = {"attention_type": "block_sparse", "block_size": 2, "num_random_blocks": 1}
    with pytest.raises(ModelDirectoryError, match='"attention_type": "original_full"'):
        open_directory(saved(tiny_model("big_bird", **sizes), tmp_path))


def test_a_model_of_images_and_texts_names_the_one_of_texts(tmp_path):
    sizes = {"hidden_size": 24, "intermediate_size": 30, "num_attention_heads": 3}
    sizes["num_hidden_layers"] = 2
    config = transformers.CLIPConfig(
        text_config=sizes | {"vocab_size": 67, "eos_token_id": 2, "bos_token_id": 1},
        vision_config=sizes | {"image_size": 32, "patch_size": 16},
    )
    saved(transformers.CLIPModel(config), tmp_path)
    with pytest.raises(ModelDirectoryError) as caught:
        open_directory(tmp_path)
    call = "explorer.wrap(CLIPTextModel.from_pretrained(…), tokenizer)"
    assert call in str(caught.value)
    assert call in caught.value.in_language("zh")
    text = explorer.wrap(transformers.CLIPTextModel.from_pretrained(tmp_path))
    assert text.trace("5 6 7").integrity().ok.all()


def test_a_family_whose_capture_differs_is_refused(directory, monkeypatch):
    whole = verification.recomputed
    monkeypatch.setattr(verification, "recomputed", lambda call: (whole(call)[0] * 1.01, None))
    with pytest.raises(ModelDirectoryError) as caught:
        open_directory(directory("bert"))
    assert caught.value.key == "not_recomputed"
    assert "bert" in str(caught.value)


def test_sites_are_told_apart_when_there_are_few_positions(tmp_path):
    """The probe then is shorter; cross attention must still not look like the decoder's own."""
    model = open_directory(saved(tiny_model("marian", max_position_embeddings=6), tmp_path))
    assert model.trace("5 6 7").sites == ("encoder", "decoder", "cross")
