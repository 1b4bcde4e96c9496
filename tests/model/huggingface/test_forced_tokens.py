import pytest

from explorer.core.errors import VocabularyError
from explorer.model.huggingface.forced_tokens import forced_tokens
from explorer.model.huggingface.tokens import Tokens


def forced(first=3, positions=6, target=None, prefix=None, force=None):
    ends = frozenset([9, 2])
    return forced_tokens(Tokens(None, 20), first, positions, ends, target, prefix, force or {})


def test_a_target_ends_and_a_prefix_does_not():
    assert forced(target="7 8") == {3: 7, 4: 8, 5: 2}
    assert forced(prefix="7 8") == {3: 7, 4: 8}
    assert forced(force={4: 7}) == {4: 7}
    assert forced() == {}


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"target": "7 8 7 8"}, "long_target"),
        ({"prefix": "7 8 7 8 7"}, "long_target"),
        ({"force": {3: 20}}, "no_candidate"),
        ({"force": {3: -1}}, "no_candidate"),
        ({"force": {2: 7}}, "fixed_step"),
    ],
)
def test_tokens_that_cannot_be_imposed_are_refused(given, key):
    with pytest.raises(VocabularyError) as caught:
        forced(**given)
    assert caught.value.key == key


def test_as_many_tokens_fit_as_there_are_positions():
    assert len(forced(prefix="7 8 7 8")) == 4
    assert len(forced(prefix=" ".join("7" * 30), positions=None)) == 30
