import json

import pytest

from explorer.core import json_values


def test_plain_values_stay():
    value = {"a": [1, 2.5, None, True, "甲"], "b": {"c": -(2**63) + 1}}
    assert json_values.parse(json.dumps(value)) == value
    assert json_values.parse(json.dumps(value, ensure_ascii=False).encode("utf-8-sig")) == value


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        *(("NaN", None), ("[-Infinity]", [None]), ("1e999", None)),
        *((str(2**70), None), (str(2**63 - 1), 2**63 - 1)),
        *(('"a\\ud800b"', "a?b"), ('{"\\udfff": 1}', {"?": 1}), ('"\\ud83d\\ude00"', "😀")),
        (b'"\xed\xa0\x80"', "?"),
    ],
)
def test_what_others_cannot_hold_is_cleaned(text, cleaned):
    assert json_values.parse(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 10_000 + "]" * 10_000,
        "[" * 40 + "]" * 40,
        "9" * 5000,
        b"\xff",
        b"\xfe\xff\0[",
    ],
)
def test_anything_else_is_a_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011
        json_values.parse(text)


def test_many_values_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match="too many"):
        json_values.parse("[" + "{}," * 400_000 + "1]")


def test_an_object_is_asked_for():
    assert json_values.parse_object("{}") == {}
    with pytest.raises(ValueError, match="object"):
        json_values.parse_object("[]")


@pytest.mark.parametrize("value", [None, True, "3", [], float("nan"), float("inf"), -1, 11, 2**70])
def test_a_number_outside_its_limits_becomes_another(value):
    assert json_values.number(value, 0, 10, otherwise=-5.0) == -5.0
    assert json_values.number(3, 0, 10, otherwise=-5.0) == 3.0


def test_a_whole_number_is_asked_for():
    assert json_values.whole_number(7.0) == 7
    for value in (-1, True, 2**63, float("nan")):
        with pytest.raises(ValueError, match=r"number|integer"):
            json_values.whole_number(value)
    with pytest.raises(TypeError):
        json_values.whole_number(None)
