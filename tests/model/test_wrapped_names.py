import pytest
import torch

from explorer.model.wrapped_names import are_wrapped, bare, unwrapped


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "module.module."])
def test_the_prefix_that_all_names_have_is_left_out(prefix):
    weights = {"a.module.weight": 1, "b": 2}
    assert bare({prefix + name: weight for name, weight in weights.items()}) == weights


@pytest.mark.parametrize("names", [[], ["module.a", "b"], ["modules.a"], ["a.module.b"]])
def test_other_names_stay(names):
    assert not are_wrapped(names)
    assert bare(dict.fromkeys(names, 0)) == dict.fromkeys(names, 0)


def test_wrappers_of_torch_are_taken_off_and_nothing_else():
    inside = torch.nn.Linear(2, 2)
    inside.module = torch.nn.Linear(2, 2)
    assert unwrapped(inside) is inside
    held = torch.nn.DataParallel(torch.compile(inside, backend="eager"))
    assert unwrapped(held) is inside
    assert all(map(unwrapped(held).state_dict().__contains__, bare(held.state_dict())))
    assert unwrapped("text") == "text"
