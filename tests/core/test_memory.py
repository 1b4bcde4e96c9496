import subprocess
import sys
from pathlib import Path

import pytest
import torch

from explorer.core import folders
from explorer.core.memory import free_memory, half_of_memory, ran_out_of_memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="no other system says it")

FILL = """
import torch
from explorer.core.memory import limit_memory, ran_out_of_memory
limit_memory(2 * 2**30)
torch.ones(2**20)
try:
    torch.ones(2**30)
except RuntimeError as error:
    print(ran_out_of_memory(error))
"""


def test_the_free_memory_is_a_part_of_all():
    assert 0 < free_memory() < 2 * half_of_memory()


@linux
def test_memory_is_as_the_system_says():
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    kilobytes = {name: int(rest.split()[0]) for name, rest in (one.split(":") for one in lines)}
    assert half_of_memory() == kilobytes["MemTotal"] * 1024 // 2
    assert free_memory() == pytest.approx(kilobytes["MemAvailable"] * 1024, rel=0.2)


@linux
def test_a_limited_process_gets_no_more_and_the_error_is_known():
    """Four gigabytes where two are allowed: torch's own error, which has no type of its own."""
    command = [sys.executable, "-c", FILL]
    found = subprocess.run(
        command, cwd=folders.IMPORT_ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout == "True\n"


@pytest.mark.parametrize(
    ("error", "known"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("shapes differ"), False),
        (ValueError("memory"), False),
    ],
)
def test_only_errors_of_memory_are_taken_for_such(error, known):
    assert ran_out_of_memory(error) is known
