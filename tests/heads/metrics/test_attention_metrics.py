import numpy as np

from explorer.core.i18n import table
from explorer.heads.metrics import attention_metrics
from explorer.heads.metrics.attention_metrics import METRICS, SiteAttention, gold_weight, metrics_of
from explorer.heads.metrics.bootstrap import PerExampleMean


def test_gold_weight_by_hand():
    weights = np.array([[[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]]])
    gold = np.array([[True, False, False], [True, True, False], [False, False, False]])
    np.testing.assert_allclose(gold_weight(weights, gold), [(0.7 + 0.6) / 2])


def test_gold_weight_is_1_with_all_weight_on_gold():
    gold = np.eye(5, dtype=bool)[::-1]
    weights = np.broadcast_to(gold.astype(np.float32), (2, 3, 5, 5))
    assert gold_weight(weights, gold).tolist() == [[1.0] * 3] * 2


def test_gold_of_each_sequence_broadcasts():
    weights = np.full((2, 3, 7, 4, 4), 0.25)  # (layer, sequence, head, query, key)
    gold = np.zeros((3, 1, 4, 4), bool)
    gold[0, 0] = np.eye(4)
    gold[1, 0, :2] = True
    result = gold_weight(weights, gold)
    assert result.shape == (2, 3, 7)
    np.testing.assert_allclose(result[:, 0], 0.25)
    np.testing.assert_allclose(result[:, 1], 1.0)
    assert np.isnan(result[:, 2]).all()


# One sentence, one head, four queries over four keys; the last query is padding, so is the
# last key; key 2 is the end of the sequence.
#
#            k0    k1    k2   (k3)
#     q0    0.5   0.3   0.2    –
#     q1    0.1   0.2   0.7    –
#     q2    0.0   1.0   0.0    –
#    (q3     –     –     –     –)
WEIGHTS = np.array(
    [[[[0.5, 0.3, 0.2, 0], [0.1, 0.2, 0.7, 0], [0, 1, 0, 0], [0.25] * 4]]], np.float32
)  # (1, 1, 4, 4)
UNMASKED = np.zeros((1, 4, 4), bool)
UNMASKED[0, :3, :3] = True
END = np.array([[False, False, True, False]])


def values(mean: PerExampleMean) -> list:
    """The mean of each head, and how many queries were counted."""
    return [*mean.mean.round(6).tolist(), *mean.queries.tolist()]


def test_confidence_by_hand():
    """Largest except EOS: 0.5, 0.2, 1.0; their mean 1.7 / 3."""
    assert values(attention_metrics.confidence(WEIGHTS, UNMASKED, END)) == [round(1.7 / 3, 6), 3]


def test_a_query_that_may_attend_to_eos_only_is_left_out_of_confidence():
    unmasked = UNMASKED.copy()
    unmasked[0, 1] = [False, False, True, False]
    assert values(attention_metrics.confidence(WEIGHTS, unmasked, END)) == [
        0.75,
        2,
    ]  # (0.5 + 1.0) / 2


def test_entropy_by_hand():
    """−Σ A ln A: q0 1.029653, q1 0.801819, q2 0; by ln 3 = 1.098612 where normalised."""
    assert values(attention_metrics.entropy(WEIGHTS, UNMASKED)) == [round(1.831472 / 3, 6), 3]
    normalised = attention_metrics.normalised_entropy(WEIGHTS, UNMASKED)
    np.testing.assert_allclose(normalised.mean, 1.831472 / 3 / 1.098612, atol=1e-6)


