import numpy as np
import pytest

from explorer.heads.contributions.agreement import (
    agreement_on_trace,
    contribution_agreement,
    rank_correlations,
)
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.layer_contributions import layer_contributions
from explorer.heads.metrics.evaluation_batches import given_sentences
from explorer.model.huggingface.export import export_directory
from explorer.model.huggingface.opening.loading import open_directory

TEXTS = ["7 3 9 1 4", "2 5", "1 2 3 4 5 6 7"]


def test_rank_correlations_by_hand():
    """Ranks 1 2 3 with 1 3 2: 1 − 6 · 2 / (3 · 8) = 0.5; ties: 1.5 1.5 3 with 1 2 3 = √3 / 2."""
    one = np.array([[0.1, 0.2, 0.9], [5.0, 5.0, 6.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])
    other = np.array([[-3.0, 9.0, 8.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    assert rank_correlations(one, other) == pytest.approx([0.5, 3**0.5 / 2, -1, 0])


def test_agreement_is_counted_over_all_output_tokens(reverse_model):
    shares: list[float] = []
    batch = given_sentences(reverse_model, TEXTS)
    table = contribution_agreement(reverse_model, batch, shares.append).set_index("method")
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
    assert table.gain.to_numpy() == pytest.approx(table.top - table.top["attention"])
    assert table.loc["attention", ["gain", "gain_low", "gain_high"]].tolist() == [0, 0, 0]
    for name in ("top", "top_content", "spearman", "gain"):
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
    table = contribution_agreement(reverse_model, given_sentences(reverse_model, TEXTS[:1]))
    found = table.set_index("method").loc["attention"]
    trace = reverse_model.trace(TEXTS[0])
    expected = contributions(reverse_model, TEXTS[0], "leave_one_out").matrix[:, :6]
    mean = trace.attention("cross").mean((0, 1))
    assert found.top == pytest.approx((mean.argmax(-1) == expected.argmax(-1)).mean())
    assert found.spearman == pytest.approx(rank_correlations(mean, expected).mean())


def test_a_given_output_is_what_agreement_is_counted_on(reverse_model):
    pairs = [("7 3 9", "9 3 7 1 1"), ("2 5", "5")]
    assert (
        contribution_agreement(reverse_model, given_sentences(reverse_model, pairs)).rows == 8
    ).all()


def test_agreement_on_a_trace_is_that_of_its_sentence_with_padding_or_without(reverse_model):
    text = TEXTS[0]
    table = contribution_agreement(reverse_model, given_sentences(reverse_model, [text]))
    expected = dict(zip(table.method, (table.top * table.rows).round().astype(int), strict=True))
    for pad in (0, 3):
        trace = reverse_model.trace(text, pad_to=len(text.split()) + 1 + pad)
        left_out = layer_contributions(reverse_model, trace, "leave_one_out")
        found = agreement_on_trace(reverse_model, trace, left_out)
        assert found == expected
        assert list(found.values()) == sorted(found.values(), reverse=True)


def test_a_decoder_alone_is_judged_on_its_prefix(continuing):
    trace = continuing.trace("1 2 3", target="1 2")
    left_out = layer_contributions(continuing, trace, "leave_one_out")
    found = agreement_on_trace(continuing, trace, left_out)
    expected = left_out.whole.argmax(1)
    by_weight = trace.attention("decoder").mean((0, 1)).argmax(1)
    assert found["attention"] == (by_weight == expected).sum()
    batch = given_sentences(continuing, ["1 2 3", "甲 2"])
    table = contribution_agreement(continuing, batch)
    assert (table.rows == 5).all()  # after the last token of a text none is known


def test_a_model_and_its_export_to_the_library_agree_alike(reverse_model, tmp_path):
    export_directory(reverse_model, tmp_path / "reverse")
    other = open_directory(tmp_path / "reverse")
    one, two = (
        contribution_agreement(model, given_sentences(model, TEXTS)).set_index("method")
        for model in (reverse_model, other)
    )
    assert (one.rows == two.rows).all()
    for name in ("top", "top_content", "spearman", "gain"):
        assert two[name].to_dict() == pytest.approx(one[name].to_dict(), abs=1e-6)


def test_a_decoder_alone_of_the_library_is_judged_where_a_token_follows(tiny):
    model = tiny("gpt2")
    texts = ["5 17 8 30", "9 4"]
    table = contribution_agreement(model, given_sentences(model, texts)).set_index("method")
    assert (table.rows == 4).all()
    same = []
    for text in texts:
        rows = len(text.split()) - 1
        expected, found = (
            contributions(model, text, method, target="9").matrix[:rows, : rows + 1]
            for method in ("leave_one_out", "alti")
        )
        same += (expected.argmax(1) == found.argmax(1)).tolist()
    assert table.top["alti"] == pytest.approx(np.mean(same))


def test_a_family_whose_layers_are_no_sums_has_the_methods_that_it_allows(tiny):
    table = contribution_agreement(tiny("gemma2"), given_sentences(tiny("gemma2"), ["5 17 8"]))
    assert set(table.method) == {"rollout", "attention"}
