import pytest
import torch

from explorer.core.errors import VocabularyError
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.decoding import Decoded
from explorer.model.huggingface.inputs import padded_inputs
from explorer.model.huggingface.predictions import Predictions
from explorer.model.huggingface.tokens import Tokens
from explorer.model.row_logits import RowLogits

SIZE = 9


class WithMask(Tokens):
    mask_id = 6


def predictions(kind, *, chosen=(), padding=(), outputs=None, tokens=None, forced=None):
    inputs = padded_inputs(kind, [5, 6], list(padding), start=2)
    padded = ("<pad>",) * len(padding)
    labels = (*padded, "5", "6") if kind == Kind.DECODER_ONLY else ("5", "6", *padded)
    if chosen:
        inputs = inputs.with_target(chosen[:-1])
        outputs = torch.eye(SIZE)[: inputs.target.size(1)]
    tokens = tokens or Tokens(None, SIZE)
    decoded = Decoded(inputs, chosen=chosen, forced=forced or {})
    logits = RowLogits.of(outputs[None])
    # Two rows a block: what is found is joined from several blocks.
    logits = RowLogits.computed(logits.rows, logits.width, 2, logits.read)
    return Predictions(kind, tokens, decoded, labels, logits, ends=frozenset([1]))


def test_the_decoder_of_two_stacks_starts_with_its_own_token():
    found = predictions(Kind.ENCODER_DECODER, chosen=(7, 8, 1), forced={2: 8})
    assert found.source_labels() == ("5", "6")
    assert found.target_labels() == ("2", "7", "8")
    assert found.predicted_labels() == ("7", "8", "1")
    assert found.text() == "7 8"  # without the end
    arrays, _ = found.steps()
    chosen = arrays["steps.chosen"]
    assert arrays["steps.id"][chosen].tolist() == [7, 8, 1]
    assert arrays["steps.forced"][chosen].tolist() == [False, True, False]


def test_the_prompt_of_a_decoder_alone_is_fixed():
    found = predictions(Kind.DECODER_ONLY, chosen=(7, 8), padding=[0])
    assert found.source_labels() == ()
    assert found.target_labels() == ("<pad>", "5", "6", "7")
    assert found.predicted_labels() == ("5", "6", "7", "8")
    arrays, labels = found.steps()
    assert arrays["steps.forced"][arrays["steps.chosen"]].tolist() == [True, True, False, False]
    assert labels == tuple(map(str, arrays["steps.id"].tolist()))


@pytest.mark.parametrize(("forced", "key"), [({1: 4}, "no_mask"), ({2: SIZE}, "no_candidate")])
def test_only_masks_are_filled_and_with_ids_that_exist(forced, key):
    found = predictions(
        Kind.ENCODER_ONLY,
        outputs=torch.zeros(2, SIZE),
        tokens=WithMask(None, SIZE),
        forced=forced,
    )
    with pytest.raises(VocabularyError) as caught:
        found.steps()
    assert caught.value.key == key


def test_a_chosen_token_fills_its_mask():
    outputs = torch.zeros(2, SIZE)
    outputs[1, 4] = 2.0
    tokens = WithMask(None, SIZE)
    found = predictions(Kind.ENCODER_ONLY, outputs=outputs, tokens=tokens, forced={2: 8})
    arrays, _ = found.steps()
    chosen = arrays["steps.chosen"]
    assert (arrays["steps.id"][chosen].tolist(), arrays["steps.forced"][chosen].tolist()) == (
        [8],
        [True],
    )
    expected = float(outputs[1].softmax(-1)[8])
    assert arrays["steps.probability"][chosen].tolist() == pytest.approx([expected])
    assert found.text() == "5 8"


def test_an_encoder_alone_predicts_at_its_mask_tokens():
    outputs = torch.zeros(3, SIZE)
    outputs[1, 4] = 2.0
    found = predictions(
        Kind.ENCODER_ONLY, padding=[0], outputs=outputs, tokens=WithMask(None, SIZE)
    )
    arrays, labels = found.steps()
    assert set(arrays["steps.step"].tolist()) == {2}
    assert labels[0] == "4"
    expected = float(outputs[1].softmax(-1).max())
    assert arrays["steps.probability"][0] == pytest.approx(expected, abs=1e-6)
    assert found.text() == "5 4"  # padding left out
    assert (found.target_labels(), found.predicted_labels()) == ((), ())


def test_hidden_states_and_texts_without_a_mask_predict_nothing():
    narrow = torch.zeros(2, SIZE - 1)
    masked = WithMask(None, SIZE)
    assert predictions(Kind.ENCODER_ONLY, outputs=narrow, tokens=masked).steps() == ({}, ())
    assert predictions(Kind.ENCODER_ONLY, outputs=torch.zeros(2, SIZE)).steps() == ({}, ())
