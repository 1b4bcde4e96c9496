import torch

from explorer.model.fingerprint import fingerprint


def test_sizes_names_and_numbers_of_any_precision_count():
    weight = torch.tensor([1.0, 2.0])
    one = fingerprint("sizes", [("a", weight)])
    assert one == fingerprint("sizes", [("a", weight.clone())])
    others = [
        fingerprint("other sizes", [("a", weight)]),
        fingerprint("sizes", [("b", weight)]),
        fingerprint("sizes", [("a", weight + 1)]),
        fingerprint("sizes", [("a", weight.bfloat16())]),
    ]
    assert len({one, *others}) == 5
