"""Data-parallel training: several processes train one model, each on its share of every batch.

torchrun, or `launch` in the same way, starts the processes and sets the rank of each;
torch.distributed (NCCL on GPUs, Gloo on CPUs) averages their gradients. A single process has
world size 1, and every function here works there, too.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from explorer.core.errors import TrainingError


def is_launched() -> bool:
    """Whether torchrun or `launch` started this process."""
    return "WORLD_SIZE" in os.environ


def launch(arguments: Sequence[str], processes: int) -> int:
    """Carry out `python -m explorer` with `arguments` in so many processes on this machine;
    returns their exit status. They receive the signals that this process receives.

    Raises `TrainingError` when there are GPUs, but fewer than processes.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    gpus = torch.cuda.device_count()
    if 0 < gpus < processes:
        raise TrainingError("too_few_gpus", processes=processes, gpus=gpus)
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=processes, max_restarts=0,
        run_id="training", rdzv_backend="c10d", rdzv_endpoint="localhost:0",
    )  # fmt: skip
    try:
        elastic_launch(config, sys.executable)("-m", "explorer", *arguments)
    except SignalException as signalled:
        return 128 + int(signalled.sigval)
    except ChildFailedError as failed:
        _, failure = failed.get_first_failure()
        return int(failure.exitcode)
    return 0


@contextmanager
def process_group() -> Iterator[None]:
    """Join the process group of torchrun, if there is one, until the block ends."""
    if not is_launched():
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def world_size() -> int:
    """The number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """The number of this process; only rank 0 writes files."""
    return dist.get_rank() if dist.is_initialized() else 0


def local_device() -> torch.device | None:
    """The GPU of this process; None for a single process, and on CPUs."""
    if world_size() == 1 or not torch.cuda.is_available():
        return None
    return torch.device("cuda", torch.cuda.current_device())


def gpu_numbers(device: torch.device) -> range:
    """The numbers of the devices that the processes use on this machine.

    device: that of this process.
    """
    if local_device() is None:
        first = device.index or 0
        return range(first, first + 1)
    return range(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def data_parallel(model: nn.Module) -> nn.Module:
    """`model` with its gradients averaged over the processes after each backward pass."""
    return DistributedDataParallel(model) if world_size() > 1 else model


def no_gradient_sync(model: nn.Module) -> AbstractContextManager[None]:
    """A block whose backward passes do not average gradients (gradient accumulation)."""
    if isinstance(model, DistributedDataParallel):
        return model.no_sync()
    return nullcontext()


def all_reduce_sum(value: Tensor) -> Tensor:
    """The sum of `value` over all processes."""
    if world_size() > 1:
        value = value.clone()
        dist.all_reduce(value)
    return value


def broadcast_decision(decision: bool) -> bool:
    """The decision of rank 0, in every process."""
    if world_size() == 1:
        return decision
    device = local_device() or torch.device("cpu")
    flag = torch.tensor([int(decision)], device=device)
    dist.broadcast(flag, src=0)
    return bool(flag.item())
