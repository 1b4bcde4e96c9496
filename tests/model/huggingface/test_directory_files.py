import json
import os

import pytest

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.directory_files import (
    mask_token,
    read_config,
    refuse_odd_files,
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


READ = (
    *("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"),
    *("special_tokens_map.json", "added_tokens.json", "vocab.txt", "source.spm", "merges.txt"),
    *("model.safetensors", "model.safetensors.index.json", "additional_chat_templates/a.jinja"),
)
"""Files that the library reads."""


@pytest.mark.parametrize("name", READ)
def test_a_pipe_among_the_files_of_a_model_is_refused_before_anything_waits_for_it(name, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(ModelDirectoryError) as caught:
        refuse_odd_files(tmp_path)
    assert caught.value.key == "odd_file"
    assert (tmp_path / name).name in caught.value.in_language("zh")
    (tmp_path / "link.json").symlink_to("/dev/zero")
    (tmp_path / name).unlink()
    with pytest.raises(ModelDirectoryError, match=r"link\.json"):
        refuse_odd_files(tmp_path)


@pytest.mark.parametrize("name", [name for name in READ if name != "model.safetensors"])
def test_a_file_that_is_read_whole_is_bounded(name, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    with (tmp_path / name).open("wb") as file:
        file.truncate(4 * 2**30)
    with pytest.raises(ModelDirectoryError) as caught:
        refuse_odd_files(tmp_path)
    assert caught.value.key == "large_file"
    assert "4096 MB" in str(caught.value)


def test_weights_of_any_size_folders_and_links_to_nothing_are_no_odd_files(tmp_path):
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(4 * 2**30)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "nothing.json").symlink_to("none")
    (tmp_path / "circle").symlink_to("circle")
    refuse_odd_files(tmp_path)


@pytest.mark.parametrize("name", ["special_tokens_map.json", "tokenizer_config.json"])
def test_the_mask_token_is_not_waited_for_in_a_pipe(name, tmp_path):
    os.mkfifo(tmp_path / name)
    assert mask_token(tmp_path) == "<mask>"


def test_a_config_that_is_a_pipe_or_a_folder_is_refused(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(ModelDirectoryError) as caught:
        read_config(tmp_path)
    assert caught.value.key == "damaged_config"
