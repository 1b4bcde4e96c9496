"""Errors for directories without whole weights, with a remedy each: pointers of Git LFS, only part
of the files, an adapter, quantised weights."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.files import opened, printable, read_bytes
from explorer.model.checkpoint_header import asks_for_memory
from explorer.model.huggingface.directory_files import LARGEST_CONFIG

ADAPTER = "adapter_config.json"

_POINTER = b"version https://git-lfs.github.com/spec/"
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SHOWN = 3  # names in a message

_LIBRARIES = {
    "gptq": ("GPTQ", "gptqmodel"),
    "awq": ("AWQ", "gptqmodel"),
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"),
    "bitsandbytes-4": ("bitsandbytes, 4 bits", "bitsandbytes"),
    "bitsandbytes-8": ("bitsandbytes, 8 bits", "bitsandbytes"),
    "fbgemm_fp8": ("FP8 of FBGEMM", "fbgemm-gpu"),
    "quark": ("Quark", "amd-quark"),
    "vptq": ("VPTQ", "vptq"),
    "spqr": ("SpQR", "spqr_quant"),
    "higgs": ("HIGGS", "flute-kernel"),
    "compressed-tensors": ("compressed-tensors", "compressed-tensors"),
    "quanto": ("Quanto", "optimum-quanto"),
    "torchao": ("torchao", "torchao"),
    "hqq": ("HQQ", "hqq"),
    "aqlm": ("AQLM", "aqlm"),
    "eetq": ("EETQ", "eetq"),
    "auto-round": ("AutoRound", "auto-round"),
}
"""Quantisation method in a config → its display name, and the library that computes with it."""

_DEQUANTISED = ("fp8", "mxfp8")
"""Methods whose weights the library itself can dequantise, without a GPU."""

_PACKED = {
    **dict.fromkeys(("weight_scale_inv", "weight_scale"), "fp8"),
    "W_q": "hqq",
    **dict.fromkeys(("qweight", "qzeros", "g_idx"), "gptq"),
    **dict.fromkeys(("SCB", "absmax", "quant_map"), "bitsandbytes"),
    "weight_packed": "compressed-tensors",
}
"""The last part of the names of quantised weights → the method, whatever the config says."""


def refuse_pointers(path: Path, files: Iterable[Path]) -> None:
    """Raise `ModelDirectoryError` if one of the files is a Git LFS pointer: Git writes it instead
    of a large file that was not fetched."""
    for file in files:
        with opened(file) as stream:
            if stream.read(len(_POINTER)) == _POINTER:
                named = {"name": path.name, "file": printable(file.name)}
                raise ModelDirectoryError("lfs_pointer", **named)


def refuse_damaged_weights(path: Path, files: Iterable[Path]) -> None:
    """Raise `ModelDirectoryError` if a file of weights is a pointer or empty, or if reading it may
    take all memory."""
    for file in files:
        refuse_pointers(path, [file])
        if not file.stat().st_size:
            raise ModelDirectoryError("empty_weights", name=path.name, file=printable(file.name))
        with opened(file) as stream:
            if file.suffix == ".bin" and asks_for_memory(stream):
                raise ModelDirectoryError("code_in_weights", name=path.name)


def refuse_absent_parts(path: Path, names: Iterable[str]) -> None:
    """Raise `ModelDirectoryError` if an index lists weight files that are not in the directory, and
    no other file has all weights.

    names: the files in the directory.
    """
    there = set(names)
    for index in _INDEXES:
        if index not in there or index.split(".index")[0] in there:
            continue
        listed = _object(path / index).get("weight_map")
        files = {str(file) for file in listed.values()} if isinstance(listed, dict) else set()
        absent = sorted(files - there)
        if absent:
            more = " …" if len(absent) > _SHOWN else ""
            named = printable(", ".join(file[:80] for file in absent[:_SHOWN]) + more)
            raise ModelDirectoryError(
                "absent_parts", name=path.name, index=index, count=len(absent), files=named
            )
        return


def described_adapter(path: Path) -> dict[str, Any]:
    """`adapter_config.json` of a directory; empty if it is damaged."""
    return _object(path / ADAPTER)


def refuse_other_formats(path: Path, names: Iterable[str]) -> None:
    """Raise `ModelDirectoryError` if a directory without readable weights has GGUF weights, which
    are for another program. names: its files."""
    for file in sorted(names):
        if file.endswith(".gguf"):
            raise ModelDirectoryError("gguf", name=path.name, file=printable(file[:80]))


def quantised(
    path: Path, described: Mapping[str, Any], names: Iterable[str] = ()
) -> ModelDirectoryError | None:
    """Error for quantised weights that only another library computes with, or None.

    None if neither the config nor the `names` of weights show a method.
    """
    settings = described.get("quantization_config")
    told = settings.get("quant_method") if isinstance(settings, dict) else None
    packed = (_PACKED.get(name.rpartition(".")[2]) for name in names)
    method = str(told or next(filter(None, packed), ""))[:40]
    if not method:
        return None
    if method in _DEQUANTISED:
        return ModelDirectoryError("quantised_fp8", name=path.name)
    if method == "bitsandbytes" and isinstance(settings, dict):
        bits = [bits for bits in (4, 8) if settings.get(f"load_in_{bits}bit") is True]
        method = f"{method}-{bits[0]}" if bits else method
    called, library = _LIBRARIES.get(method, (method, method))
    return ModelDirectoryError("quantised", name=path.name, method=called, library=library)


def are_packed(names: Iterable[str]) -> bool:
    """Whether any of these names of weights belongs to quantised weights."""
    return any(name.rpartition(".")[2] in _PACKED for name in names)


def _object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if the file is damaged."""
    try:
        return json_values.parse_object(read_bytes(file, LARGEST_CONFIG))
    except (FileError, ValueError):
        return {}
