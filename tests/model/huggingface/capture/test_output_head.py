"""The logits of some rows against those of all, which the library computes."""

from dataclasses import replace

import pytest
import torch
from transformers import LlamaForCausalLM

from explorer.core import trace_size
from explorer.core.errors import TraceSizeError
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.capture import output_head
from explorer.model.huggingface.capture.edits import Edits
from explorer.model.huggingface.capture.passes import encoded, full_pass, greedy_rows
from explorer.model.huggingface.capture.verification import examine, probe
from explorer.model.huggingface.traced_model import HuggingFaceModel
from tests.support.huggingface_families import FAMILIES, TESTED, VOCABULARY, tiny_model

ROWS = 3
"""Of a block."""


def small_blocks(model: HuggingFaceModel) -> HuggingFaceModel:
    head = replace(model.anatomy.head, block=4 * VOCABULARY * ROWS)
    return replace(model, anatomy=replace(model.anatomy, head=head))


def largest_pass(monkeypatch):
    """The most rows of logits that a model has returned at once."""
    seen, whole = [], output_head.predictions
    monkeypatch.setattr(output_head, "predictions", lambda out: seen.append(whole(out)) or seen[-1])
    return lambda: max((logits.size(1) for logits in seen), default=0)


@pytest.mark.parametrize("name", TESTED)
def test_the_logits_of_some_rows_are_those_of_the_library(opened, monkeypatch, name):
    model = small_blocks(opened(name))
    most = largest_pass(monkeypatch)
    inputs = probe(model.model, model.kind, VOCABULARY, None)
    with torch.inference_mode():
        found = full_pass(model.model, model.anatomy, inputs, head=model.anatomy.head).logits
        assert (found.rows, found.width, found.step) == (max(inputs.lengths[1:]) or 11, 67, ROWS)
        logits = found.whole()
        assert most() == ROWS
        given = {"input_ids": inputs.target if inputs.source is None else inputs.source}
        if model.kind == Kind.ENCODER_DECODER:
            given["decoder_input_ids"] = inputs.target
        expected = model.model(**given).logits
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in TESTED if "Masked" not in FAMILIES[name].model])
def test_the_logits_of_steps_can_be_read_after_decoding(opened, name):
    model = small_blocks(opened(name))
    inputs = probe(model.model, model.kind, VOCABULARY, None)
    first = inputs.lengths[1]
    rules = model._settings.rules(model.kind, first, first + 5, {})
    rules = replace(rules, ends=torch.empty(0, dtype=torch.long))
    edits = Edits({}, {})
    with torch.inference_mode():
        memory = encoded(model.model, model.anatomy, inputs, edits)
        ways = []
        for head in (model.anatomy.head, opened(name).anatomy.head):
            steps = greedy_rows(model.model, model.kind, inputs, edits, rules, memory, head)
            found = list(steps)
            ways.append(torch.cat([logits.whole()[0] for logits, _ in found]))
            assert [logits.rows for logits, _ in found] == [first, 1, 1, 1, 1, 1]
    torch.testing.assert_close(*ways, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("name", TESTED)
def test_a_trace_in_blocks_is_that_of_one_block(opened, name):
    whole = opened(name)
    text = "5 17 8 41 9 23 7"
    given = {"max_new_tokens": 6} if whole.kind != Kind.ENCODER_ONLY else {}
    for options in (given, given | {"pad_to": 9}):
        one, other = (model.trace(text, **options) for model in (whole, small_blocks(whole)))
        assert one.predicted_tokens == other.predicted_tokens
        assert one.text == other.text
        assert one.measured.keys() == other.measured.keys()
        assert other.integrity().ok.all()
        columns = ["step", "rank", "id", "chosen", "forced"]
        if one.steps().empty:
            continue
        assert one.steps()[columns].equals(other.steps()[columns])
        torch.testing.assert_close(
            *(torch.tensor(trace.steps().probability.tolist()) for trace in (one, other))
        )


@pytest.mark.parametrize("name", TESTED)
def test_attention_over_a_batch_needs_no_logits(opened, monkeypatch, name):
    """A block of them is computed, because no family runs without its head."""
    model = small_blocks(opened(name))
    batch = model.passes.texts(["5 17 8 41 9 23 7"], "one")
    most = largest_pass(monkeypatch)
    found = list(model.passes.attentions(batch))
    assert most() <= ROWS
    expected = list(opened(name).passes.attentions(batch))
    assert len(found) == len(expected) == len(model.anatomy.places)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one.weights, other.weights)


class Mixing(LlamaForCausalLM):
    """Its logits depend on the rows before, which no family's do."""

    def forward(self, *args, **options):
        out = super().forward(*args, **options)
        out.logits = out.logits.cumsum(1)
        return out


class Counting(LlamaForCausalLM):
    """Cannot run when its body returns the hidden states of some rows."""

    def forward(self, input_ids, **options):
        out = super().forward(input_ids, **options)
        if out.logits.shape[:2] != input_ids.shape:
            raise ValueError("rows are missing")
        return out


@pytest.mark.parametrize("kind", [Mixing, Counting])
def test_a_head_that_needs_all_rows_gets_them(kind):
    model = tiny_model("llama")
    model.__class__ = kind
    head = examine(model, Kind.DECODER_ONLY, VOCABULARY, None).head
    assert (head.body, head.width) == ("", VOCABULARY)
    with torch.inference_mode():
        inputs = probe(model, Kind.DECODER_ONLY, VOCABULARY, None)
        found = full_pass(model, Anatomy(Kind.DECODER_ONLY), inputs, head=head).logits.whole()
        torch.testing.assert_close(found, model(inputs.target).logits, atol=1e-5, rtol=0)


def test_logits_that_are_all_in_memory_are_refused_before_the_run(opened, monkeypatch):
    model = opened("gemma2")
    monkeypatch.setattr(trace_size, "largest_logits", lambda: 4 * VOCABULARY * 8)
    text = "5 17 8 41 9 23 7"
    assert model.trace(text, max_new_tokens=3)
    head = replace(model.anatomy.head, body="")
    model = replace(model, anatomy=replace(model.anatomy, head=head))
    assert model.trace(text, max_new_tokens=2)
    with pytest.raises(TraceSizeError) as caught:
        model.trace(text, max_new_tokens=3)
    assert caught.value.key == "logits_too_large"
    assert (caught.value.facts["rows"], caught.value.facts["fits"]) == (9, 8)
