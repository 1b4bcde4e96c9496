"""Fetches of known models from a hub on this machine."""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import huggingface_hub.constants
import pytest

from explorer.core import folders
from explorer.core.errors import ModelDirectoryError
from explorer.jobs import fetch
from explorer.jobs.fetch import Fetch
from explorer.jobs.measurement import queued_measurements
from explorer.jobs.status import Status
from explorer.model.known_models import KNOWN_MODELS
from tests.support import model_directories
from tests.support.fake_hub import COMMIT, serving
from tests.support.short_runs import wait_for

GPT2 = KNOWN_MODELS["gpt2"]

WEIGHTS = 40 * 2**20  # bytes; the library writes ten MiB at a time


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's folder in an empty cache of the hub, of this process and of those it starts."""
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path / "reports"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub" / "models--gpt2"


@pytest.fixture
def hub(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, list[str], Event]]:
    """The files of the model on a hub, those that were fetched, and what lets the rest come."""
    folder, rest = model_directories.gpt2(tmp_path / "gpt2"), Event()
    (folder / "merges.h5").write_bytes(b"not read here")
    with (folder / "model.safetensors").open("wb") as weights:
        weights.truncate(WEIGHTS)
    with serving({"gpt2": folder}, rest) as (endpoint, fetched):
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        yield folder, fetched, rest
        Fetch.of(GPT2).cancel()
        wait_for(lambda: not Fetch.of(GPT2).active)


def unfinished(cache: Path) -> list[Path]:
    files = cache.glob("blobs/*.incomplete")
    return [file for file in files if file.stat().st_size == WEIGHTS // 2]


def test_a_fetch_tells_its_share_and_ends_with_the_whole_model(hub, cache):
    folder, fetched, rest = hub
    files = [file for file in folder.iterdir() if file.suffix != ".h5"]
    model = replace(GPT2, bytes=sum(file.stat().st_size for file in files))
    job = Fetch.of(model)
    assert job.share is None
    fetch.begin(model)
    wait_for(lambda: len(fetched) == len(files) and bool(unfinished(cache)))
    assert job.share == pytest.approx(1 - WEIGHTS / 2 / model.bytes)
    assert model.snapshot is None
    assert queued_measurements() == []
    fetch.begin(model)  # the same
    rest.set()
    wait_for(lambda: not job.active)
    assert (job.status().state, job.failure, job.share) == ("done", None, None)
    assert model.snapshot == cache / "snapshots" / COMMIT
    assert sorted(fetched) == sorted(file.name for file in files)


def test_one_that_is_cancelled_keeps_the_files_it_has_finished(hub, cache):
    folder, fetched, rest = hub
    small = sorted(file.name for file in folder.glob("*.json"))
    fetch.begin(GPT2)
    wait_for(lambda: len(fetched) == len(small) + 1 and bool(unfinished(cache)))
    wait_for(lambda: sorted(file.name for file in cache.glob("snapshots/*/*")) == small)
    Fetch.of(GPT2).cancel()
    wait_for(lambda: not Fetch.of(GPT2).active)
    assert Fetch.of(GPT2).status().state == "stopped"
    assert Fetch.of(GPT2).failure is None
    assert not list(cache.glob("blobs/*.incomplete"))
    assert GPT2.snapshot is None
    fetched.clear()
    rest.set()
    fetch.begin(GPT2)
    wait_for(lambda: GPT2.snapshot is not None)
    assert fetched == ["model.safetensors"]


def test_without_a_hub_it_fails_with_one_sentence_and_the_command(cache, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    fetch.begin(GPT2)
    wait_for(lambda: not Fetch.of(GPT2).active)
    error = Fetch.of(GPT2).failure
    assert error is not None
    assert str(error).startswith("“GPT-2 small” could not be fetched (")
    assert str(error).endswith('run: python -m explorer trace gpt2 "The cat" --download')


def test_one_whose_process_is_gone_says_so(cache):
    job = Fetch.of(GPT2)
    job.create({"name": "gpt2"})
    job.write_status(Status("running", 0, time.time() - 100, 1))
    assert "(interrupted)" in str(job.failure)


def test_without_the_library_nothing_is_begun(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelDirectoryError, match=r"pip install '.*\[huggingface\]'"):
        fetch.begin(GPT2)
    assert not Fetch.of(GPT2).folder.exists()
