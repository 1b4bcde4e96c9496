import numpy as np
import pytest

from explorer.core.i18n import table
from explorer.heads import roles
from explorer.heads.attention_metrics import SiteAttention

UNMASKED = np.ones((1, 5, 5), bool)  # four symbols and their end; five queries
NUMBERS = np.array([[0, 1, 2, 3, -1]])
CONTENT = roles.Content(NUMBERS, NUMBERS)


def test_where_each_role_of_self_attention_looks():
    cells = roles.role_cells("encoder", UNMASKED, None, None)
    assert list(cells) == ["previous", "self", "next"]
    assert np.argwhere(cells["previous"][0]).tolist() == [[1, 0], [2, 1], [3, 2], [4, 3]]
    assert np.argwhere(cells["next"][0]).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    causal = roles.role_cells("decoder", np.tril(UNMASKED), None, None)
    assert list(causal) == ["previous", "self"]


def test_copy_and_reverse_count_content_symbols_only():
    cells = roles.role_cells("cross", UNMASKED, CONTENT, None)
    assert np.argwhere(cells["copy"][0]).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert np.argwhere(cells["reverse"][0]).tolist() == [[0, 3], [1, 2], [2, 1], [3, 0]]


def test_a_language_before_the_text_is_no_content():
    """As the models have it that translate between many: it moves all cells by one."""
    content = roles.Content(np.array([[-1, 0, 1, 2, -1]]), np.array([[-1, 0, 1, -1, -1]]))
    cells = roles.role_cells("cross", UNMASKED, content, None)
    assert np.argwhere(cells["copy"][0]).tolist() == [[1, 1], [2, 2]]
    assert np.argwhere(cells["reverse"][0]).tolist() == [[1, 3], [2, 2]]


def test_scores_by_hand():
    """Peaks k3, k2, k1, k3, k4: three of four on the reverse. Only the sink counts q4, the end."""
    weights = np.full((1, 1, 5, 5), 0.1, np.float32)
    weights[0, 0, range(5), [3, 2, 1, 3, 4]] = 0.6
    cells = roles.role_cells("cross", UNMASKED, CONTENT, None)
    end = np.array([[False, False, False, False, True]])
    attention = SiteAttention("cross", weights, UNMASKED, end=end, special=end)
    scores = roles.role_scores(attention, cells)
    assert scores["reverse"].mean.tolist() == [0.75]
    assert scores["reverse"].queries.tolist() == [4]
    assert scores["copy"].mean.tolist() == [0.25]  # q3 → k3
    np.testing.assert_allclose(scores["sink"].mean, (4 * 0.1 + 0.6) / 5, rtol=1e-6)
    entropy = -(0.6 * np.log(0.6) + 4 * 0.1 * np.log(0.1)) / np.log(5)
    np.testing.assert_allclose(scores["diffuse"].mean, entropy, rtol=1e-6)


def test_roles_that_name_the_same_cells_are_counted():
    """On copy the gold cells are those of position +0; reverse shares none with an even length."""
    gold = np.zeros_like(UNMASKED)
    gold[0, range(4), range(4)] = True
    cells = roles.role_cells("cross", UNMASKED, CONTENT, gold)
    same = {pair: counts.tolist() for pair, counts in roles.same_cells(cells).items()}
    assert same == {
        ("copy", "reverse"): [0, 4],
        ("copy", "alignment"): [4, 4],
        ("reverse", "alignment"): [0, 4],
    }


def test_a_role_that_cannot_be_given_has_a_reason():
    assert roles.doubt("next", "decoder", 100, gold=True) == "later"
    assert roles.doubt("copy", "encoder", 100, gold=True) == "elsewhere"
    assert roles.doubt("alignment", "cross", 100, gold=False) == "no_gold"
    assert roles.doubt("reverse", "cross", 3, gold=True) == "too_few"
    assert roles.doubt("reverse", "cross", 100, gold=True) == ""


def test_every_role_and_doubt_has_its_sentences():
    sentences = table()["roles"]
    for role in roles.ROLES:
        assert {role, f"{role}_title"} <= set(sentences)
    for doubt in ("elsewhere", "later", "no_gold", "too_few"):
        assert f"doubt_{doubt}" in sentences


def test_a_query_with_one_unmasked_key_does_not_count_for_a_sink():
    unmasked = np.tril(np.ones((1, 3, 3), dtype=bool))
    weights = (unmasked / unmasked.sum(-1, keepdims=True))[:, None].astype(np.float32)
    special = np.array([[True, False, False]])  # BOS
    attention = SiteAttention("decoder", weights, unmasked, end=special & False, special=special)
    scores = roles.role_scores(attention, {})
    assert scores["sink"].mean == pytest.approx(
        (1 / 2 + 1 / 3) / 2
    )  # not row 0, which has no other key
