"""The known models, in a cache of the hub."""

from pathlib import Path

import huggingface_hub.constants
import pytest

from explorer.model.huggingface.opening import hub
from explorer.model.known_models import KNOWN_MODELS
from tests.support.hub_cache import version

GPT2, MINI = KNOWN_MODELS.values()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_sizes_are_rounded_to_ten_megabytes():
    assert (GPT2.size, MINI.size) == ("550 MB", "90 MB")


@pytest.mark.parametrize("folder", ["models--gpt2", "models--openai-community--gpt2"])
def test_a_model_is_there_under_either_name(folder, cache):
    whole = ("config.json", "tokenizer.json", "model.safetensors")
    assert GPT2.snapshot is None
    assert version(cache, folder, *whole) == GPT2.snapshot
    assert MINI.snapshot is None


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_model_of_which_a_file_is_missing_is_not_there(missing, cache):
    files = {"config.json", "tokenizer.json", "model.safetensors"} - {missing}
    version(cache, "models--gpt2", *files)
    assert GPT2.snapshot is None


def test_the_share_counts_unfinished_files(cache):
    blobs = cache / "models--sentence-transformers--all-MiniLM-L6-v2" / "blobs"
    blobs.mkdir(parents=True)
    assert MINI.share == 0
    for name, size in (("one", 9_160_000), ("two.7.incomplete", 18_320_000)):
        with (blobs / name).open("wb") as file:
            file.truncate(size)
    assert MINI.share == pytest.approx(0.3)
    hub.delete_unfinished(MINI.name)
    assert MINI.share == pytest.approx(0.1)


def test_an_unfinished_file_that_the_next_fetch_goes_on_with_stays(cache):
    blobs = cache / "models--gpt2" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "abc.incomplete").write_bytes(b"12")
    hub.delete_unfinished(GPT2.name)
    assert hub.fetched_bytes(GPT2.name) == 2
