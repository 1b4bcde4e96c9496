from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from explorer.core.i18n import table
from explorer.heads.metrics.attention_metrics import SiteAttention
from explorer.heads.roles import roles

UNMASKED = np.ones((1, 5, 5), bool)  # four symbols and their end; five queries
NUMBERS = np.array([[0, 1, 2, 3, -1]])
CONTENT = roles.Content(NUMBERS, NUMBERS)
END = np.array([[False, False, False, False, True]])


def site(name: str, unmasked: np.ndarray = UNMASKED, **tokens: np.ndarray) -> SiteAttention:
    """One head that looks at every key alike."""
    weights = (unmasked / unmasked.sum(-1, keepdims=True))[:, None].astype(np.float32)
    return SiteAttention(name, weights, unmasked, **{"end": END, "special": END, **tokens})


def places(cells: np.ndarray) -> list[list[int]]:
    return np.argwhere(cells[0]).tolist()


def test_where_each_role_of_self_attention_looks():
    cells = roles.role_cells(site("encoder"))
    assert list(cells) == ["previous", "self", "next", "sink", "end"]
    assert np.argwhere(cells["previous"][0]).tolist() == [[1, 0], [2, 1], [3, 2], [4, 3]]
    assert np.argwhere(cells["next"][0]).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    causal = roles.role_cells(site("decoder", np.tril(UNMASKED)))
    assert list(causal) == ["previous", "self", "sink", "end"]


def test_where_the_roles_of_tokens_look():
    """Tokens: a . a b <eos>."""
    marks = np.array([[False, True, False, False, False]])
    repeats = np.zeros((1, 5, 5), bool)
    repeats[0, [0, 2], [2, 0]] = True
    tokens = site("decoder", np.tril(UNMASKED), punctuation=marks, repeats=repeats)
    cells = roles.role_cells(tokens)
    assert places(cells["same_token"]) == [[2, 0]]  # the other one is a later position
    assert places(cells["punctuation"]) == [[1, 1], [2, 1], [3, 1], [4, 1]]
    assert places(cells["end"]) == places(cells["sink"]) == [[4, 4]]


def test_copy_and_reverse_count_content_symbols_only():
    cells = roles.role_cells(site("cross"), CONTENT)
    assert np.argwhere(cells["copy"][0]).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert np.argwhere(cells["reverse"][0]).tolist() == [[0, 3], [1, 2], [2, 1], [3, 0]]


def test_a_language_before_the_text_is_no_content():
    """As the models have it that translate between many: it moves all cells by one."""
    content = roles.Content(np.array([[-1, 0, 1, 2, -1]]), np.array([[-1, 0, 1, -1, -1]]))
    cells = roles.role_cells(site("cross"), content)
    assert np.argwhere(cells["copy"][0]).tolist() == [[1, 1], [2, 2]]
    assert np.argwhere(cells["reverse"][0]).tolist() == [[1, 3], [2, 2]]


def test_scores_by_hand():
    """Peaks k3, k2, k1, k3, k4: three of four on the reverse. Only the sink counts q4, the end."""
    weights = np.full((1, 1, 5, 5), 0.1, np.float32)
    weights[0, 0, range(5), [3, 2, 1, 3, 4]] = 0.6
    attention = SiteAttention("cross", weights, UNMASKED, end=END, special=END)
    scores = roles.role_scores(attention, roles.role_cells(attention, CONTENT))
    assert scores["reverse"].score.mean.tolist() == [0.75]
    assert scores["reverse"].score.queries.tolist() == [4]
    assert scores["copy"].score.mean.tolist() == [0.25]  # q3 → k3
    assert scores["end"].score.mean.tolist() == [0.2]  # q4 alone, of five
    np.testing.assert_allclose(scores["sink"].score.mean, (4 * 0.1 + 0.6) / 5, rtol=1e-6)
    entropy = -(0.6 * np.log(0.6) + 4 * 0.1 * np.log(0.1)) / np.log(5)
    np.testing.assert_allclose(scores["diffuse"].score.mean, entropy, rtol=1e-6)


