"""The family of a model whose config names none, as configs of before 2020 do."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
import transformers
from safetensors import safe_open

from explorer.model.wrapped_names import WRAPPERS


def assumed_family(files: Sequence[Path]) -> str | None:
    """Family in the prefix of most names of weights, such as "bert" in "bert.encoder.layer.0".

    None if the most common prefix is no family, or if a file cannot be read.
    """
    try:
        names = [WRAPPERS.sub("", name) for file in files for name in _names(file)]
    except Exception:  # opening the model says what is wrong with the file
        return None
    firsts = Counter(name.split(".")[0] for name in names).most_common(1)
    return next((first for first, _ in firsts if first in transformers.CONFIG_MAPPING), None)


def _names(file: Path) -> Iterator[str]:
    if file.suffix == ".safetensors":
        with safe_open(file, "pt") as weights:
            yield from weights.keys()
    else:
        yield from torch.load(file, map_location="meta", weights_only=True)
