import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from explorer.core.errors import CheckpointError, ExplorerError, FileError, VocabularyError
from explorer.core.vocabulary import EOS, SymbolVocabulary
from explorer.model.checkpoint import (
    Checkpoint,
    from_bytes,
    load_checkpoint,
    save_checkpoint,
    to_bytes,
)
from explorer.model.checkpoint_header import LARGEST_FILE
from tests.support.tiny_configs import PRIMES


@pytest.fixture
def checkpoint(make_model) -> Checkpoint:
    source = SymbolVocabulary(tuple("abcdefghij"))
    target = SymbolVocabulary(tuple("abcdefghijklmn"))
    return Checkpoint(make_model(PRIMES), source, target, {"task": "copy", "note": "甲"})


def rewrite(data: bytes, **changes: str) -> bytes:
    """The same tensors with other words beside them."""
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    return save(load(data), metadata | changes)


def test_the_ids_of_a_text_have_its_end_and_fit_into_the_model(checkpoint):
    most = checkpoint.model.config.max_length
    assert checkpoint.ids("a c", "source") == [3, 5, EOS]
    assert checkpoint.ids("n", "target", ended=False) == [3 + 13]
    assert len(checkpoint.ids("a " * most, "target", ended=False)) == most
    for side in ("source", "target"):
        with pytest.raises(VocabularyError) as caught:
            checkpoint.ids("a " * most, side)
        assert caught.value.key == f"long_{side}"
        assert (caught.value.facts["got"], caught.value.facts["limit"]) == (most + 1, most)


