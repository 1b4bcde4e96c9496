import os
import sys

import pytest

from explorer.cli.common import comma_list, lower_priority


@pytest.mark.parametrize("text", ["a b", "a,b", "a, b", " a  b "])
def test_entries_are_separated_by_commas_or_spaces(text):
    assert comma_list(text) == ("a", "b")


def test_with_a_comma_spaces_belong_to_the_entries():
    assert comma_list("the source, the target") == ("the source", "the target")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has priority classes")
def test_the_priority_is_lowered(monkeypatch):
    increments: list[int] = []
    monkeypatch.setattr(os, "nice", increments.append)
    lower_priority()
    assert increments == [10]
