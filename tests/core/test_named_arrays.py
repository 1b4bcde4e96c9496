"""Attention by the names of its arrays, in a mapping or in a file of `np.savez`."""

import numpy as np
import pytest
import torch

from explorer.core.errors import TraceError
from explorer.core.named_arrays import TOKENS, by_site
from explorer.core.trace import Trace
from tests.support.small_trace import random_weights

CAUSAL, WIDE = np.tri(3, dtype=bool), np.ones((3, 4), bool)


def layers(mask, count=12):
    """Weights (1, 2, query, key) of each layer."""
    return [random_weights((1, 2, *mask.shape), mask, seed) for seed in range(count)]


def tutorial():
    """As a tutorial of TensorFlow returns them, in no order."""
    own, cross = layers(CAUSAL), layers(WIDE)
    named = {f"decoder_layer{n + 1}_block1": own[n] for n in reversed(range(12))}
    return own, cross, named | {f"decoder_layer{n + 1}_block2": cross[n] for n in range(12)}


def test_a_mapping_by_layer_of_one_site():
    own = layers(CAUSAL)
    expected = Trace.from_arrays((), "abc", decoder=own)
    for named in (dict(enumerate(own)), {f"layer_{n}": own[n] for n in (*range(6, 12), *range(6))}):
        assert Trace.from_arrays((), "abc", decoder=named).digest == expected.digest


def test_names_say_site_and_layer():
    own, cross, named = tutorial()
    trace = Trace.from_arrays("wxyz", "abc", named=named)
    assert trace.digest == Trace.from_arrays("wxyz", "abc", decoder=own, cross=cross).digest
    tensors = {name: torch.tensor(array, requires_grad=True) for name, array in named.items()}
    assert Trace.from_arrays("wxyz", "abc", named=tensors).digest == trace.digest


def test_a_file_of_numpy_is_a_trace(tmp_path):
    own, cross, named = tutorial()
    labels = {"source_tokens": list("wxyz"), "predicted_tokens": np.arange(3)}
    np.savez(tmp_path / "x.npz", **named, **labels)
    trace = Trace.load(tmp_path / "x.npz")
    given = {"decoder": own, "cross": cross, "predicted_tokens": range(3)}
    assert trace.digest == Trace.from_arrays("wxyz", range(3), **given).digest
    np.savez_compressed(tmp_path / "y.npz", decoder=np.concatenate(own), cross=np.stack(cross))
    whole = Trace.load(tmp_path / "y.npz")
    assert whole.source_tokens == ("0", "1", "2", "3")
    np.testing.assert_array_equal(whole.attention("decoder"), trace.attention("decoder"))
    np.testing.assert_array_equal(whole.attention("cross"), trace.attention("cross"))


@pytest.mark.parametrize(
    ("name", "mask", "site"),
    [
        ("arr_0", CAUSAL, "decoder"),
        ("arr_0", np.ones((3, 3), bool), "encoder"),
        ("attention", WIDE, "cross"),
        ("decoder_attentions", np.ones((3, 3), bool), "decoder"),
        ("encoder_attentions", CAUSAL, "encoder"),
        ("cross_attentions", np.ones((3, 3), bool), "cross"),
        ("enc_dec.7", np.ones((3, 3), bool), "cross"),
    ],
)
def test_the_site_follows_from_the_name_else_from_the_weights(name, mask, site):
    weights = random_weights((1, 2, *mask.shape), mask)
    trace = Trace.from_arrays(named={name: weights})
    assert trace.sites == (site,)
    np.testing.assert_array_equal(trace.attention(site), weights)


def test_a_batch_in_a_layer_is_not_taken_for_layers():
    two = np.concatenate(layers(CAUSAL, 2))
    with pytest.raises(TraceError) as caught:
        Trace.from_arrays(named={"decoder_layer_0": two})
    assert caught.value.key == "whole_batch"


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("logits", np.ones(3)),
        ("ids", np.ones((3, 3), int)),
        ("names", np.array([["a"]])),
        (TOKENS[0], np.array([["a"]])),
    ],
)
def test_another_array_is_named_and_nothing_is_read(name, array):
    with pytest.raises(TraceError, match=f"“{name}” of “x”") as caught:
        by_site({"decoder": layers(CAUSAL, 1)[0], name: array}, "x")
    assert caught.value.key == "odd_array"


def test_pickles_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, layers=np.array({"decoder": 3}, dtype=object))
    with pytest.raises(TraceError, match=r"np\.savez\(path, \*\*layers\)"):
        Trace.load(path)
    np.savez(path, decoder=layers(CAUSAL, 1)[0])
    data = path.read_bytes()
    for broken in (data[:-40], data.replace(b"NUMPY", b"NUMBY"), b"PK\x05\x06" + bytes(18)):
        with pytest.raises(TraceError):
            Trace.from_bytes(broken, "x.npz")
