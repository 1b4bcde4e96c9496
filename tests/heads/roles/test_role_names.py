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


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [("en", "copy", "copy = alignment here"), ("zh", "复制", "复制 = 对齐（此处相同）")],
)
def test_confounded_roles_are_named_as_one(language, one, two):
    assert group_name(("copy",), "task", language) == one
    assert group_name(("copy", "alignment"), "task", language) == two
    assert group_key(("copy", "alignment")) == "copy=alignment"


def test_in_a_translation_the_same_place_is_no_copy():
    assert group_name(("copy",), "given", "en") == "same place"


@pytest.mark.parametrize(
    ("language", "nearest"),
    [
        ("en", "mostly next position, 0.39 (chance 0.08)"),
        ("zh", "多为后一位置，0.39（随机水平 0.08）"),
    ],
)
def test_a_score_is_said_with_what_it_would_be_by_chance(language, nearest):
    assert score_text("nearest", GroupScore(("next",), 0.392, 0.081), "given", language) == nearest
    alone = GroupScore(("diffuse",), 0.95, math.nan)
    assert score_text("score", alone, "given", "en") == "diffuse: 0.95"
