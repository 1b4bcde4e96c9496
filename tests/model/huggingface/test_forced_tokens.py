import pytest

from explorer.core.errors import VocabularyError
from explorer.model.huggingface.forced_tokens import checked_steps, numbered_steps


def test_tokens_one_after_the_other_begin_at_the_first_step():
    assert numbered_steps([5, 6], 3, None) == {3: 5, 4: 6}
    assert numbered_steps([5, 6], 3, 4) == {3: 5, 4: 6}
    with pytest.raises(VocabularyError) as caught:
        numbered_steps([5, 6], 3, 3)
    assert (caught.value.key, caught.value.facts) == ("long_target", {"got": 2, "limit": 1})


@pytest.mark.parametrize(
    ("force", "key"),
    [
        ({3: 9}, "no_candidate"),
        ({3: -1}, "no_candidate"),
        ({3: "5"}, "no_candidate"),
        ({2: 5}, "fixed_step"),
        ({"3": 5}, "fixed_step"),
    ],
)
def test_steps_and_tokens_that_do_not_exist_are_refused(force, key):
    assert checked_steps({3: 5}, 3, 9) == {3: 5}
    with pytest.raises(VocabularyError) as caught:
        checked_steps(force, 3, 9)
    assert caught.value.key == key
