"""Models whose weights are on disk, as much of them as a small limit of memory leaves there."""

import numpy as np
import pytest
import torch
import transformers

import explorer
from explorer.heads.removal.gradient_importance import importance
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.placement import devices_of, on_device, weights_of
from tests.support.huggingface_families import ALL, FAMILIES, WEIGHTS_ONLY

REFUSED = {"marian", "bart", "mbart", "pegasus", "plbart", "blenderbot", "deberta", "deberta-v2"}
"""Their bias of the logits, or positions that no file has, cannot be on disk."""

TEXT = "5 17 8 41 9 23"


def offloaded(directory, name, share=0.5, dtype="float32", **options):
    """The model of a family, and it with that share of its weights in memory, wrapped itself."""
    whole = open_directory(directory(name), dtype=dtype)
    limit = {"cpu": max(1, int(share * whole.memory))}
    options |= {"device_map": "auto", "max_memory": limit, "dtype": getattr(torch, dtype)}
    options["attn_implementation"] = (
        "eager"  # with another one the library's Falcon has other logits
    )
    own_class = getattr(transformers, whole.facts["class"])
    placed = explorer.wrap(own_class.from_pretrained(directory(name), **options), copy=False)
    assert any(weight.is_meta for weight in placed.model.parameters())
    assert "disk" in placed.facts["devices"]
    return whole, placed


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - REFUSED) if ALL else ["t5", "llama"])
def test_captures_equal_those_of_a_model_in_memory(directory, tmp_path, name):
    share = 0.0 if name == "llama" else 0.5
    whole, placed = offloaded(directory, name, share, offload_folder=tmp_path)
    options = {} if whole.kind == Kind.ENCODER_ONLY else {"max_new_tokens": 4}
    site = whole.anatomy.all_heads[0].site
    for changes in ({}, {"ablate": [(site, 0, 1)], "edit_mask": [(site, 1, 0, 3, 2)]}):
        own, found = (
            model.trace(TEXT, pad_to=8, capture="full", **options, **changes)
            for model in (whole, placed)
        )
        assert found.integrity().ok.all(), found.integrity()
        assert own.predicted_tokens == found.predicted_tokens
        for array, values in own.arrays.items():
            if not array.startswith("early."):  # needs the weights in memory
                np.testing.assert_allclose(found.arrays[array], values, atol=1e-6, err_msg=array)


@pytest.mark.parametrize("name", sorted(set(WEIGHTS_ONLY) - REFUSED) if ALL else ["bloom"])
def test_returned_weights_equal_those_of_a_model_in_memory(directory, tmp_path, name):
    whole, placed = offloaded(directory, name, 0.0, offload_folder=tmp_path)
    assert placed.anatomy == whole.anatomy
    options = {} if whole.kind == Kind.ENCODER_ONLY else {"max_new_tokens": 4}
    own, found = (model.trace(TEXT, **options) for model in (whole, placed))
    for array, values in own.arrays.items():
        np.testing.assert_allclose(found.arrays[array], values, atol=1e-6, err_msg=array)


def test_half_precision_and_weights_on_disk_go_together(directory):
    whole, placed = offloaded(directory, "llama", dtype="bfloat16")
    own, found = (model.trace(TEXT, max_new_tokens=4) for model in (whole, placed))
    assert found.facts["precision"] == "half"
    assert found.integrity().ok.all(), found.integrity()
    np.testing.assert_array_equal(own.attention("decoder"), found.attention("decoder"))


def test_heads_are_measured_and_the_digest_is_the_same(directory):
    whole, placed = offloaded(directory, "llama")
    assert placed.digest == whole.digest
    assert [name for name, _ in weights_of(whole.model)] == list(whole.model.state_dict())
    own, found = (
        importance(model, model.passes.texts([TEXT, "9 9 30"], "two")) for model in (whole, placed)
    )
    np.testing.assert_allclose(found.importance, own.importance, rtol=1e-4)


def test_arguments_stay_where_a_model_takes_them_from_anywhere():
    class Model:
        device = torch.device("meta")

    ids = torch.tensor([[1]])
    assert on_device(Model(), {"input_ids": ids, "use_cache": True})["input_ids"] is ids


def test_the_devices_are_named_where_one_of_them_is_no_cpu():
    model = torch.nn.Linear(2, 2)
    model.device = torch.device("cpu")
    assert devices_of(model) == []
    model.device = torch.device("cuda", 0)
    assert devices_of(model) == ["cuda:0"]
    model.hf_device_map = {"one": "cpu", "two": "disk"}
    assert devices_of(model) == ["cpu", "disk"]
