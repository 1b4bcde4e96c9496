import pytest
import torch

from explorer.core.errors import VocabularyError
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.decoding import (
    Decoded,
    DecodingRules,
    checked_steps,
    numbered_steps,
)
from explorer.model.huggingface.inputs import padded_inputs
from explorer.model.row_logits import RowLogits

LOGITS = torch.tensor([[1.0, 4.0, 3.0, 2.0], [9.0, 4.0, 5.0, 6.0]])


def test_the_most_probable_token_is_chosen_unless_a_rule_says_otherwise():
    rules = DecodingRules(
        3, 9, never=torch.tensor([0]), never_first=torch.tensor([1, 3]), forced={5: 0}
    )
    assert rules.chosen(LOGITS, 4).tolist() == [1, 3]
    assert rules.chosen(LOGITS, 3).tolist() == [2, 2]
    assert rules.chosen(LOGITS, 5).tolist() == [0, 0]
    assert DecodingRules(1, 9).chosen(LOGITS, 1).tolist() == [1, 0]
    assert LOGITS.isfinite().all()


@pytest.mark.parametrize(
    ("last", "forced", "known", "chosen"),
    [
        (3, {}, [], [1]),  # one step, which is chosen
        (5, {3: 0, 4: 2}, [0, 2], [0, 2, 1]),
        (5, {3: 0, 4: 2, 5: 3}, [0, 2], [0, 2, 3]),
        (9, {3: 0, 4: 9}, [0], [0, 9]),  # 9 is an end
        (5, {3: 0}, None, None),
        (5, {4: 2}, None, None),
    ],
)
def test_tokens_are_known_if_only_the_last_one_is_left_to_choose(last, forced, known, chosen):
    rules = DecodingRules(3, last, ends=torch.tensor([9]), forced=forced)
    assert rules.known == known
    if known is not None:
        inputs = padded_inputs(Kind.DECODER_ONLY, [5, 6, 7], (), 0).with_target(known)
        rows = torch.zeros(1, 3 + len(known), 4)
        rows[:, -1] = LOGITS[0]
        assert Decoded(inputs, rules=rules).completed(RowLogits.of(rows)).chosen == chosen


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


def test_the_facts_count_the_prompt_and_name_what_was_forced():
    inputs = padded_inputs(Kind.DECODER_ONLY, [5, 6, 7], [0], start=0).with_target([8, 9])
    decoded = Decoded(inputs, chosen=(8, 9, 2), forced={5: 9})
    assert decoded.facts(Kind.DECODER_ONLY, frozenset([2])) == {
        "forced": {"5": 9},
        "ended": True,
        "prompt": 4,
    }
    assert not decoded.facts(Kind.DECODER_ONLY, frozenset([9]))["ended"]


def test_an_encoder_decodes_nothing():
    inputs = padded_inputs(Kind.ENCODER_ONLY, [5, 6], [], start=0)
    assert Decoded(inputs).facts(Kind.ENCODER_ONLY, frozenset()) == {"forced": {}}
