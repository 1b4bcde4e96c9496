"""LoRA adapters on their base models, against those that the library peft itself runs."""

import json
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import explorer
from explorer.core.errors import ModelDirectoryError
from explorer.model.directory_search import find_directories, named_models
from explorer.model.huggingface.adapters import EXTRA
from tests.support.huggingface_families import saved, tiny_model

needs_peft = pytest.mark.skipif(
    find_spec("peft") is None, reason="peft is not installed: the extra `adapters`"
)
WEIGHTS = "adapter_model.safetensors"
TARGETS = {
    "llama": ("model.layers.{}.self_attn.q_proj", "model.layers.{}.mlp.up_proj"),
    "gpt2": ("transformer.h.{}.attn.c_attn",),
    "bart": ("model.decoder.layers.{}.encoder_attn.k_proj", "model.encoder.layers.1.fc1"),
}
TASKS = {"bart": "SEQ_2_SEQ_LM"}
RANK, ALPHA = 3, 12


def adapted(folder, family, base="an-owner/base"):
    """A directory with an adapter of random A and B, written without peft, beside its base."""
    whole = tiny_model(family)
    saved(whole, folder / "base")
    modules, weights = dict(whole.named_modules()), {}
    generator = torch.Generator().manual_seed(0)
    for pattern in TARGETS[family]:
        for path in {pattern.format(layer) for layer in range(2)}:
            own = modules[path].weight
            rows, columns = own.T.shape if family == "gpt2" else own.shape  # Conv1D
            for side, size in (("A", (RANK, columns)), ("B", (rows, RANK))):
                name = f"base_model.model.{path}.lora_{side}.weight"
                weights[name] = torch.randn(size, generator=generator) / 3
    lora = folder / "lora"
    lora.mkdir()
    save_file(weights, lora / WEIGHTS, {"format": "pt"})
    described = {
        **{"peft_type": "LORA", "task_type": TASKS.get(family, "CAUSAL_LM"), "r": RANK},
        **{"lora_alpha": ALPHA, "base_model_name_or_path": base, "bias": "none"},
        "target_modules": sorted({path.rpartition(".")[2] for path in TARGETS[family]}),
        "layers_to_transform": [0, 1],
        "fan_in_fan_out": family == "gpt2",
    }
    if family == "bart":
        names = "|".join(one.replace("{}", "[01]").replace(".", r"\\.") for one in TARGETS[family])
        described |= {"target_modules": names, "layers_to_transform": None}
    (lora / "adapter_config.json").write_text(json.dumps(described).replace(r"\\\\.", r"\\."))
    return lora


def refused(path, key, *words, **options):
    with pytest.raises(ModelDirectoryError) as caught:
        explorer.load(path, **options)
    assert caught.value.key == key, str(caught.value)
    for word in ("“lora”", *words):
        assert word in str(caught.value)
        assert word in caught.value.in_language("zh")


