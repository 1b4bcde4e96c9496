import torch

from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.model.greedy_decoding import NO_TOKENS, continuation, decoding_steps, greedy
from explorer.model.masks import padding_mask
from explorer.model.transformer import Transformer

SOURCE = torch.tensor([[3, 4, 5, 2], [6, 2, PAD, PAD]])


def decode(model: Transformer, source: torch.Tensor, limit: int, forced=NO_TOKENS) -> list:
    mask = padding_mask(source)
    steps = decoding_steps(model, model.encode(source, mask), mask, limit, forced)
    return [token.tolist() for _, token in steps]


@torch.no_grad()
def test_greedy_equals_recomputing_the_whole_pass_for_each_token(make_model):
    model = make_model()
    decoded = greedy(model, SOURCE, limit=9)
    target = torch.full((2, 1), BOS)
    done = torch.zeros(2, dtype=torch.bool)
    for _ in range(decoded.size(1)):
        token = model(SOURCE, target)[:, -1, EOS:].argmax(-1) + EOS
        token = token.masked_fill(done, PAD)
        done |= token == EOS
        target = torch.cat([target, token[:, None]], 1)
    assert torch.equal(decoded, target[:, 1:])


@torch.no_grad()
def test_padding_and_beginning_are_never_chosen(make_model):
    model = make_model()
    model.logits.bias[PAD] = model.logits.bias[BOS] = 100
    assert (greedy(model, SOURCE[:1], limit=9) >= EOS).all()


@torch.no_grad()
def test_an_ended_sequence_is_padded_and_decoding_stops_when_all_have_ended(make_model):
    model = make_model()
    assert decode(model, SOURCE, 9, {1: 7, 2: EOS}) == [[7, 7], [EOS, EOS]]
    model.logits.bias[EOS] = 100
    assert greedy(model, SOURCE, limit=9).tolist() == [[EOS], [EOS]]


@torch.no_grad()
def test_a_forced_step_changes_only_later_steps(make_model):
    model = make_model()
    plain = decode(model, SOURCE[:1], 6)
    other = next(number for number in range(3, 17) if [number] != plain[2])
    forced = decode(model, SOURCE[:1], 6, {3: other})
    assert forced[:2] == plain[:2]
    assert forced[2] == [other]


@torch.no_grad()
def test_the_limit_stops_decoding(make_model):
    model = make_model()
    model.logits.bias[EOS] = -100
    assert greedy(model, SOURCE, limit=5).shape == (2, 5)


@torch.no_grad()
def test_a_continuation_is_what_comes_after_the_prompt(continuing):
    trace = continuing.trace("1 2")
    ids = continuation(continuing.transformer, continuing.target_vocabulary.encode("1 2"), 11)
    assert continuing.target_vocabulary.labels(ids) == trace.predicted_tokens[2:]
