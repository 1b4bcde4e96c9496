"""What is in the place of weights is named, with what to do."""

import json

import pytest
import torch
from safetensors.torch import load as weights_in
from safetensors.torch import save_file

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.loading import open_directory
from explorer.model.huggingface.other_contents import (
    quantised,
    refuse_absent_parts,
    refuse_adapter,
    refuse_pointers,
)
from tests.support.huggingface_families import saved, tiny_model

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n"
WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(tmp_path):
    return saved(tiny_model("gpt2"), tmp_path / "tiny")


def refused(key, call, *words):
    with pytest.raises(ModelDirectoryError) as caught:
        call()
    assert caught.value.key == key, str(caught.value)
    for word in words:
        assert word in str(caught.value)
        assert word in caught.value.in_language("zh")


def config(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod."])
@pytest.mark.parametrize("file", [WEIGHTS, "pytorch_model.bin"])
def test_the_prefix_of_a_wrapper_is_left_out(file, prefix, folder):
    plain = open_directory(folder).trace("5 6 7", max_new_tokens=2)
    weights = weights_in((folder / WEIGHTS).read_bytes())
    (folder / WEIGHTS).unlink()
    wrapped = {prefix + name: weight for name, weight in weights.items()}
    if file == WEIGHTS:
        save_file(wrapped, folder / file, {"format": "pt"})
    else:
        torch.save(wrapped, folder / file)
    trace = open_directory(folder).trace("5 6 7", max_new_tokens=2)
    assert trace.text == plain.text
    assert (trace.attention("decoder") == plain.attention("decoder")).all()


def test_a_wrapped_file_that_lacks_weights_names_them(folder):
    weights = weights_in((folder / WEIGHTS).read_bytes())
    weights.pop("transformer.h.0.attn.c_attn.weight")
    wrapped = {f"module.{name}": weight for name, weight in weights.items()}
    save_file(wrapped, folder / WEIGHTS, {"format": "pt"})
    refused("missing_weights", lambda: open_directory(folder), "h.0.attn.c_attn.weight")


@pytest.mark.parametrize("name", [WEIGHTS, "config.json", "tokenizer.json", "source.spm"])
def test_a_pointer_of_git_lfs_says_how_to_fetch_the_file(name, folder):
    (folder / name).write_bytes(POINTER)
    refused("lfs_pointer", lambda: open_directory(folder), "git lfs pull", name)
    refused("lfs_pointer", lambda: refuse_pointers(folder, [folder / name]), name)


def test_an_absent_part_is_named(folder):
    (folder / WEIGHTS).rename(folder / "model-00001-of-00003.safetensors")
    parts = {f"w{n}": f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    words = ("2", "model-00002-of-00003.safetensors, model-00003-of-00003.safetensors")
    refused("absent_parts", lambda: open_directory(folder), *words)
    names = [*parts.values(), index.name]
    refuse_absent_parts(folder, names)
    refuse_absent_parts(folder, [index.name, WEIGHTS])  # the library reads that file then
    for damaged in ("[", "{}", '{"weight_map": 3}'):
        index.write_text(damaged)
        refuse_absent_parts(folder, [index.name])


@pytest.mark.parametrize("with_config", [True, False])
def test_an_adapter_is_named_with_its_base_model(with_config, folder):
    (folder / WEIGHTS).rename(folder / "adapter_model.safetensors")
    described = {"peft_type": "LORA", "base_model_name_or_path": "meta-llama/Llama-3.2-1B"}
    (folder / "adapter_config.json").write_text(json.dumps(described))
    if not with_config:
        (folder / "config.json").unlink()
    words = ("LoRA", "meta-llama/Llama-3.2-1B", "merge_and_unload")
    refused("adapter", lambda: open_directory(folder), *words)
    (folder / "adapter_config.json").write_text("[")
    refused("adapter", lambda: refuse_adapter(folder), "PEFT")
    (folder / "adapter_config.json").unlink()
    refuse_adapter(folder)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("gptq", ("GPTQ", "gptqmodel")),
        ("bitsandbytes", ("bitsandbytes",)),
        ("awq", ("AWQ", "gptqmodel")),
        ("spqr", ("spqr",)),
    ],
)
def test_quantised_weights_are_named_with_their_library(method, words, folder):
    settings = {"quant_method": method, "bits": 4, "group_size": 128, "load_in_4bit": True}
    config(folder, quantization_config=settings)
    refused("quantised", lambda: open_directory(folder), *words)


def test_packed_weights_tell_of_themselves(folder):
    weights = weights_in((folder / WEIGHTS).read_bytes())
    packed = weights.pop("transformer.h.0.attn.c_attn.weight")
    weights["transformer.h.0.attn.c_attn.qweight"] = packed.int()
    save_file(weights, folder / WEIGHTS, {"format": "pt"})
    refused("quantised", lambda: open_directory(folder), "GPTQ")
    assert quantised(folder, {}, ["a.weight", "b.qweight.more"]) is None
    assert quantised(folder, {"quantization_config": {"bits": 4}}) is None
