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
    refuse_other_formats,
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


def test_weights_for_another_program_are_named_with_it(folder):
    (folder / WEIGHTS).rename(folder / "tiny.Q4_K_M.gguf")
    refused("gguf", lambda: open_directory(folder), "llama.cpp", "tiny.Q4_K_M.gguf", "“tiny”")
    (folder / "config.json").unlink()
    refused("gguf", lambda: open_directory(folder), "llama.cpp")
    refuse_other_formats(folder, [WEIGHTS])


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("gptq", ("GPTQ", "gptqmodel")),
        ("bitsandbytes", ("bitsandbytes, 4 bits",)),
        ("awq", ("AWQ", "gptqmodel")),
        ("hqq", ("HQQ", "hqq")),
        ("compressed-tensors", ("compressed-tensors",)),
        ("spqr", ("spqr_quant",)),
        ("a-new-one", ("a-new-one",)),
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
    eight = {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}
    assert "8 bits" in str(quantised(folder, eight))
    assert "HQQ" in str(quantised(folder, {}, ["a.W_q"]))


@pytest.mark.parametrize("method", ["fp8", "mxfp8"])
def test_fp8_says_with_which_numbers_it_opens(method, folder):
    found = quantised(folder, {"quantization_config": {"quant_method": method}})
    assert 'dtype="bfloat16"' in str(found)
    assert 'dtype="bfloat16"' in found.in_language("zh")
    assert "FP8" in str(quantised(folder, {}, ["a.weight_scale_inv"]))


@pytest.mark.parametrize("rest", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_fp8_opens_without_a_gpu_as_the_numbers_that_it_stands_for(rest, dtype, tmp_path):
    """Each weight is a whole multiple of its scale, so that nothing is lost."""
    sizes = {"hidden_size": 128, "intermediate_size": 128, "num_attention_heads": 2}
    model = tiny_model("llama", **sizes, num_key_value_heads=2, head_dim=64)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("proj.weight"):
                weight.copy_((weight * 256).round().clamp(-8, 8) / 256)
            weight.copy_(weight.bfloat16())
    folder = saved(model, tmp_path / "fp8")
    plain = open_directory(folder, dtype=dtype).trace("5 6 7", max_new_tokens=2)
    packed = {}
    for name, weight in weights_in((folder / WEIGHTS).read_bytes()).items():
        if name.endswith("proj.weight"):
            packed[name] = (weight * 256).to(torch.float8_e4m3fn)
            packed[f"{name}_scale_inv"] = torch.full((1, 1), 1 / 256)
        else:
            packed[name] = weight.to(rest)
    save_file(packed, folder / WEIGHTS, {"format": "pt"})
    settings = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3"}
    config(folder, quantization_config=settings | {"weight_block_size": [128, 128]})
    trace = open_directory(folder, dtype=dtype).trace("5 6 7", max_new_tokens=2)
    assert trace.text == plain.text
    assert (trace.attention("decoder") == plain.attention("decoder")).all()
