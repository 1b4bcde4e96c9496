"""How wide a text is about."""

from explorer.core.text_width import text_width


def test_a_chinese_character_is_wider_than_a_letter():
    assert text_width("", 6, 12) == 0
    assert text_width("ab 猫，", 6, 12) == 3 * 6 + 2 * 12
