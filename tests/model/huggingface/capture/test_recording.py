from types import SimpleNamespace

import torch

from explorer.model.huggingface.anatomy import Anatomy, Kind, Place
from explorer.model.huggingface.capture.recording import Recording

ANATOMY = Anatomy(
    Kind.ENCODER_DECODER,
    (Place("encoder", 0, 0, 2, 4),),
    (
        Place("decoder", 0, 0, 2, 4),
        Place("cross", 0, 0, 2, 4),
        Place("decoder", 1, 1, 2, 4),
        Place("cross", 1, 1, 2, 4),
    ),
)


def call(value):
    return SimpleNamespace(weights=torch.full((1, 2, 3, 3), value))


def test_only_the_weights_of_chosen_layers_are_kept_and_compared():
    recording = Recording(ANATOMY, {"cross": (1,)})
    keep, compare = recording.keep(), recording.compare()
    keep["encoder"](0, call(0.1))
    for index in range(4):
        keep["decoder"](index, call(index / 8))
    assert {site: len(own) for site, own in recording.calls.items()} == {
        "encoder": 1,
        "decoder": 2,
        "cross": 2,
    }
    assert recording.calls["decoder"][1].weights.numel() == 0
    assert recording.chosen["cross"][0].weights.unique().tolist() == [0.375]
    compare["encoder"](0, call(0.9))
    compare["decoder"](1, call(0.9))
    assert recording.difference == 0
    compare["decoder"](3, call(0.5))
    assert recording.difference == 0.125
    (name,) = recording.arrays.finished()
    assert name == "cross.attention"
