"""The family by the names of weights, where a config names none."""

import pytest
import torch
from safetensors.torch import save_file

from explorer.model.huggingface.assumed_family import assumed_family

LAYER = ".encoder.layer.0.output.dense.weight"


def weights(*names):
    return {name: torch.ones(1) for name in names}


@pytest.mark.parametrize(
    ("names", "family"),
    [
        (("bert.a", f"bert{LAYER}", "cls.bias"), "bert"),
        (("module.roberta.a", "module.roberta.b", "module.lm_head.bias"), "roberta"),
        (("transformer.h.0.a", "transformer.h.1.a", "bert.a"), None),
        (("encoder.layer.0.a", "embeddings.a"), None),
        ((), None),
    ],
)
@pytest.mark.parametrize("ending", ["safetensors", "bin"])
def test_it_is_what_most_names_begin_with(names, family, ending, tmp_path):
    file = tmp_path / f"weights.{ending}"
    save = save_file if ending == "safetensors" else torch.save
    save(weights(*names), file)
    assert assumed_family([file]) == family


def test_damaged_files_tell_none(tmp_path):
    for name in ("a.safetensors", "a.bin"):
        (tmp_path / name).write_bytes(b"\x80x")
        assert assumed_family([tmp_path / name]) is None
