"""Signals during a training."""

import os
import signal
import threading

import pytest

from explorer.jobs.stop_signals import StopSignals


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_is_noted_and_the_second_acts_as_before(number, status):
    caught: list[int] = []
    before = signal.signal(number, lambda number, frame: caught.append(number))
    try:
        with StopSignals() as stops:
            assert not stops()
            os.kill(os.getpid(), number)
            assert stops()
            assert stops.exit_status == status
            assert not caught
            os.kill(os.getpid(), number)
            assert caught == [number]
    finally:
        signal.signal(number, before)


def test_the_handlers_are_restored_after_the_block():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with StopSignals():
        pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals() as stops:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stops()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_changes_no_handler():
    seen: list[bool] = []
    before = signal.getsignal(signal.SIGINT)

    def inside() -> None:
        with StopSignals() as stops:
            seen.append(stops() or signal.getsignal(signal.SIGINT) is not before)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [False]
