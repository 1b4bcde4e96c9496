import torch

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.edits import Cursor, Edits
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.passes import full_pass, greedy_rows
from tests.support.huggingface_families import tiny_model

NOBODY = torch.empty(0, dtype=torch.long)


def decoded(model, kind, inputs, forced, last, never=NOBODY):
    first = inputs.target.size(1)
    options = (Edits({}, {}, Cursor()), forced, {0: never, first: NOBODY}, frozenset(), last)
    with torch.inference_mode():
        rows = list(greedy_rows(model, kind, inputs, *options))
    return torch.cat([logits for logits, _ in rows]), [token for _, token in rows]


def test_decoding_with_a_cache_equals_one_pass_over_the_result():
    ids = torch.tensor([[5, 17, 8]])
    ones = torch.ones_like(ids)
    for name, kind in [("t5", Kind.ENCODER_DECODER), ("gemma2", Kind.DECODER_ONLY)]:
        model = tiny_model(name)
        if kind == Kind.DECODER_ONLY:
            inputs = Inputs(target=ids, target_mask=ones)
        else:
            inputs = Inputs(ids, ones, ids[:, :1], ones[:, :1])
        logits, tokens = decoded(model, kind, inputs, {}, inputs.target.size(1) + 5)
        assert len(tokens) == 6
        target = torch.cat([inputs.target, torch.tensor([tokens[:-1]])], 1)
        with torch.inference_mode():
            whole = Inputs(inputs.source, inputs.source_mask, target, torch.ones_like(target))
            full = full_pass(model, kind, whole).outputs
        torch.testing.assert_close(logits, full, atol=1e-4, rtol=0)
        assert full.argmax(-1).tolist()[-6:] == tokens


def test_forced_tokens_are_taken_and_forbidden_ones_are_not():
    model = tiny_model("gemma2")
    ids = torch.tensor([[5, 17, 8]])
    inputs = Inputs(target=ids, target_mask=torch.ones_like(ids))
    _, free = decoded(model, Kind.DECODER_ONLY, inputs, {}, 5)
    _, forced = decoded(model, Kind.DECODER_ONLY, inputs, {4: 9}, 5)
    assert forced[0] == free[0]
    assert forced[1] == 9
    _, other = decoded(model, Kind.DECODER_ONLY, inputs, {}, 5, torch.tensor([free[0]]))
    assert free[0] not in other
