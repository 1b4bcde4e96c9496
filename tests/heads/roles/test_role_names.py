import math

import pytest

from explorer.heads.roles.role_names import (
    GroupScore,
    group_key,
    group_name,
    joined_roles,
    score_text,
)


def test_roles_that_pairs_connect_are_one_group_in_their_order():
    pairs = [("d", "b"), ("b", "a")]
    assert joined_roles("abcde", pairs) == (("a", "b", "d"), ("c",), ("e",))
    assert joined_roles("ab", []) == (("a",), ("b",))


@pytest.mark.parametrize(("language", "name"), [("en", "same place"), ("zh", "同一位置")])
def test_confounded_roles_have_the_plainer_name(language, name):
    assert group_name(("copy",), "task", language) == name
    assert group_name(("copy", "alignment"), "task", language) == name
    assert group_key(("copy", "alignment")) == "copy=alignment"


@pytest.mark.parametrize(
    ("targets", "language", "names"),
    [
        ("given", "en", ["finds the word", "previous word", "sentence end"]),
        ("task", "en", ["finds the symbol", "previous symbol", "sentence end"]),
        ("given", "zh", ["对应的词", "前一个词", "句末"]),
    ],
)
def test_a_role_speaks_of_words_or_of_the_symbols_of_a_task(targets, language, names):
    groups = [("alignment",), ("previous",), ("sink", "end")]
    assert [group_name(group, targets, language) for group in groups] == names


@pytest.mark.parametrize(
    ("language", "nearest"),
    [
        ("en", "partly next word: 39\u00a0% (by chance 8\u00a0%)"),
        ("zh", "部分看后一个词：39\u00a0%（随机为 8\u00a0%）"),
    ],
)
def test_a_score_is_said_with_what_it_would_be_by_chance(language, nearest):
    found = GroupScore(("next",), 0.392, 0.081)
    assert score_text(found, "given", language, is_partly=True) == nearest
    alone = GroupScore(("diffuse",), 0.95, math.nan)
    assert score_text(alone, "given", "en") == "everywhere alike: 95\u00a0%"
