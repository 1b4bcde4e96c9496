"""Weights saved alone become a checkpoint; whatever else is in a pickle is refused unrun."""

import io
import pickle
import zipfile

import pytest
import torch
from torch.nn import DataParallel

from explorer.core.errors import CheckpointError, FileError
from explorer.model.opening import load
from explorer.model.state_dict import from_state_dict


def refused(path, like, key, *words):
    with pytest.raises(CheckpointError) as caught:
        from_state_dict(path, like)
    assert caught.value.key == key
    for word in words:
        assert word in str(caught.value)
        assert word in caught.value.in_language("zh")


def shaken(model):
    """Other weights of the same names and shapes."""
    generator = torch.Generator().manual_seed(5)
    weights = model.transformer.state_dict()
    return {name: torch.randn(one.shape, generator=generator) for name, one in weights.items()}


@pytest.mark.parametrize("inside", [None, "state_dict", "model_state_dict", "model"])
@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod."])
def test_the_weights_are_those_of_the_file(inside, prefix, explorable, tmp_path):
    weights = shaken(explorable)
    named = {prefix + name: weight.half() for name, weight in weights.items()}
    torch.save(named if inside is None else {"epoch": 3, inside: named}, tmp_path / "x.pt")
    found = from_state_dict(tmp_path / "x.pt", explorable)
    for name, weight in found.model.state_dict().items():
        assert torch.equal(weight, weights[name].half().float())
    assert found.source_vocabulary == explorable.source_vocabulary
    assert "exact_match" not in found.facts


def test_a_model_in_a_wrapper_of_torch_is_read(explorable, tmp_path):
    torch.save(DataParallel(explorable.transformer).state_dict(), tmp_path / "x.pt")
    found = from_state_dict(tmp_path / "x.pt", explorable).model.state_dict()
    for name, weight in explorable.transformer.state_dict().items():
        assert torch.equal(found[name], weight)


def test_tied_weights_are_in_the_file_twice_and_must_be_equal(tmp_path):
    tied = load("english-french")
    weights = tied.transformer.state_dict()
    assert len(weights) > len(list(tied.transformer.parameters()))
    torch.save(weights, tmp_path / "x.pt")
    found = from_state_dict(tmp_path / "x.pt", tied).model.state_dict()
    assert all(torch.equal(found[name], weight) for name, weight in weights.items())
    second = next(iter(weights.keys() - {name for name, _ in tied.transformer.named_parameters()}))
    torch.save(weights | {second: weights[second] + 1}, tmp_path / "x.pt")
    refused(tmp_path / "x.pt", tied, "other_state_dict", second)


def test_weights_of_another_model_are_named(explorable, tmp_path):
    weights = shaken(explorable)
    name = next(name for name, weight in weights.items() if weight.dim() == 2)
    torch.save(weights | {name: torch.ones(3, 3)}, tmp_path / "x.pt")
    refused(tmp_path / "x.pt", explorable, "other_state_dict", name, explorable.name, "[3, 3]")
    weights.pop(name)
    torch.save(weights, tmp_path / "x.pt")
    refused(tmp_path / "x.pt", explorable, "other_state_dict", name)


def test_what_is_no_weights_is_refused_and_never_run(explorable, tmp_path):
    trap = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (open, (str(trap), "w"))

    odd = {
        "code": pickle.dumps({"weight": Evil()}),
        "text": b"x" * 100,
        "empty": b"",
    }
    for name, value in {
        "whole": explorable.transformer,
        "list": [torch.ones(1)],
        "numbers": {1: torch.ones(1)},
        "nothing": {},
        "integers": {"a": torch.ones(2, dtype=torch.int64)},
        "values": {"a": 3.0},
    }.items():
        stream = io.BytesIO()
        torch.save(value, stream)
        odd[name] = stream.getvalue()
    for name, data in odd.items():
        (tmp_path / f"{name}.pt").write_bytes(data)
        refused(tmp_path / f"{name}.pt", explorable, "no_state_dict", name)
    assert not trap.exists()
    with pytest.raises(FileError):
        from_state_dict(tmp_path / "none.pt", explorable)


def test_an_archive_that_unfolds_is_refused_before(explorable, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", bytes(2**20))
    refused(tmp_path / "x.pt", explorable, "no_state_dict")
