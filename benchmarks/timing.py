"""Times of repeated runs, and the processor time and the memory of a process."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def milliseconds(run: Callable[[], object]) -> float:
    """The time one call of `run` takes."""
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


def processor_milliseconds(run: Callable[[], object]) -> float:
    """The processor time of all threads of this process during one call of `run`."""
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)


def percentile_95(times: Sequence[float]) -> float:
    """The largest of the 95 % smallest values."""
    return sorted(times)[int(0.95 * (len(times) - 1))]


def processor_seconds(process: int) -> float:
    """Processor time that the process with this id has used, user and system. Linux only."""
    return time.clock_gettime(~process << 3 | 2)  # its clock, as clock_getcpuclockid(3) names it


def resident_megabytes(process: int | None = None) -> float:
    """Resident memory of the process with this id, by default of this one. Linux only."""
    return _status_megabytes("VmRSS", process or os.getpid())


def reset_peak() -> None:
    """Let `peak_megabytes` count from now on. Linux only."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_megabytes() -> float:
    """The largest resident memory of this process. Linux only."""
    return _status_megabytes("VmHWM", os.getpid())


def _status_megabytes(name: str, process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024