@needs_peft
@pytest.mark.parametrize("family", TARGETS)
def test_attention_and_logits_are_those_of_peft(family, tmp_path):
    """Its own model computes W x and s B A x apart."""
    import peft

    lora = adapted(tmp_path, family)
    model = explorer.load(lora)
    assert model.name == "lora"
    assert [note.key for note in model.notes] == ["merged_adapter", "no_tokenizer"]
    trace = model.trace("5 6 7 8", max_new_tokens=3)
    assert trace.integrity().ok.all()
    own_class = getattr(transformers, model.facts["class"])
    base = own_class.from_pretrained(tmp_path / "base", attn_implementation="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of peft and the library about each other
        own = peft.PeftModel.from_pretrained(base, lora).eval()
    assert any("lora_A" in name for name, _ in own.named_modules())
    target = torch.tensor([[int(token) for token in trace.target_tokens]])
    given = {"input_ids": target}
    if family == "bart":
        given = {"input_ids": torch.tensor([[5, 6, 7, 8]]), "decoder_input_ids": target}
    with torch.inference_mode():
        out = own(**given, output_attentions=True)
        plain = own.unload()(**given, output_attentions=True)
    site, name = ("cross", "cross_attentions") if family == "bart" else ("decoder", "attentions")
    np.testing.assert_allclose(trace.attention(site), torch.cat(out[name]), atol=1e-5)
    assert abs(torch.cat(plain[name]).numpy() - trace.attention(site)).max() > 1e-3
    steps = trace.steps()
    chosen = steps[steps.chosen].sort_values("step").probability.to_numpy()
    expected = out.logits[0].softmax(-1).max(-1).values[-len(chosen) :]
    np.testing.assert_allclose(chosen[-3:], expected[-3:], atol=1e-5)


@needs_peft
def test_the_merged_weight_is_the_sum(tmp_path):
    lora = adapted(tmp_path, "llama")
    path = "model.layers.1.self_attn.q_proj"
    own = tiny_model("llama").get_submodule(path).weight
    half = load_file(lora / WEIGHTS)
    pair = [half[f"base_model.model.{path}.lora_{side}.weight"] for side in "BA"]
    expected = own + ALPHA / RANK * pair[0] @ pair[1]
    for dtype, limit in (("float32", 1e-6), ("bfloat16", 1e-2)):
        found = explorer.load(lora, dtype=dtype).model
        assert found.dtype == getattr(torch, dtype)
        assert not any("lora" in name for name, _ in found.named_modules())
        torch.testing.assert_close(
            found.get_submodule(path).weight.float(), expected, atol=limit, rtol=limit
        )


@needs_peft
def test_an_adapter_of_another_model_is_refused(tmp_path):
    lora = adapted(tmp_path, "llama")
    whole = load_file(lora / WEIGHTS)
    name = next(iter(whole))
    for odd in (
        {key: one for key, one in whole.items() if key != name},
        whole | {name.replace("layers.", "layers.1"): whole[name].clone()},
        whole | {name: torch.ones(RANK, 7)},
    ):
        save_file(odd, lora / WEIGHTS, {"format": "pt"})
        refused(lora, "adapter_misfit", "“an-owner/base”")
    (lora / WEIGHTS).write_bytes(b"\x10" + bytes(40))
    refused(lora, "adapter_misfit")
    (lora / WEIGHTS).write_bytes(b"")
    refused(lora, "empty_weights", WEIGHTS)


@needs_peft
def test_what_is_wrong_with_the_base_names_both(tmp_path):
    lora = adapted(tmp_path, "llama")
    refused(lora, "adapter_placed", device_map="auto")
    (tmp_path / "base" / "model.safetensors").unlink()
    refused(lora, "base_refused", "“an-owner/base”", "“base”")
    (tmp_path / "base" / "config.json").unlink()
    refused(lora, "no_base", 'explorer.load("an-owner/base", download=True)')


def test_without_peft_one_line_says_how_to_add_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    lora = adapted(tmp_path, "llama")
    refused(lora, "no_peft", EXTRA, "“an-owner/base”")
    (lora / WEIGHTS).write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    refused(lora, "lfs_pointer", WEIGHTS)


def test_the_list_of_models_has_an_adapter_as_its_base_describes_it(tmp_path):
    lora = adapted(tmp_path, "gpt2")
    models = named_models(find_directories([tmp_path]))
    assert list(models) == ["base", "lora"]
    assert (models["lora"].path, models["base"].path) == (lora, tmp_path / "base")
    for name in ("kind", "summary", "vocabulary", "weight_bytes"):
        assert getattr(models["lora"], name) == getattr(models["base"], name)
    before = models["lora"].stamp
    file = tmp_path / "base" / "model.safetensors"
    file.write_bytes(file.read_bytes() + b" ")
    assert named_models(find_directories([tmp_path]))["lora"].stamp != before
    (tmp_path / "base" / "config.json").unlink()
    assert list(named_models(find_directories([tmp_path]))) == ["lora"]  # choosing it says why
