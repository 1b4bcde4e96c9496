"""The cache of the hub: names, versions, and what opens from it."""

import os
from pathlib import Path

import huggingface_hub.constants
import pytest

import explorer
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.model.huggingface.hub_cache import cached, hub_name, is_whole, model_name, snapshot
from tests.support.huggingface_families import saved, tiny_model


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


def test_the_version_is_that_of_main_else_the_newest(tmp_path):
    folder = versions(tmp_path / "models--a--b", "22", "33", "11", main="22\n")
    assert snapshot(folder).name == "22"
    for damaged in ("44", "../../../etc", ""):
        (folder / "refs" / "main").write_text(damaged)
        assert snapshot(folder).name == "11"
    assert snapshot(tmp_path / "models--none") is None
    assert snapshot(versions(tmp_path / "models--empty")) is None
    assert snapshot(versions(tmp_path / "other", "11")) is None


@pytest.mark.parametrize("name", ["openai-community/gpt2", "gpt2", "01-ai/Yi-1.5_6B"])
def test_names_of_the_hub(name):
    assert hub_name(Path(name)) == name


@pytest.mark.parametrize("path", ["/a/b", "../b", "a/b/c", "a b/c", "x/y.safetensors", "./.a"])
def test_other_paths_are_no_names_of_the_hub(path):
    assert hub_name(Path(path)) is None


def test_a_version_is_whole_with_config_and_weights(tmp_path):
    folder = saved(tiny_model("gpt2"), tmp_path / "gpt2")
    assert is_whole(folder)
    (folder / "config.json").rename(folder / "adapter_config.json")
    assert is_whole(folder)
    (folder / "adapter_config.json").unlink()
    assert not is_whole(folder)


@pytest.mark.parametrize("name", ["an-owner/tiny", "tiny"])
def test_a_cached_model_opens_by_its_name_its_folder_and_its_snapshot(name, cache):
    folder = versions(cache / f"models--{name.replace('/', '--')}", "22", "11", main="22")
    assert cached(name) == folder / "snapshots" / "22"
    saved(tiny_model("gpt2"), folder / "snapshots" / "22")
    for path in (name, folder, str(folder), folder / "snapshots" / "22"):
        model = explorer.load(path, download=True)  # nothing has to be fetched
        assert model.name == name
        assert model.trace("5 6", max_new_tokens=1).facts["model"] == name


def test_files_and_models_that_ship_go_before_the_cache(cache, tmp_path, monkeypatch):
    for name in ("sort", "other", "an-owner/tiny"):
        snapshots = versions(cache / f"models--{name.replace('/', '--')}", "22") / "snapshots"
        saved(tiny_model("gpt2"), snapshots / "22")
    assert explorer.load("sort").name == "sort"
    assert isinstance(explorer.load("sort"), explorer.ExplorableModel)
    monkeypatch.chdir(tmp_path)
    saved(tiny_model("bert"), tmp_path / "an-owner" / "tiny")
    assert explorer.load("an-owner/tiny").facts["family"] == "bert"
    assert explorer.load("other").facts["family"] == "gpt2"
    with pytest.raises(FileError, match=r"“nothing” is neither a file.*download=True"):
        explorer.load("nothing")


@pytest.mark.parametrize(
    ("given", "key", "own"),
    [
        ("an-owner/tiny@main", "hub_address", "an-owner/tiny"),
        ("tiny@v1.0", "hub_address", "tiny"),
        ("https://huggingface.co/an-owner/tiny", "hub_address", "an-owner/tiny"),
        ("https://huggingface.co/an-owner/tiny/tree/main", "hub_address", "an-owner/tiny"),
        ("huggingface.co/tiny/blob/main/config.json", "hub_address", "tiny"),
        ("https://hf.co/an-owner/tiny@main", "hub_address", "an-owner/tiny"),
        ("https://huggingface.co/datasets/an-owner/tiny", "no_hub_name", None),
        ("an-owner/tiny/more", "no_hub_name", None),
    ],
)
def test_other_ways_to_name_a_model_of_the_hub_are_told_what_to_write(
    given, key, own, cache, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for download in (False, True):  # nothing is fetched
        with pytest.raises(ModelDirectoryError) as caught:
            explorer.load(given, download=download)
        assert (caught.value.key, caught.value.facts.get("own")) == (key, own)
        assert (own or "openai-community/gpt2") in str(caught.value)


def test_a_path_with_a_file_at_its_end_is_no_name_of_the_hub(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("a/b/c.pt", "/a/b", "../a/b/c", "a b/c/d", "~/x"):
        with pytest.raises(FileError, match="cannot be read"):
            explorer.load(path)
