"""Models fetched from the hub: one on this machine stands for it, with the library's own client."""

import os
import subprocess
import sys

import pytest

from explorer.core import folders
from explorer.model.huggingface.hub_download import needed_files
from tests.support.fake_hub import serving
from tests.support.huggingface_families import saved, tiny_model

FETCH = """
import sys
import explorer
for name in sys.argv[1:]:
    try:
        model = explorer.load(name, download=True)
        print(name, model.name, model.trace("5 6", max_new_tokens=1).facts["model"])
    except explorer.ExplorerError as error:
        print(name, error.key, str(error))
"""


def run(endpoint, home, *command, **more):
    variables = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", **more}
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE"):
        variables.setdefault(name, "")
    environment = {key: value for key, value in (os.environ | variables).items() if value}
    return subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=folders.IMPORT_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


PARTS = (
    "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json"
)


@pytest.mark.parametrize(
    ("names", "needed"),
    [
        (
            "config.json model.safetensors pytorch_model.bin tf_model.h5 README.md",
            "config.json model.safetensors",
        ),
        (f"{PARTS} consolidated.safetensors original/params.json", PARTS),
        ("pytorch_model.bin flax_model.msgpack onnx/model.onnx modeling_x.py", "pytorch_model.bin"),
        (
            "vocab.json merges.txt tokenizer.json tokenizer_config.json original/tokenizer.model",
            "merges.txt tokenizer.json tokenizer_config.json vocab.json",
        ),
        ("generation_config.json model.fp16.safetensors", "generation_config.json"),
        (
            "adapter_config.json adapter_model.safetensors adapter_model.bin optimizer.pt",
            "adapter_config.json adapter_model.safetensors",
        ),
        ("chat_template.jinja additional_chat_templates/x.jinja",) * 2,
    ],
)
def test_only_files_that_are_read_are_needed(names, needed):
    assert needed_files(names.split()) == sorted(needed.split())


def test_a_model_is_fetched_once(tmp_path):
    folder = saved(tiny_model("gpt2"), tmp_path / "gpt2")
    for name in ("pytorch_model.bin", "tf_model.h5", "modeling.py", "onnx/model.onnx"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"not read here")
    home, trace = tmp_path / "home", ["-m", "explorer", "trace", "an-owner/gpt2", "5 6 7"]
    with serving({"an-owner/gpt2": folder}) as (endpoint, fetched):
        there = run(endpoint, home, *trace, "--download")
        assert there.returncode == 0, there.stderr
        assert sorted(fetched) == ["config.json", "generation_config.json", "model.safetensors"]
    again = run(endpoint, home, *trace)  # without a hub
    assert again.returncode == 0, again.stderr
    assert again.stdout == there.stdout


def test_a_hub_that_refuses_lacks_or_cannot_be_reached_is_one_sentence_each(tmp_path):
    with serving({"an-owner/gated": 401, "an-owner/closed": 403}) as (endpoint, _):
        names = ["an-owner/gated", "an-owner/closed", "an-owner/missing"]
        out = run(endpoint, tmp_path, "-c", FETCH, *names).stdout.splitlines()
    assert [line.split()[1] for line in out] == ["hub_gated", "hub_gated", "hub_missing"]
    assert all(f"“{name}”" in line for name, line in zip(names, out, strict=True))
    for more in ({}, {"HF_HUB_OFFLINE": "1"}):
        (line,) = run(endpoint, tmp_path, "-c", FETCH, "an-owner/gpt2", **more).stdout.splitlines()
        assert line.startswith("an-owner/gpt2 hub_failed “an-owner/gpt2” could not be fetched")
