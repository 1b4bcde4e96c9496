"""A file of weights alone, as `torch.save(model.state_dict(), …)` writes it, as a checkpoint."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from explorer.core.errors import CheckpointError
from explorer.core.files import opened, printable, size_of
from explorer.model.checkpoint import Checkpoint, built
from explorer.model.checkpoint_header import refuse_large, refuse_other_kinds
from explorer.model.explorable import ExplorableModel
from explorer.model.pickled_weights import asks_for_memory
from explorer.model.wrapped_names import bare

_INSIDE = ("state_dict", "model_state_dict", "model")
"""Names under which training loops save weights beside other values."""

_OF_DATA = ("task", "longest")
"""Facts of a checkpoint that hold for other weights of the same sizes, too."""


def from_state_dict(path: Path, like: ExplorableModel) -> Checkpoint:
    """The weights in a file with the sizes and vocabularies of the model `like`.

    The file may name them with the prefix of DataParallel or torch.compile, and have them beside
    other values. No code in it runs. Raises `FileError`, and `CheckpointError` on a file that holds
    no weights alone, or those of another model.
    """
    name = printable(path.name)
    weights = read_weights(path, name)
    own = like.transformer
    once = {key for key, _ in own.named_parameters()}
    again = own.state_dict().keys() & weights.keys() - once  # of tied weights
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
    """The weights in a file called `name` that torch wrote; as in `from_state_dict`."""
    with opened(path) as file:
        refuse_large(size_of(file), name)
        refuse_other_kinds(file, name)
        if asks_for_memory(file):
            raise CheckpointError("no_state_dict", name=name)
        try:
            found = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever a damaged file makes of it, or code that is not run
            raise CheckpointError("no_state_dict", name=name) from error
    inside = (found[key] for key in _INSIDE if isinstance(found, Mapping) and key in found)
    found = next((one for one in inside if isinstance(one, Mapping)), found)
    named = isinstance(found, Mapping) and found and all(isinstance(key, str) for key in found)
    if not named or not all(isinstance(weight, Tensor) for weight in found.values()):
        raise CheckpointError("no_state_dict", name=name)
    if any(weight.is_sparse or not weight.is_floating_point() for weight in found.values()):
        raise CheckpointError("no_state_dict", name=name)
    return {key: weight.float() for key, weight in bare(found).items()}
