from itertools import permutations

import numpy as np
import pytest

from explorer.heads.metrics.attention_metrics import OFFSETS, SiteAttention, offsets, peak_on, sink
from explorer.heads.roles.shuffled_keys import mass_chance, offset_chance, peak_chance


@pytest.fixture
def attention() -> SiteAttention:
    """Two sentences of five and three tokens with random weights, causal: rows of 1 to 5 keys."""
    generator = np.random.default_rng(3)
    unmasked = np.tril(np.ones((2, 5, 5), bool))
    unmasked[1, 3:] = False  # padding
    weights = np.where(unmasked[:, None], generator.random((2, 3, 5, 5)), 0)
    weights /= np.maximum(weights.sum(-1, keepdims=True), 1e-9)
    special = np.array([[True, False, False, False, True], [True, False, False, True, True]])
    return SiteAttention(
        "decoder", weights.astype(np.float32), unmasked, end=special, special=special
    )


def shuffled(one: SiteAttention, generator: np.random.Generator) -> np.ndarray:
    """The weights with the unmasked keys of each row of each head in another order."""
    weights = one.weights.copy()
    for example, head, query in np.ndindex(weights.shape[:3]):
        keys = np.flatnonzero(one.unmasked[example, query])
        row = weights[example, head, query]
        row[keys] = row[generator.permutation(keys)]
    return weights


def test_by_hand():
    """Rows of 2, 3 and 4 keys, of which 1, 2 and 0 are those of the role; the last does not
    count."""
    unmasked = np.tril(np.ones((1, 4, 4), bool))[:, 1:]
    cells = np.zeros_like(unmasked)
    cells[0, 0, 0] = cells[0, 1, 0] = cells[0, 1, 2] = True
    chance = peak_chance(unmasked, cells, 2)
    np.testing.assert_allclose(chance.mean, (1 / 2 + 2 / 3) / 2)
    assert chance.queries.tolist() == [2, 2]
    weights = np.full((1, 1, 3, 4), 0.25, np.float32)  # rows sum to 2/4, 3/4 and 1
    mass = mass_chance(weights, unmasked, cells)
    np.testing.assert_allclose(mass.mean, (1 / 2 * 2 / 4 + 2 / 3 * 3 / 4 + 0) / 3)


def test_over_all_orders_of_a_row_the_mean_is_exact():
    """24 orders of four keys, with two equal largest weights among them."""
    unmasked = np.ones((1, 1, 4), bool)
    cells = np.array([[[True, False, True, False]]])
    for weights in ([0.4, 0.3, 0.2, 0.1], [0.4, 0.4, 0.1, 0.1], [0.25] * 4):
        orders = np.array(list(permutations(weights)), np.float32)[None, :, None]  # orders as heads
        hits = peak_on(orders, unmasked, cells).mean.mean()
        assert hits == pytest.approx(peak_chance(unmasked, cells, 1).mean[0])
        mass = np.where(cells[0, 0], orders, 0).sum(-1).mean()
        own = np.array(weights, np.float32)[None, None, None]
        assert mass == pytest.approx(mass_chance(own, unmasked, cells).mean[0], rel=1e-5)


def test_drawn_orders_approach_it(attention):
    """2,000 shuffles: within four standard errors of the closed forms."""
    generator = np.random.default_rng(0)
    cells = attention.unmasked & (generator.random(attention.unmasked.shape) < 0.4)
    drawn = [shuffled(attention, generator) for _ in range(2000)]
    special = attention.unmasked & attention.special[:, None]
    for found, exact in (
        (
            [peak_on(one, attention.unmasked, cells).mean for one in drawn],
            peak_chance(attention.unmasked, cells, 3).mean,
        ),
        (
            [sink(one, attention.unmasked, attention.special).mean for one in drawn],
            mass_chance(attention.weights, attention.unmasked, special).mean,
        ),
        (
            [offsets(one, attention.unmasked).mean[:, 6:9] for one in drawn],
            offset_chance(attention.unmasked, 3).mean[:, 6:9],
        ),
    ):
        error = np.std(found, axis=0) / np.sqrt(len(found))
        assert (np.abs(np.mean(found, axis=0) - exact) < 4 * error + 1e-9).all()


def test_all_keys_are_always_hit_and_none_never(attention):
    unmasked = attention.unmasked
    np.testing.assert_allclose(peak_chance(unmasked, unmasked, 3).mean, 1)
    np.testing.assert_allclose(
        mass_chance(attention.weights, unmasked, unmasked).mean, 1, rtol=1e-6
    )
    assert np.isnan(peak_chance(unmasked, unmasked & False, 3).mean).all()


def test_an_offset_counts_the_queries_of_its_share(attention):
    share, chance = (
        offsets(attention.weights, attention.unmasked),
        offset_chance(attention.unmasked, 3),
    )
    np.testing.assert_array_equal(share.count, chance.count)
    assert share.total.shape == (2, 3, len(OFFSETS))
    own = chance.mean[0, OFFSETS.index(0)]  # rows of 2 to 5 keys, and of 2 and 3
    assert own == pytest.approx((1 / 2 + 1 / 3 + 1 / 4 + 1 / 5 + 1 / 2 + 1 / 3) / 6)
