"""Fixtures of several tests: small models with random weights from a fixed seed, and files."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: tiny products, small machines
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell starts processes in background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests interrupt their children

import pytest
import torch

from explorer.core.vocabulary import EOS, SymbolVocabulary
from explorer.model.checkpoint import Checkpoint
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer import Transformer
from tests.support.reruns import pytest_sessionfinish, pytest_terminal_summary  # noqa: F401
from tests.support.sample import ALL, SEED, sampled
from tests.support.tiny_configs import PRIMES
from tests.support.toy_sentences import as_table

_HERE = Path(__file__).parent


def pytest_report_header() -> str:
    """Which cases of the large checks are taken, see `support/sample.py`."""
    return "cases: all" if ALL else f"cases: the sample of SEED={SEED}"


_WHOLE = 150
"""Tests of one run from which on it takes a sample of the slow ones; fewer are named on purpose."""

_SLOW = {
    "browser": 20,
    "jobs": 36,
    "benchmarks": 5,
    "components/inside/test_cell_texts.py": 5,
    "model/huggingface/opening/test_hub.py": 3,
    "test_installed_package.py": 8,
    "test_release.py": 1,
    "test_reruns.py": 3,
    "test_studies.py": 1,
}
"""Tests that one run takes of those that start browsers or processes, or go through every model
that ships: all are more than two processors do in the time `make test` has. `CASES=all` takes
each."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the slow tests beyond a sample, and begin with the files that take longest, so that no
    worker is left alone with one at the end: workers take whole files, in this order with
    `--no-loadscope-reorder`."""
    for part, count in _SLOW.items() if len(items) >= _WHOLE else ():
        ours = [item for item in items if item.path.is_relative_to(_HERE / part)]
        taken = set(sampled(sorted(item.nodeid for item in ours), count))
        for item in ours:
            if item.nodeid not in taken:
                item.add_marker(pytest.mark.skip(reason="beyond this run's sample of slow tests"))
    order = [_HERE / folder for folder in ("browser", "training", "jobs", "benchmarks")]

    def rank(item: pytest.Item) -> int:
        ranks = (number for number, folder in enumerate(order) if folder in item.path.parents)
        return next(ranks, len(order))

    items.sort(key=rank)


@pytest.fixture
def make_model() -> Callable[..., Transformer]:
    """A Transformer of the given sizes, random but for its seed, in evaluation mode."""

    def make(config: ModelConfig = PRIMES, seed: int = 0) -> Transformer:
        torch.manual_seed(seed)
        model = Transformer(config).eval()
        with torch.no_grad():  # biases of zero would hide a missing one
            for weight in model.parameters():
                weight.add_(0.05 * torch.randn_like(weight))
        return model

    return make


_SYMBOLS = SymbolVocabulary(("1", "2", "3", "<b>", "甲"))
_FIVE_SYMBOLS = ModelConfig(
    source_vocabulary=8,
    target_vocabulary=8,
    d_model=12,
    heads=3,
    encoder_layers=1,
    decoder_layers=2,
    d_ff=20,
    max_length=11,
)


@pytest.fixture
def explorable(make_model: Callable[..., Transformer]) -> ExplorableModel:
    """An untrained model of five symbols whose facts name the task reverse."""
    model = make_model(_FIVE_SYMBOLS, seed=3)
    with torch.no_grad():
        model.logits.bias[EOS] = -1.5  # untrained, it would end at once
    checkpoint = Checkpoint(model, _SYMBOLS, _SYMBOLS, {"task": "reverse"})
    return ExplorableModel(checkpoint, "tiny")


@pytest.fixture
def continuing(make_model: Callable[..., Transformer]) -> ExplorableModel:
    """An untrained decoder alone of five symbols, which writes a while before it ends."""
    model = make_model(replace(_FIVE_SYMBOLS, encoder_layers=0), seed=3)
    return ExplorableModel(Checkpoint(model, _SYMBOLS, _SYMBOLS, {}), "alone")


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """A file of 240 sentences and their translations."""
    path = tmp_path / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    return path


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tiny random model of each kind: opus-tiny, gpt-tiny, bert-tiny."""
    from tests.support import model_directories  # late: the library takes a second

    folder = tmp_path_factory.mktemp("models")
    model_directories.marian(folder / "opus-tiny")
    model_directories.gpt2(folder / "gpt-tiny")
    model_directories.bert(folder / "bert-tiny")
    return folder
