"""Several processes that train one model together, each on its share of every batch.

`torchrun` starts the processes and tells each its rank; torch's own engine (NCCL on GPUs,
Gloo on CPUs) adds up their gradients. One process alone is the same thing with a world of 1.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


@contextmanager
def together() -> Iterator[None]:
    """Join the other processes, where torchrun started some, until the block ends."""
    if "WORLD_SIZE" not in os.environ:
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def world() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """This process's number; number 0 alone writes files."""
    return dist.get_rank() if dist.is_initialized() else 0


def own_device() -> torch.device | None:
    """The GPU that is this process's own among several; None for a process alone."""
    if world() == 1 or not torch.cuda.is_available():
        return None
    return torch.device("cuda", torch.cuda.current_device())


def shared(model: nn.Module) -> nn.Module:
    """`model` with its gradients averaged over the processes after each backward pass."""
    return DistributedDataParallel(model) if world() > 1 else model


def without_exchange(model: nn.Module) -> AbstractContextManager[None]:
    """A block in which backward passes keep their gradients to themselves."""
    if isinstance(model, DistributedDataParallel):
        return model.no_sync()
    return nullcontext()


def total(value: Tensor) -> Tensor:
    """The sum of every process's `value`."""
    if world() > 1:
        value = value.clone()
        dist.all_reduce(value)
    return value


def agreed(decision: bool) -> bool:
    """What process 0 decided, for all."""
    if world() == 1:
        return decision
    device = own_device() or torch.device("cpu")
    word = torch.tensor([int(decision)], device=device)
    dist.broadcast(word, src=0)
    return bool(word.item())
