"""The device that a training runs on, and whether it computes in bfloat16."""

import torch

from explorer.core.errors import TrainingError


def choose_device(name: str) -> torch.device:
    """The device called `name`; "auto" is the GPU if there is one.

    The first device of a kind is named by its kind alone ("cuda", not "cuda:0"), so that each
    device has one name.

    Raises `TrainingError` when this machine has no device of that name.
    """
    there = ["cpu"]
    there += ["cuda"] if torch.cuda.is_available() else []
    there += ["mps"] if torch.backends.mps.is_available() else []
    if name == "auto":
        return torch.device("cuda" if "cuda" in there else "cpu")
    if name.split(":")[0] not in there:
        raise TrainingError("no_device", device=name, choices=", ".join(["auto", *there]))
    return torch.device(name.removesuffix(":0"))


def computes_bfloat16(device: torch.device) -> bool:
    """Whether `device` multiplies matrices of bfloat16 itself.

    A CPU that does not (AVX2 alone) takes several times as long as with float32.
    """
    if device.type != "cpu":
        return True
    return torch.backends.mkldnn.is_available() and bool(  # type: ignore[no-untyped-call]
        torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )
