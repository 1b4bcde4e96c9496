import numpy as np
import pytest

from explorer.core.errors import EvaluationBatchError, VocabularyError
from explorer.heads.contribution_agreement import contribution_agreement, rank_correlations
from explorer.heads.contributions import contributions

TEXTS = ["7 3 9 1 4", "2 5", "1 2 3 4 5 6 7"]


def test_rank_correlations_by_hand():
    """Ranks 1 2 3 with 1 3 2: 1 − 6 · 2 / (3 · 8) = 0.5; ties: 1.5 1.5 3 with 1 2 3 = √3 / 2."""
    one = np.array([[0.1, 0.2, 0.9], [5.0, 5.0, 6.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])
    other = np.array([[-3.0, 9.0, 8.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    assert rank_correlations(one, other) == pytest.approx([0.5, 3**0.5 / 2, -1, 0])


def test_agreement_is_counted_over_all_output_tokens(reverse_model):
    shares: list[float] = []
    table = contribution_agreement(reverse_model, TEXTS, shares.append).set_index("method")
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])
    assert sorted(table.index) == [
        "alti",
        "attention",
        "rollout",
        "value_norm",
        "value_norm_residual",
    ]
    assert table.top.is_monotonic_decreasing
    assert (table.rows == 17).all()
    assert (table.sentences == 3).all()
    for name in ("top", "top_content", "spearman"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
    for method in ("alti", "value_norm"):
        same, same_content = [], []
        for text in TEXTS:
            found, expected = (
                contributions(reverse_model, text, name) for name in (method, "leave_one_out")
            )
            size = len(found.source_tokens)
            rows = list(zip(found.matrix[:, :size], expected.matrix[:, :size], strict=True))
            same += [row.argmax() == other.argmax() for row, other in rows]
            same_content += [row[:-1].argmax() == other[:-1].argmax() for row, other in rows]
        assert table.top[method] == pytest.approx(np.mean(same))
        assert table.top_content[method] == pytest.approx(np.mean(same_content))
        assert table.top[method] != table.top_content[method]


def test_the_mean_of_cross_attention_is_compared_as_well(reverse_model):
    found = contribution_agreement(reverse_model, TEXTS[:1]).set_index("method").top["attention"]
    trace = reverse_model.trace(TEXTS[0])
    expected = contributions(reverse_model, TEXTS[0], "leave_one_out").matrix[:, :6]
    mean = trace.attention("cross").mean((0, 1))
    assert found == pytest.approx((mean.argmax(-1) == expected.argmax(-1)).mean())


def test_what_cannot_be_read_is_refused(reverse_model):
    with pytest.raises(EvaluationBatchError):
        contribution_agreement(reverse_model, [])
    with pytest.raises(VocabularyError):
        contribution_agreement(reverse_model, ["1", "no"])
