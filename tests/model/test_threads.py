"""The number of threads torch computes with."""

import threading
from collections.abc import Callable, Iterator

import pytest
import torch

from explorer.core.interventions import Interventions
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.heads.removal.ablation import effect
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.model import threads
from explorer.model.config import ModelConfig
from explorer.model.threads import threads_for
from explorer.model.transformer import Transformer

SIZES = ModelConfig(20, 20)


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """The program has set two threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def in_another_thread(run: Callable[[], int]) -> int:
    """What `run` returns in a thread that has not computed before."""
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    thread.join()
    return found[0]


def test_what_is_small_is_computed_by_one_thread_and_what_is_large_by_all():
    with threads_for(SIZES.parameters, 16):
        assert torch.get_num_threads() == 1
        with threads_for(SIZES.parameters, 10**6):
            assert torch.get_num_threads() == 1
    with threads_for(SIZES.parameters, 10**6):
        assert torch.get_num_threads() == 2


def test_the_setting_of_the_program_is_restored_also_after_an_error():
    @threads_for(SIZES.parameters, 16)
    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert torch.get_num_threads() == 2
    assert in_another_thread(torch.get_num_threads) == 2


def test_other_threads_of_the_program_keep_their_number_during_the_block():
    entered, ended = threading.Event(), threading.Event()

    def block() -> int:
        with threads_for(SIZES.parameters, 16):
            entered.set()
            assert ended.wait(60)
            return torch.get_num_threads()

    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(block()))
    thread.start()
    assert entered.wait(60)
    assert torch.get_num_threads() == 2
    assert in_another_thread(torch.get_num_threads) == 2  # it computes for the first time
    with threads_for(SIZES.parameters, 16):
        assert in_another_thread(torch.get_num_threads) == 2
    assert torch.get_num_threads() == 2
    ended.set()
    thread.join()
    assert found == [1]


def test_a_program_with_one_thread_is_left_alone():
    torch.set_num_threads(1)
    with threads_for(SIZES.parameters, 10**6):
        assert torch.get_num_threads() == 1


def test_traces_and_measurements_choose_their_threads(explorable, monkeypatch):
    seen: set[int] = set()
    encode = Transformer.encode

    def look(self, *values):
        seen.add(torch.get_num_threads())
        return encode(self, *values)

    monkeypatch.setattr(Transformer, "encode", look)
    batch = task_sentences(explorable, 4)
    runs: list[Callable[[], object]] = [
        lambda: explorable.trace("1 2 3", pad_to=6),
        lambda: mean_outputs(explorable, batch),
        lambda: explorable.passes.texts(["1 2", "3"], "lines"),
        lambda: measure(explorable, batch, gradients=True, removed_on=2),
        lambda: effect(explorable, batch, Interventions.parse(["ablate cross.1.2"])),
    ]
    for run in runs:
        seen.clear()
        run()
        assert seen == {1}
        with monkeypatch.context() as large:
            large.setattr(threads, "SMALL", 0)
            seen.clear()
            run()
            assert seen == {2}
        assert torch.get_num_threads() == 2