def test_entropy_skips_rows_of_one_unmasked_key_and_normalises_by_the_unmasked_keys():
    """A causal mask, uniform rows: rows of 1, 2, 3 keys; ln 2 and ln 3 remain."""
    weights = np.array([[[[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3]]], np.float32)
    unmasked = np.tril(np.ones((1, 3, 3), bool))
    assert values(attention_metrics.entropy(weights, unmasked)) == [round(np.log(6) / 2, 6), 2]
    assert values(attention_metrics.normalised_entropy(weights, unmasked)) == [1.0, 2]


def test_distance_by_hand():
    """q0: 0.3·1 + 0.2·2 = 0.7; q1: 0.1 + 0.7 = 0.8; q2: 1·1 = 1; Σ A = 3: 2.5 / 3."""
    mean = attention_metrics.distance(WEIGHTS, UNMASKED)
    np.testing.assert_allclose(mean.mean, [2.5 / 3], rtol=1e-6)
    np.testing.assert_allclose(mean.queries, [3], rtol=1e-6)


def test_offsets_by_hand():
    """Peaks: q0→k0 (+0), q1→k2 (+1), q2→k1 (−1). +1 can be reached by q0 and q1 alone."""
    mean = attention_metrics.offsets(WEIGHTS, UNMASKED)
    share = dict(zip(attention_metrics.OFFSETS, mean.mean[0], strict=True))
    counted = dict(zip(attention_metrics.OFFSETS, mean.queries[0], strict=True))
    assert {delta: counted[delta] for delta in (-2, -1, 0, 1, 2)} == {
        -2: 1,
        -1: 2,
        0: 3,
        1: 2,
        2: 1,
    }
    assert (share[-1], share[1], share[2]) == (0.5, 0.5, 0)
    np.testing.assert_allclose(share[0], 1 / 3)


def test_a_positional_head_has_its_offset_and_the_share_of_queries_that_reach_it():
    """Every query but the last has its peak one ahead; the last cannot and is left out."""
    size = 6
    weights = np.eye(size, k=1, dtype=np.float32)[None, None]
    weights[..., -1, 0] = 1
    delta, share = attention_metrics.positional(
        attention_metrics.offsets(weights, np.ones((1, size, size), bool))
    )
    assert delta.tolist() == [1]
    assert values(share) == [1.0, size - 1]


def test_an_offset_that_few_queries_reach_is_not_selected():
    """q0 → k5 is one of one at +5, which proves nothing. The others peak at k0: −3 is the one of
    the offsets which three of the six queries can reach that has a hit, q3 → k0.
    """
    weights = np.zeros((1, 1, 6, 6), np.float32)
    weights[0, 0, 1:, 0] = weights[0, 0, 0, 5] = 1
    delta, share = attention_metrics.positional(
        attention_metrics.offsets(weights, np.ones((1, 6, 6), bool))
    )
    assert delta.tolist() == [-3]
    np.testing.assert_allclose(share.mean, 1 / 3)


def test_sink_by_hand():
    """On EOS: 0.2, 0.7, 0 of three queries: 0.3."""
    assert values(attention_metrics.sink(WEIGHTS, UNMASKED, END)) == [0.3, 3]


def test_gold_by_hand():
    """Gold q0→k1, q1→k2, the others none: weights 0.3, 0.7; only q1 has its largest there."""
    gold = np.zeros((1, 4, 4), bool)
    gold[0, [0, 1], [1, 2]] = True
    assert values(attention_metrics.mass_on(WEIGHTS, gold, gold.any(-1))) == [0.5, 2]
    assert values(attention_metrics.peak_on(WEIGHTS, UNMASKED, gold)) == [0.5, 2]
    np.testing.assert_allclose(gold_weight(WEIGHTS, gold), [[0.5]])


def test_heads_and_sentences_are_independent():
    generator = np.random.default_rng(0)
    weights = generator.dirichlet(np.ones(7), (3, 5, 11)).astype(np.float32)  # (B, H, Q, K)
    unmasked = np.ones((3, 11, 7), bool)
    unmasked[1, 4:] = False
    for metric in (
        attention_metrics.entropy,
        attention_metrics.distance,
        attention_metrics.normalised_entropy,
    ):
        mean = metric(weights, unmasked)
        assert mean.total.shape == mean.count.shape == (3, 5)
        for sentence, size in ((0, 11), (1, 4)):
            own = np.s_[sentence : sentence + 1]
            alone = metric(weights[own][:, 2:3, :size], unmasked[own, :size])
            np.testing.assert_allclose(alone.total[0, 0], mean.total[sentence, 2], rtol=1e-5)
            np.testing.assert_allclose(alone.count[0, 0], mean.count[sentence, 2], rtol=1e-5)


def test_metrics_of_a_site_are_those_with_a_meaning_there():
    def names(site: str, gold: np.ndarray | None = None) -> set[str]:
        special = np.array([[False, False, True, True]])
        return set(metrics_of(SiteAttention(site, WEIGHTS, UNMASKED, END, special, gold)))

    without_gold = {"confidence", "entropy", "normalised_entropy", "positional", "sink"}
    assert names("encoder") == names("decoder") == without_gold | {"distance"}
    assert names("cross") == without_gold
    assert names("cross", UNMASKED) == without_gold | {"gold_weight", "gold_accuracy"}


def test_every_metric_has_a_label_and_a_hint():
    strings = table()["heads"]
    for name in METRICS:
        assert {f"metric_{name}", f"metric_{name}_title"} <= set(strings)
