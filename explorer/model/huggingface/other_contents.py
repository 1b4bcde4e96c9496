"""What a directory has in the place of whole weights, and what to do about it: pointers of Git LFS,
a part of the files, an adapter, quantised weights."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from explorer.core import json_values
from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.files import opened, printable, read_bytes
from explorer.model.huggingface.directory_files import LARGEST_CONFIG

ADAPTER = "adapter_config.json"

_POINTER = b"version https://git-lfs.github.com/spec/"
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SHOWN = 3  # names in a message

_LIBRARIES = {
    "gptq": ("GPTQ", "gptqmodel"),
    "awq": ("AWQ", "gptqmodel"),
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"),
    "compressed-tensors": ("compressed-tensors", "compressed-tensors"),
    "quanto": ("Quanto", "optimum-quanto"),
    "torchao": ("torchao", "torchao"),
    "hqq": ("HQQ", "hqq"),
    "aqlm": ("AQLM", "aqlm"),
    "eetq": ("EETQ", "eetq"),
    "auto-round": ("AutoRound", "auto-round"),
}
"""By the method that a config names: what it is called, and the library that computes with it."""

_PACKED = {
    **dict.fromkeys(("qweight", "qzeros", "g_idx"), "gptq"),
    **dict.fromkeys(("SCB", "absmax", "quant_map"), "bitsandbytes"),
    "weight_packed": "compressed-tensors",
}
"""The last part of the names of quantised weights → the method, whatever the config says."""


def refuse_pointers(path: Path, files: Iterable[Path]) -> None:
    """Raise `ModelDirectoryError` where one of the files is what Git writes in the place of a large
    file that was not fetched."""
    for file in files:
        with opened(file) as stream:
            if stream.read(len(_POINTER)) == _POINTER:
                named = {"name": path.name, "file": printable(file.name)}
                raise ModelDirectoryError("lfs_pointer", **named)


def refuse_absent_parts(path: Path, names: Iterable[str]) -> None:
    """Raise `ModelDirectoryError` where an index lists files with weights that are not among
    `names`, those in the directory, and no other file has all weights."""
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


def refuse_adapter(path: Path) -> None:
    """Raise `ModelDirectoryError` where a directory has an adapter, such as LoRA; to be called
    where it has no config or no weights of a model."""
    if (path / ADAPTER).exists():
        described = _object(path / ADAPTER)
        kind = str(described.get("peft_type", "PEFT"))[:20].replace("LORA", "LoRA")
        base = str(described.get("base_model_name_or_path") or "?")[:120]
        raise ModelDirectoryError("adapter", name=path.name, kind=kind, base=base)


def quantised(
    path: Path, described: Mapping[str, Any], names: Iterable[str] = ()
) -> ModelDirectoryError | None:
    """What to say of weights that only another library computes with; None where neither the
    config nor the names of weights tell of such."""
    settings = described.get("quantization_config")
    told = settings.get("quant_method") if isinstance(settings, dict) else None
    packed = (_PACKED.get(name.rpartition(".")[2]) for name in names)
    method = str(told or next(filter(None, packed), ""))[:40]
    if not method:
        return None
    called, library = _LIBRARIES.get(method, (method, method))
    return ModelDirectoryError("quantised", name=path.name, method=called, library=library)


def are_packed(names: Iterable[str]) -> bool:
    """Whether there are quantised weights among those of these names."""
    return any(name.rpartition(".")[2] in _PACKED for name in names)


def _object(file: Path) -> dict[str, Any]:
    """A JSON object in a file; an empty one where that is damaged."""
    try:
        return json_values.parse_object(read_bytes(file, LARGEST_CONFIG))
    except (FileError, ValueError):
        return {}
