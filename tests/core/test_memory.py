import subprocess
import sys

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


@linux
def test_the_free_memory_is_a_part_of_all():
    half = half_of_memory()
    free = free_memory()
    assert half is not None
    assert free is not None
    assert 0 < free < 2 * half


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
