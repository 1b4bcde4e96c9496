"""What the files of a directory lack or have beyond a model: a note, or one sentence."""

import json

import pytest
import torch
import transformers
from safetensors.torch import load as weights_in
from safetensors.torch import save_file

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.loading import open_directory
from tests.support.huggingface_families import saved, tiny_model

FORMAT = {"format": "pt"}


def changed(folder, more, drop=()):
    """A directory with further weights, and without some."""
    file = folder / "model.safetensors"
    weights = weights_in(file.read_bytes()) | more
    save_file({name: one for name, one in weights.items() if name not in drop}, file, FORMAT)
    return folder


def config(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("family", "more"),
    [
        ("bert", {"bert.pooler.dense.weight": (24, 24), "bert.pooler.dense.bias": (24,)}),
        ("bert", {"bert.more": (2,)}),
        ("roberta", {"roberta.pooler.dense.weight": (24, 24), "qa_outputs.bias": (2,)}),
        (
            "gpt2",
            {"transformer.h.1.attn.masked_bias": (), "transformer.h.0.attn.causal_mask": (1, 1)},
        ),
        ("gpt2", {"lm_head.bias": (67,)}),  # of a head, which attention does not depend on
        ("llama", {"model.layers.0.self_attn.rotary_emb.more": (5,)}),
    ],
)
def test_weights_that_attention_does_not_depend_on_are_a_note(family, more, tmp_path):
    folder = saved(tiny_model(family), tmp_path / "tiny")
    plain = open_directory(folder).trace("5 6 7")
    model = open_directory(changed(folder, {name: torch.ones(size) for name, size in more.items()}))
    note = model.notes[0]
    assert (note.key, note.facts["count"]) == ("unused_weights", len(more))
    assert all(name in str(note) and name in note.in_language("zh") for name in more)
    assert model.facts["notes"][0] == str(note)
    site = plain.sites[0]
    assert (model.trace("5 6 7").attention(site) == plain.attention(site)).all()


@pytest.mark.parametrize(
    ("family", "sizes", "name"),
    [
        ("bert", {"num_hidden_layers": 2}, "encoder.layer.2.attention"),
        ("gpt2", {"n_layer": 2}, "h.2.attn.c_attn"),
        ("t5", {"num_decoder_layers": 2}, "decoder.block.2.layer.0.SelfAttention"),
        ("bart", {"decoder_layers": 2}, "decoder.layers.2.encoder_attn"),
        ("qwen2", {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, "q_proj.bias"),
    ],
)
def test_weights_of_layers_that_the_config_does_not_describe_are_refused(
    family, sizes, name, tmp_path
):
    """A layer more than the config has, and a part of its layers that it does not have."""
    folder = config(saved(tiny_model(family), tmp_path / "tiny"), **sizes)
    with pytest.raises(ModelDirectoryError) as caught:
        open_directory(folder)
    assert caught.value.key == "unexpected_weights", str(caught.value)
    assert "“tiny”" in str(caught.value)
    undescribed = str(caught.value.facts["names"])
    assert name in undescribed


def test_a_body_with_layers_more_is_refused_under_its_own_names(tmp_path):
    """A class without a head, from the file of one with a head."""
    folder = saved(tiny_model("bert"), tmp_path / "tiny")
    config(folder, architectures=["BertModel"], num_hidden_layers=2)
    with pytest.raises(ModelDirectoryError, match=r"encoder\.layer\.2"):
        open_directory(folder)


def test_quantised_leftovers_are_no_note(tmp_path):
    """The numbers of the weights themselves mean nothing without them."""
    name = "transformer.h.0.attn.c_attn.SCB"
    folder = changed(saved(tiny_model("gpt2"), tmp_path / "tiny"), {name: torch.ones(3)})
    with pytest.raises(ModelDirectoryError, match="bitsandbytes"):
        open_directory(folder)


def test_weights_of_a_wider_head_are_read_with_the_class_that_has_them_all(tmp_path):
    """bert-base has the heads of its pre-training, but its config names the one for masks."""
    small = tiny_model("bert").config
    folder = saved(transformers.BertForPreTraining(small), tmp_path)
    config(folder, architectures=["BertForMaskedLM"])
    model = open_directory(folder)
    assert model.facts["class"] == "BertForPreTraining"
    assert model.trace("5 6 7").integrity().ok.all()
    name = "cls.seq_relationship.bias"
    model = open_directory(changed(folder, {}, drop=[name]))
    assert model.facts["class"] == "BertForMaskedLM"
    assert "cls.seq_relationship.weight" in str(model.notes[0])