def test_induction_is_to_look_at_what_came_after_the_token_before():
    """Tokens a b a b c: rows 2 and 3 may look at keys 1 and 2; row 3 does, row 2 does not."""
    repeats = np.zeros((1, 5, 5), bool)
    repeats[0, [0, 2, 1, 3], [2, 0, 3, 1]] = True
    weights = np.full((1, 1, 5, 5), 0.1, np.float32)
    weights[0, 0, range(5), [0, 0, 0, 2, 4]] = 0.6
    none = np.zeros((1, 5), bool)
    lower = np.tril(np.ones((1, 5, 5), bool))
    attention = SiteAttention("decoder", weights, lower, end=none, special=none, repeats=repeats)
    cells = roles.role_cells(attention)
    assert np.argwhere(cells["induction"][0]).tolist() == [[2, 1], [3, 2]]
    found = roles.role_scores(attention, cells)["induction"]
    assert found.score.mean.tolist() == [0.5]
    np.testing.assert_allclose(found.chance.mean, (1 / 3 + 1 / 4) / 2)
    assert "induction" not in roles.role_cells(replace(attention, site="encoder"))


def test_the_effect_is_the_score_less_what_it_would_be_by_chance():
    """One key of five in each row of the reverse: chance 1/5, so 0.75 is 0.55 above it."""
    weights = np.full((1, 1, 5, 5), 0.1, np.float32)
    weights[0, 0, range(5), [3, 2, 1, 3, 4]] = 0.6
    attention = SiteAttention("cross", weights, UNMASKED, end=END, special=END)
    scores = roles.role_scores(attention, roles.role_cells(attention, CONTENT))
    assert scores["reverse"].chance.mean.tolist() == [0.2]
    np.testing.assert_allclose(scores["reverse"].effect.mean, [0.55])
    np.testing.assert_allclose(scores["sink"].chance.mean, [0.2], rtol=1e-6)
    assert scores["diffuse"].chance is None
    assert scores["diffuse"].effect is None


@pytest.mark.parametrize("name", ["encoder", "decoder", "cross"])
def test_a_head_that_looks_everywhere_alike_is_at_chance(name):
    """Equal weights: every score of places is the share of its keys, whatever the mask."""
    unmasked = np.tril(UNMASKED) if name == "decoder" else UNMASKED
    attention = site(name, unmasked, punctuation=END)
    content = CONTENT if name == "cross" else None
    scores = roles.role_scores(attention, roles.role_cells(attention, content))
    for role, found in scores.items():
        if found.effect is not None:
            np.testing.assert_allclose(found.effect.mean, 0, atol=1e-6, err_msg=role)


def test_roles_that_name_the_same_cells_are_counted():
    """On copy the gold cells are those of position +0; reverse shares none with an even length.
    The only special key is the end."""
    gold = np.zeros_like(UNMASKED)
    gold[0, range(4), range(4)] = True
    cells = roles.role_cells(site("cross", gold=gold), CONTENT)
    same = {pair: counts.tolist() for pair, counts in roles.same_cells(cells).items()}
    assert same["copy", "reverse"] == [0, 4]
    assert same["copy", "alignment"] == [4, 4]
    assert same["reverse", "alignment"] == [0, 4]
    assert same["alignment", "end"] == [0, 5]
    assert same["sink", "end"] == [5, 5]


def test_roles_that_agree_where_both_are_but_are_rarely_both_are_two():
    one, other = np.zeros((2, 1, 4, 4), bool)
    one[0, range(4), range(4)] = True
    other[0, 0, 0] = True
    assert roles.same_cells({"one": one, "other": other})["one", "other"].tolist() == [1, 4]


def test_a_role_that_cannot_be_given_has_a_reason():
    assert roles.doubt("next", "decoder", 100, gold=True) == "later"
    assert roles.doubt("copy", "encoder", 100, gold=True) == "elsewhere"
    assert roles.doubt("alignment", "cross", 100, gold=False) == "no_gold"
    assert roles.doubt("reverse", "cross", 3, gold=True) == "too_few"
    assert roles.doubt("punctuation", "encoder", 0, gold=False) == "absent"
    assert roles.doubt("reverse", "cross", 100, gold=True) == ""


def test_every_role_and_doubt_has_its_sentences():
    sentences = table()["roles"]
    for role in roles.ROLES:
        assert {role, f"{role}_title"} <= set(sentences)
    for doubt in filter(None, get_args(roles.Doubt)):
        assert (f"doubt_{doubt}" in sentences) == (doubt not in roles.UNSPOKEN)


def test_a_query_with_one_unmasked_key_does_not_count_for_a_sink():
    unmasked = np.tril(np.ones((1, 3, 3), dtype=bool))
    weights = (unmasked / unmasked.sum(-1, keepdims=True))[:, None].astype(np.float32)
    special = np.array([[True, False, False]])  # BOS
    attention = SiteAttention("decoder", weights, unmasked, end=special & False, special=special)
    scores = roles.role_scores(attention, roles.role_cells(attention))
    assert scores["sink"].score.mean == pytest.approx(
        (1 / 2 + 1 / 3) / 2
    )  # not row 0, which has no other key
