import pytest
import torch

from explorer.core.errors import ConfigError
from tests.support.huggingface_families import FAMILIES, TESTED


@pytest.mark.parametrize("name", TESTED)
def test_the_weights_do_what_the_own_module_of_the_family_does(opened, name):
    """To any outputs of the heads; the path of that module is known. Its bias is no weight."""
    model = opened(name)
    found = model.output_weights()
    assert set(found) == {place.site for place in model.anatomy.places}
    for site, where in FAMILIES[name].projection.items():
        for layer, weight in enumerate(found[site]):
            module = model.model.get_submodule(where.format(layer))
            outputs = torch.rand(3, len(weight), generator=torch.Generator().manual_seed(1))
            with torch.inference_mode():
                expected = module(outputs) - module(torch.zeros_like(outputs))
            torch.testing.assert_close(outputs @ weight, expected, rtol=1e-4, atol=1e-5)


def test_a_family_that_changes_the_outputs_of_heads_first_has_none(opened):
    model = opened("marian")
    module = model.model.get_submodule(FAMILIES["marian"].projection["cross"].format(0))
    handle = module.register_forward_pre_hook(lambda _, given: (2 * given[0],), prepend=True)
    try:
        with pytest.raises(ConfigError) as caught:
            model.output_weights()
        assert caught.value.key == "no_projection"
    finally:
        handle.remove()
