import pytest

from explorer.model.wrapped_names import are_wrapped, bare


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "module.module."])
def test_the_prefix_that_all_names_have_is_left_out(prefix):
    weights = {"a.module.weight": 1, "b": 2}
    assert bare({prefix + name: weight for name, weight in weights.items()}) == weights


@pytest.mark.parametrize("names", [[], ["module.a", "b"], ["modules.a"], ["a.module.b"]])
def test_other_names_stay(names):
    assert not are_wrapped(names)
    assert bare(dict.fromkeys(names, 0)) == dict.fromkeys(names, 0)
