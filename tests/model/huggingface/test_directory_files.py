import json

import pytest

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.directory_files import (
    mask_token,
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
    assert caught.value.key == "empty_directory"
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").touch()
    assert read_config(tmp_path) == {"model_type": "bert"}
    assert weight_files(tmp_path) == [tmp_path / "model.safetensors"]
