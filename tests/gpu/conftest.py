"""What runs on a GPU: `make gpu` on a machine that has one; elsewhere every test is skipped."""

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def gpu() -> torch.device:
    """The GPU; skips the test where there is none."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU with CUDA, and this machine has none")
    return torch.device("cuda")
