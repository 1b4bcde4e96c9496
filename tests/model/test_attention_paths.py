import pytest

from explorer.core.sites import SITES
from explorer.model.attention_paths import all_heads, attentions, layers, path
from tests.support.tiny_configs import PRIMES


def test_paths_are_those_of_hook_points_in_the_order_of_sites(make_model):
    model = make_model()
    found = attentions(model.config)
    assert list(dict.fromkeys(site for site, _ in found)) == list(SITES)
    for site, layer in found:
        assert path(site, layer, "pattern") in model.hook_points
    patterns = [name for name in model.hook_points if name.endswith(".pattern")]
    assert len(patterns) == len(found)


@pytest.mark.parametrize("site", SITES)
def test_every_layer_of_a_site_has_all_heads(site):
    heads = [head for head in all_heads(PRIMES) if head.site == site]
    assert len(heads) == layers(PRIMES, site) * PRIMES.heads
    assert heads == sorted(set(heads))
