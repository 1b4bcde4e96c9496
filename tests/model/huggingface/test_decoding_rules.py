import torch

from explorer.model.huggingface.decoding_rules import DecodingRules

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
