import os
import sys
import time

import pytest

from benchmarks.timing import (
    milliseconds,
    peak_megabytes,
    percentile_95,
    processor_seconds,
    reset_peak,
    resident_megabytes,
)


def test_a_call_is_timed_in_milliseconds():
    calls = []
    assert 0 <= milliseconds(lambda: calls.append(1)) < 1000
    assert calls == [1]


def test_the_percentile_leaves_out_the_slowest_twentieth():
    assert percentile_95(list(range(100, -1, -1))) == 95
    assert percentile_95([7.0]) == 7.0


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_counted_in_megabytes():
    before = resident_megabytes()
    block = bytearray(b"x" * 50 * 2**20)
    assert 30 < resident_megabytes() - before < 80
    assert len(block)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_peak_is_counted_from_its_reset_on():
    block = bytearray(b"x" * 50 * 2**20)
    assert peak_megabytes() > 50
    del block
    reset_peak()
    before = peak_megabytes()
    block = bytearray(b"x" * 50 * 2**20)
    del block
    assert 40 < peak_megabytes() - before < 130  # the bytes, and their copy


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of a process by its id")
def test_the_clock_of_a_process_is_its_processor_time():
    start, own = processor_seconds(os.getpid()), time.process_time()
    sum(range(2_000_000))
    used = time.process_time() - own
    assert abs(processor_seconds(os.getpid()) - start - used) < 0.01 + 0.2 * used