def test_a_file_round_trip_keeps_weights_config_vocabularies_and_facts(checkpoint, tmp_path):
    path = tmp_path / "deep" / "x.safetensors"
    save_checkpoint(checkpoint, path)
    again = load_checkpoint(path)
    assert again.model.config == PRIMES
    assert not again.model.training
    assert again.source_vocabulary == checkpoint.source_vocabulary
    assert again.target_vocabulary == checkpoint.target_vocabulary
    assert again.facts == checkpoint.facts
    for one, other in zip(again.model.parameters(), checkpoint.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_decoder_alone_comes_back_without_a_bias(continuing):
    checkpoint = replace(continuing.checkpoint, facts={"task": "continue"})
    again = from_bytes(to_bytes(checkpoint), "x")
    assert again.model.config == checkpoint.model.config
    assert again.model.state_dict().keys() == checkpoint.model.state_dict().keys()
    assert "bias" not in dict(again.model.logits.named_parameters())
    prompt = again.target_vocabulary.encode("1 2")
    assert again.read("1 2") == ([], prompt)
    assert checkpoint.summary.most_tokens == 10


def test_a_checkpoint_always_has_the_same_bytes(checkpoint):
    data = to_bytes(checkpoint)
    assert {to_bytes(checkpoint) for _ in range(5)} == {data}
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    assert list(metadata) == sorted(metadata)


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod."])
def test_the_prefix_of_a_wrapper_is_left_out(prefix, checkpoint):
    data = to_bytes(checkpoint)
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    wrapped = {prefix + name: weight for name, weight in load(data).items()}
    assert to_bytes(from_bytes(save(wrapped, metadata), "x")) == data


def test_tied_weights_are_stored_once_and_stay_tied(make_model, tmp_path):
    config = replace(PRIMES, source_vocabulary=17, tied_embeddings=True)
    vocabulary = SymbolVocabulary(tuple("abcdefghijklmn"))
    data = to_bytes(Checkpoint(make_model(config), vocabulary, vocabulary, {}))
    model = from_bytes(data, "x").model
    assert model.logits.weight is model.encoder.embedding.tokens.weight
    assert sum(weight.numel() for weight in load(data).values()) == config.parameters


def changed(checkpoint: Checkpoint, how: str) -> bytes:
    data = to_bytes(checkpoint)
    tensors = load(data)
    config = {"d_model": 42, "heads": 7, "source_vocabulary": 13}
    match how:
        case "truncated":
            return data[: len(data) // 2]
        case "empty":
            return b""
        case "text":
            return b"not a checkpoint, only words" * 9
        case "pickle":
            return pickle.dumps({"weight": [1.0]})
        case "torch.save":
            return b"PK\x03\x04" + bytes(100)
        case "pointer":
            return b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548\n"
        case "foreign":
            return save(tensors)
        case "newer":
            return rewrite(data, version="2")
        case "no version":
            return rewrite(data, version="-1")
        case "version as a number":
            length = int.from_bytes(data[:8], "little")
            header = data[8 : 8 + length].replace(b'"version":"1"', b'"version":1  ')
            return data[:8] + header + data[8 + length :]
        case "no config":
            return rewrite(data, config="3")
        case "half a config":
            return rewrite(data, config=json.dumps(config))
        case "wrong sizes":
            return rewrite(data, config=json.dumps(config | {"target_vocabulary": 17}))
        case "huge sizes":
            huge = config | {"target_vocabulary": 17, "d_model": 8192, "heads": 8}
            return rewrite(data, config=json.dumps(huge | {"encoder_layers": 64}))
        case "deep json":
            return rewrite(data, facts="[" * 100_000)
        case "one symbol too few":
            short = {"kind": "symbols", "symbols": list("abc")}
            return rewrite(data, source_vocabulary=json.dumps(short))
        case "not a number":
            tensors["logits.bias"][0] = float("nan")
            metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
            return save(tensors, metadata["__metadata__"])
    raise AssertionError(how)


@pytest.mark.parametrize(
    ("how", "key"),
    [
        ("truncated", "damaged_checkpoint"),
        ("empty", "damaged_checkpoint"),
        ("text", "no_checkpoint"),
        ("pickle", "is_pickle"),
        ("torch.save", "is_pickle"),
        ("pointer", "is_pointer"),
        ("foreign", "foreign_checkpoint"),
        ("newer", "checkpoint_version"),
        ("no version", "no_checkpoint_version"),
        ("version as a number", "damaged_facts"),
        ("no config", "damaged_facts"),
        ("half a config", "bad_size"),
        ("wrong sizes", "mismatched_weights"),
        ("huge sizes", "too_many_parameters"),
        ("deep json", "damaged_facts"),
        ("one symbol too few", "mismatched_weights"),
        ("not a number", "damaged_checkpoint"),
    ],
)
def test_an_invalid_checkpoint_is_refused_in_one_sentence(checkpoint, how, key):
    with pytest.raises(ExplorerError) as caught:
        from_bytes(changed(checkpoint, how), "upload.safetensors")
    assert caught.value.key == key
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_reported(tmp_path):
    for path, key in [
        (tmp_path / "nowhere.safetensors", "unreadable_file"),
        (tmp_path, "is_folder"),
    ]:
        with pytest.raises(FileError) as caught:
            load_checkpoint(path)
        assert caught.value.key == key


def test_a_file_over_the_limit_is_not_read(tmp_path):
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)  # sparse: takes no room
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    assert caught.value.key == "checkpoint_too_large"


def test_two_hundred_mutations_of_a_file_give_a_model_or_an_error(checkpoint):
    data = to_bytes(checkpoint)
    head = 8 + int.from_bytes(data[:8], "little")
    random = np.random.default_rng(11)
    refused = 0
    for _ in range(200):
        mutated = bytearray(data)
        for position in random.integers(0, head, random.integers(1, 6)):
            mutated[position] = random.integers(0, 256)
        cut = random.integers(0, len(data)) if random.random() < 0.2 else len(data)
        try:
            from_bytes(bytes(mutated[:cut]), "x.safetensors")
        except ExplorerError:
            refused += 1
    assert refused > 150


def test_a_header_whose_length_looks_like_a_pickle_is_read(explorable):
    lengths = set()
    for size in range(0, 256, 4):
        checkpoint = replace(explorable.checkpoint, facts={"note": "x" * size})
        data = to_bytes(checkpoint)
        lengths.add(data[0])
        assert from_bytes(data, "x").facts["note"] == "x" * size
    assert 0x80 in lengths  # as a pickle begins
