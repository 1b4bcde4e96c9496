import json
import os

import pytest

from explorer.core.errors import FileError, ModelDirectoryError
from explorer.model.huggingface.opening.directory_files import (
    FORMATS,
    mask_token,
    other_format,
    read_config,
    tokenizer_among,
    weight_files,
    weights_among,
)


@pytest.mark.parametrize(
    ("names", "weights"),
    [
        (["config.json", "vocab.txt"], []),
        (["pytorch_model.bin", "model.safetensors"], ["model.safetensors"]),
        (["pytorch_model-00002.bin", "pytorch_model-00001.bin"], None),
        (["diffusion_pytorch_model.safetensors", "adapter_model.safetensors"], []),
    ],
)
def test_weights_are_safetensors_or_pickles_in_order(names, weights):
    assert weights_among(names) == (sorted(names) if weights is None else weights)


def test_the_files_of_a_tokenizer():
    names = ["config.json", "vocab.json", "source.spm", "merges.txt", "model.safetensors"]
    assert tokenizer_among(names) == ["merges.txt", "source.spm", "vocab.json"]
    assert tokenizer_among(["tokenizer_config.json"]) == ["tokenizer_config.json"]


def test_the_mask_token_is_the_one_that_the_settings_name(tmp_path):
    assert mask_token(tmp_path) == "<mask>"
    (tmp_path / "vocab.txt").write_text("[PAD]")
    assert mask_token(tmp_path) == "[MASK]"
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"mask_token": "<m>"}))
    assert mask_token(tmp_path) == "<m>"
    settings = {"mask_token": {"content": "⟨m⟩", "special": True}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    assert mask_token(tmp_path) == "⟨m⟩"
    (tmp_path / "tokenizer_config.json").write_text("[")
    assert mask_token(tmp_path) == "<m>"


def test_a_directory_without_what_is_read_is_refused(tmp_path):
    with pytest.raises(ModelDirectoryError) as caught:
        weight_files(tmp_path)
    assert caught.value.key == "no_weights"
    with pytest.raises(ModelDirectoryError) as caught:
        read_config(tmp_path)
    assert caught.value.key == "no_config"
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").touch()
    assert read_config(tmp_path) == {"model_type": "bert"}
    assert weight_files(tmp_path) == [tmp_path / "model.safetensors"]


def test_weights_without_a_config_and_the_folder_above_a_model_are_told_apart(tmp_path):
    above, alone = tmp_path / "above", tmp_path / "checkpoint-500"
    for inner in ("0_Transformer", "1_Pooling"):
        (above / inner).mkdir(parents=True)
        (above / inner / "config.json").write_text("{}")
    (above / "modules.json").write_text("[]")
    alone.mkdir()
    (alone / "model.safetensors").touch()
    with pytest.raises(ModelDirectoryError) as caught:
        read_config(above)
    assert caught.value.key == "no_config"  # nothing inside has weights
    (above / "0_Transformer" / "model.safetensors").touch()
    with pytest.raises(ModelDirectoryError, match="“0_Transformer” holds a model") as caught:
        read_config(above)
    assert caught.value.key == "model_inside"
    with pytest.raises(ModelDirectoryError, match="copy the one of the model that was trained on"):
        read_config(alone)


@pytest.mark.parametrize("name", ["special_tokens_map.json", "tokenizer_config.json"])
def test_the_mask_token_is_not_waited_for_in_a_pipe(name, tmp_path):
    os.mkfifo(tmp_path / name)
    assert mask_token(tmp_path) == "<mask>"


def test_a_config_that_is_a_pipe_or_larger_than_any_is_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(FileError) as caught:
        read_config(tmp_path)
    assert caught.value.key == "no_regular_file"
    (tmp_path / "config.json").unlink()
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(4 * 2**30)
    with pytest.raises(FileError):
        read_config(tmp_path)


@pytest.mark.parametrize(
    ("file", "program"),
    [
        ("tiny.Q4_K_M.gguf", "llama.cpp"),
        ("tf_model.h5", "TensorFlow"),
        ("bert_model.ckpt.index", "TensorFlow"),
        ("flax_model.msgpack", "JAX"),
        ("model.onnx", "ONNX Runtime"),
        ("openvino_model.xml", "OpenVINO"),
        ("consolidated.00.pth", "their own code"),
        ("model.npz", "marian-nmt"),
        ("model.bin", "CTranslate2"),
        ("dict.en.txt", "fairseq"),
        ("quantize_config.json", "gptqmodel"),
        ("quant_config.json", "gptqmodel"),
    ],
)
@pytest.mark.parametrize("described", [True, False])
def test_weights_for_another_program_are_named_with_it(file, program, described, tmp_path):
    (tmp_path / file).touch()
    if described:
        (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelDirectoryError) as caught:
        (weight_files if described else read_config)(tmp_path)
    assert caught.value.key == "other_format"
    for sentence in (str(caught.value), caught.value.in_language("zh")):
        assert file in sentence
        assert program in sentence


def test_no_format_is_one_that_is_read_here():
    for pattern in FORMATS:
        assert weights_among([pattern.replace("*", "x")]) == []


def test_an_adapter_is_told_how_it_opens_with_its_base_model(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter_model.safetensors").touch()
    error = other_format(tmp_path)
    assert error.key == "adapter"
    for sentence in (str(error), error.in_language("zh")):
        assert "explorer.wrap(AutoPeftModelForCausalLM.from_pretrained(…), tokenizer)" in sentence
    (tmp_path / "adapter_config.json").unlink()
    assert other_format(tmp_path) is None


def test_a_pointer_of_git_lfs_says_how_to_fetch_the_file(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n"
    (tmp_path / "pytorch_model.bin").write_bytes(pointer)
    with pytest.raises(ModelDirectoryError, match=r"pytorch_model\.bin.*git lfs pull"):
        weight_files(tmp_path)
