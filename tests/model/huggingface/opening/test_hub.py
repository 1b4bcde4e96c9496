"""Models of the hub: in the cache, or fetched from one on this machine with the library's own
client."""

import os
import subprocess
import sys
from pathlib import Path

import huggingface_hub.constants
import pytest
import torch
from safetensors.torch import load_file

import explorer
from explorer.core import folders
from explorer.core.errors import FileError
from explorer.model.huggingface.opening.hub import cached, is_name, model_name, snapshot
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


def test_a_model_is_fetched_once(tmp_path):
    folder = saved(tiny_model("gpt2"), tmp_path / "gpt2")
    for name in (
        "pytorch_model.bin",
        "tf_model.h5",
        "modeling.py",
        "onnx/model.onnx",
        "sub/a.json",
    ):
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


def test_pickles_are_fetched_where_there_are_no_safetensors(tmp_path):
    folder = saved(tiny_model("gpt2"), tmp_path / "gpt2")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with serving({"an-owner/gpt2": folder}) as (endpoint, fetched):
        (line,) = run(endpoint, tmp_path / "home", "-c", FETCH, "an-owner/gpt2").stdout.splitlines()
    assert line == "an-owner/gpt2 an-owner/gpt2 an-owner/gpt2"
    assert sorted(fetched) == ["config.json", "generation_config.json", "pytorch_model.bin"]


def test_a_hub_that_refuses_lacks_or_cannot_be_reached_is_one_sentence_each(tmp_path):
    with serving({"an-owner/gated": 401, "an-owner/closed": 403}) as (endpoint, _):
        names = ["an-owner/gated", "an-owner/closed", "an-owner/missing"]
        out = run(endpoint, tmp_path, "-c", FETCH, *names).stdout.splitlines()
    assert [line.split()[1] for line in out] == ["hub_failed"] * 3
    for name, line in zip(names, out, strict=True):
        assert f"“{name}”" in line
        assert "hf auth login" in line
    for more in ({}, {"HF_HUB_OFFLINE": "1"}):
        (line,) = run(endpoint, tmp_path, "-c", FETCH, "an-owner/gpt2", **more).stdout.splitlines()
        assert line.startswith("an-owner/gpt2 hub_failed “an-owner/gpt2” could not be fetched")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the hub."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def versions(folder, *names, main=None):
    """A model's folder with versions, the first the oldest."""
    for age, name in enumerate(names):
        (folder / "snapshots" / name).mkdir(parents=True)
        os.utime(folder / "snapshots" / name, (age, age))
    if main is not None:
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(main)
    return folder


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("hub/models--openai-community--gpt2", "openai-community/gpt2"),
        ("hub/models--openai-community--gpt2/snapshots/4f3a", "openai-community/gpt2"),
        ("hub/models--gpt2/snapshots/4f3a", "gpt2"),
        ("snapshots/4f3a", "4f3a"),
        ("models--a--b/other/4f3a", "4f3a"),
        ("some/gpt2", "gpt2"),
    ],
)
def test_a_folder_of_the_cache_is_called_as_its_model(path, name):
    assert model_name(Path(path)) == name


def test_a_directory_without_a_name_is_called_as_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert model_name(Path()) == tmp_path.name


@pytest.mark.parametrize("name", ["openai-community/gpt2", "gpt2", "01-ai/Yi-1.5_6B"])
def test_names_of_the_hub(name):
    assert is_name(Path(name))


@pytest.mark.parametrize("path", ["/a/b", "../b", "a/b/c", "a b/c", "x/y.safetensors", "./.a"])
def test_other_paths_are_no_names_of_the_hub(path):
    assert not is_name(Path(path))


@pytest.mark.parametrize("name", ["an-owner/tiny", "tiny"])
def test_a_cached_model_opens_by_its_name_its_folder_and_its_snapshot(name, cache):
    folder = versions(cache / f"models--{name.replace('/', '--')}", "22", "11", main="22")
    saved(tiny_model("gpt2"), folder / "snapshots" / "22")
    assert cached(name) == folder / "snapshots" / "22"
    for path in (name, folder, str(folder), folder / "snapshots" / "22"):
        model = explorer.load(path)
        assert model.name == name
        assert model.trace("5 6", max_new_tokens=1).facts["model"] == name


def test_files_and_models_that_ship_go_before_the_cache(cache, tmp_path, monkeypatch):
    for name in ("sort", "other", "an-owner/tiny"):
        snapshots = versions(cache / f"models--{name.replace('/', '--')}", "22", main="22")
        snapshots /= "snapshots"
        saved(tiny_model("gpt2"), snapshots / "22")
    assert explorer.load("sort").name == "sort"
    assert isinstance(explorer.load("sort"), explorer.ExplorableModel)
    monkeypatch.chdir(tmp_path)
    saved(tiny_model("bert"), tmp_path / "an-owner" / "tiny")
    assert explorer.load("an-owner/tiny").facts["family"] == "bert"
    assert explorer.load("other").facts["family"] == "gpt2"
    with pytest.raises(FileError, match=r"“nothing” is neither a file.*download=True"):
        explorer.load("nothing")


def test_the_version_is_that_of_main(tmp_path):
    folder = versions(tmp_path / "models--a--b", "22", "11", main="22")
    for version in ("11", "22"):
        (folder / "snapshots" / version / "config.json").write_text("{}")
    assert snapshot(folder).name == "22"
    assert cached("a/b", tmp_path) == folder / "snapshots" / "22"
    assert snapshot(tmp_path / "models--none") is None
    assert snapshot(versions(tmp_path / "models--empty")) is None
    assert snapshot(versions(tmp_path / "other", "11", main="11")) is None


@pytest.mark.parametrize("given", ["an-owner/tiny@main", "https://huggingface.co/an-owner/tiny"])
@pytest.mark.parametrize("download", [True, False])
def test_an_address_is_no_name_of_a_model(given, download, cache, tmp_path, monkeypatch):
    """Nothing is fetched."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as caught:
        explorer.load(given, download=download)
    assert f"“{given.split('/')[-1]}” cannot be read" in str(caught.value)
