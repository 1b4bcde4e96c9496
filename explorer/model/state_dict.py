"""Checkpoint from a file with only weights, as `torch.save(model.state_dict(), …)` writes it."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from explorer.core.errors import CheckpointError
from explorer.core.files import opened, printable, size_of
from explorer.model.checkpoint import Checkpoint, built
from explorer.model.checkpoint_header import (
    asks_for_memory,
    refuse_gpt2,
    refuse_large,
    refuse_other_kinds,
)
from explorer.model.explorable import ExplorableModel
from explorer.model.wrapped_names import bare

_INSIDE = ("state_dict", "model_state_dict", "model")
"""Keys under which training loops save weights together with other values."""

_OF_DATA = ("task", "longest")
"""Facts of a checkpoint that hold for other weights of the same sizes, too."""


def from_state_dict(path: Path, like: ExplorableModel) -> Checkpoint:
    """The weights in a file with the sizes and vocabularies of the model `like`.

    Names may have the prefix of DataParallel or torch.compile, and the file may hold other values,
    too. No code in it runs. Raises `FileError`, and `CheckpointError` on a file without a state
    dict, or with one of another model.
    """
    name = printable(path.name)
    weights = read_weights(path, name)
    own = like.transformer
    once = {key for key, _ in own.named_parameters()}
    again = own.state_dict().keys() & weights.keys() - once  # further names of tied weights
    try:
        single = {key: weight for key, weight in weights.items() if key not in again}
        model = built(own.config, single, name)
    except CheckpointError as error:
        if error.key == "mismatched_weights":
            raise CheckpointError("other_state_dict", **error.facts, like=like.name) from error
        raise
    for key in again:
        if not torch.equal(model.state_dict()[key], weights[key]):
            facts = {"name": name, "weight": key, "like": like.name, "got": "untied"}
            raise CheckpointError("other_state_dict", **facts, expected="tied")
    facts = {key: like.facts[key] for key in _OF_DATA if key in like.facts}
    return Checkpoint(model, like.source_vocabulary, like.target_vocabulary, facts)


def read_weights(path: Path, name: str) -> dict[str, Tensor]:
    """The weights in a torch file called `name`. Raises the errors of `from_state_dict`."""
    with opened(path) as file:
        refuse_other_kinds(file, name)
        refuse_large(size_of(file), name)
        if asks_for_memory(file):
            raise CheckpointError("no_state_dict", name=name)
        try:
            found = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # a damaged file may raise anything; code in it is refused
            raise CheckpointError("no_state_dict", name=name) from error
    try:
        return checked_weights(found)
    except CheckpointError as error:
        raise CheckpointError("no_state_dict", name=name) from error


def checked_weights(found: object) -> dict[str, Tensor]:
    """The weights in a state dict, in float32 on the CPU, by their bare names.

    The state dict may be an entry of a dictionary with other values. Raises `CheckpointError` on
    anything else.
    """
    if not isinstance(found, Mapping):
        raise CheckpointError("not_state_dict", got=type(found).__name__)
    inside = (found[key] for key in _INSIDE if key in found)
    weights = next((one for one in inside if isinstance(one, Mapping)), found)
    refuse_gpt2(" ".join(map(str, weights)).encode(), "state_dict")
    if not weights:
        raise CheckpointError("not_state_dict", got="{}")
    for key, weight in weights.items():
        if not isinstance(key, str) or not isinstance(weight, Tensor):
            raise CheckpointError("not_state_dict", got=f"{key!r}: {type(weight).__name__}")
        if weight.is_sparse or weight.is_meta or not weight.is_floating_point():
            raise CheckpointError("not_state_dict", got=f"{key!r}: {weight.dtype}")
    return {key: weight.detach().float().cpu() for key, weight in bare(weights).items()}
