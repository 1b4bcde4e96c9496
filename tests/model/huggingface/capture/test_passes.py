import torch

from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.passes import encoded, full_pass, greedy_rows
from explorer.model.huggingface.decoding import DecodingRules
from explorer.model.huggingface.inputs import Inputs
from tests.support.huggingface_families import tiny_model


def decoded(model, kind, inputs, last, **rules):
    edits, limits = Edits({}, {}), DecodingRules(inputs.target.size(1), last, **rules)
    with torch.inference_mode():
        memory = encoded(model, Anatomy(kind), inputs, edits)
        rows = list(greedy_rows(model, kind, inputs, edits, limits, memory))
        logits = torch.cat([logits.whole()[0] for logits, _ in rows])
    return logits, [int(token) for _, token in rows]


def test_decoding_with_a_cache_equals_one_pass_over_the_result():
    ids = torch.tensor([[5, 17, 8]])
    ones = torch.ones_like(ids)
    for name, kind in [("t5", Kind.ENCODER_DECODER), ("gemma2", Kind.DECODER_ONLY)]:
        model = tiny_model(name)
        if kind == Kind.DECODER_ONLY:
            inputs = Inputs(target=ids, target_mask=ones)
        else:
            inputs = Inputs(ids, ones, ids[:, :1], ones[:, :1])
        logits, tokens = decoded(model, kind, inputs, inputs.target.size(1) + 5)
        assert len(tokens) == 6
        target = torch.cat([inputs.target, torch.tensor([tokens[:-1]])], 1)
        with torch.inference_mode():
            whole = Inputs(inputs.source, inputs.source_mask, target, torch.ones_like(target))
            full = full_pass(model, Anatomy(kind), whole).logits.whole()[0]
        torch.testing.assert_close(logits, full, atol=1e-4, rtol=0)
        assert full.argmax(-1).tolist()[-6:] == tokens


def test_forced_tokens_are_taken_and_forbidden_ones_are_not():
    model = tiny_model("gemma2")
    ids = torch.tensor([[5, 17, 8]])
    inputs = Inputs(target=ids, target_mask=torch.ones_like(ids))
    _, free = decoded(model, Kind.DECODER_ONLY, inputs, 5)
    _, forced = decoded(model, Kind.DECODER_ONLY, inputs, 5, forced={4: 9})
    assert forced[0] == free[0]
    assert forced[1] == 9
    _, other = decoded(model, Kind.DECODER_ONLY, inputs, 5, never=torch.tensor([free[0]]))
    assert free[0] not in other


def test_sequences_decoded_together_are_those_decoded_alone():
    """They end when all have ended; padding at the right changes nothing."""
    model = tiny_model("marian")
    ids, mask = torch.tensor([[5, 17, 8], [41, 9, 1]]), torch.tensor([[1, 1, 1], [1, 1, 0]])
    start = torch.tensor([[2], [2]])
    both = Inputs(ids, mask, start, torch.ones_like(start))
    edits, rules = Edits({}, {}), DecodingRules(1, 6)
    with torch.inference_mode():
        memory = encoded(model, Anatomy(Kind.ENCODER_DECODER), both, edits)
        steps = list(greedy_rows(model, Kind.ENCODER_DECODER, both, edits, rules, memory))
    tokens = torch.stack([tokens for _, tokens in steps], 1).tolist()
    for number in range(2):
        length = int(mask[number].sum())
        sides = (ids[number : number + 1, :length], mask[number : number + 1, :length])
        alone = Inputs(*sides, start[:1], torch.ones_like(start[:1]))
        _, expected = decoded(model, Kind.ENCODER_DECODER, alone, 6)
        assert tokens[number] == expected
        _, ended = decoded(model, Kind.ENCODER_DECODER, alone, 6, ends=torch.tensor(expected[2:3]))
        assert ended == expected[: expected.index(expected[2]) + 1]


def test_copies_share_an_encoder_that_is_not_edited():
    model = tiny_model("marian")
    ids, start = torch.tensor([[5, 17, 8]]), torch.tensor([[2, 7]])
    inputs = Inputs(ids, torch.ones_like(ids), start, torch.ones_like(start))
    with torch.inference_mode():
        one = full_pass(model, Anatomy(Kind.ENCODER_DECODER), inputs)
        three = full_pass(model, Anatomy(Kind.ENCODER_DECODER), inputs, copies=3)
    one, three = one.logits.whole(), three.logits.whole()
    assert len(one) == 1
    assert len(three) == 3
    torch.testing.assert_close(three[2], one[0], atol=1e-5, rtol=0)


def test_an_encoder_that_ran_is_used_again(opened):
    model = opened("marian").model
    ids, start = torch.tensor([[5, 17, 8]]), torch.tensor([[2, 7]])
    inputs = Inputs(ids, torch.ones_like(ids), start, torch.ones_like(start))
    indices = []
    seen = {"encoder": lambda index, call: indices.append(index)}
    with torch.inference_mode():
        memory = encoded(model, Anatomy(Kind.ENCODER_DECODER), inputs, Edits({}, {}), seen)
        assert indices == [0, 1]
        again = full_pass(model, Anatomy(Kind.ENCODER_DECODER), inputs, seen=seen, memory=memory)
        assert indices == [0, 1]
        expected = full_pass(model, Anatomy(Kind.ENCODER_DECODER), inputs).logits.whole()
        torch.testing.assert_close(again.logits.whole(), expected, atol=0, rtol=0)
