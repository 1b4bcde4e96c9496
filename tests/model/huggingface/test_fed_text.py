"""Classifiers with a decoder. The oracle is the library's own call, which pads nothing and feeds
the decoder itself."""

from functools import cache

import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError, EvaluationBatchError, VocabularyError
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import given_sentences, token_losses
from explorer.heads.removal.own_metric import logit_difference
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.fed_text import decodes, fed, without_head
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.opening.loading import open_directory
from explorer.public.studied_model import load
from tests.support.huggingface_families import ALL, EOS, saved, tiny_model
from tests.support.projected_heads import projected

TEXT = f"5 17 8 41 9 23 {EOS}"
IDS = torch.tensor([[int(token) for token in TEXT.split()]])
CLASSES = {
    "GPT2ForSequenceClassification": "gpt2",
    "LlamaForTokenClassification": "llama",
    "LlamaForQuestionAnswering": "llama",
    "BartForSequenceClassification": "bart",
    "BartForQuestionAnswering": "bart",
    "T5ForSequenceClassification": "t5",
    "BloomForSequenceClassification": "bloom",
    "Qwen3ForSequenceClassification": "qwen3",
    "LlamaForSequenceClassification": "llama",
    "GPT2ForTokenClassification": "gpt2",
    "GPT2ForQuestionAnswering": "gpt2",
    "GPTNeoForTokenClassification": "gpt_neo",
    "MBartForSequenceClassification": "mbart",
    "MvpForSequenceClassification": "mvp",
    "PLBartForSequenceClassification": "plbart",
    "UMT5ForSequenceClassification": "umt5",
    "T5ForQuestionAnswering": "t5",
    "T5ForTokenClassification": "t5",
    "T5EncoderModel": "t5",
}
TESTED = tuple(CLASSES) if ALL else tuple(CLASSES)[:6]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """By class: the opened model, and the library's."""

    @cache
    def make(head):
        labels = 2 if "QuestionAnswering" in head else 3
        own = tiny_model(CLASSES[head], head=head, num_labels=labels)
        return open_directory(saved(own, tmp_path_factory.mktemp(head))), own

    return make


def library(own, **options):
    own.set_attn_implementation("eager")
    with torch.inference_mode():
        return own(input_ids=IDS, output_attentions=True, **options)


def logits_without(removed, own, family, anatomy, texts):
    """(N, L) of the library's own model, text for text, with the output of a head set to zero by
    hand; removed: None = of no head."""

    def without(site, layer, states):
        if removed is not None and (site, layer) == removed[:2]:
            states[:, :, removed.head] = 0
        return states

    ids = [torch.tensor([[int(token) for token in text.split()]]) for text in texts]
    with torch.no_grad(), projected(own, family, anatomy, without):
        return torch.cat([own(input_ids=one).logits for one in ids])


def logits_of(out):
    """(S, 2) of a span, (S, L) of tags, (L,) of a class."""
    if getattr(out, "start_logits", None) is not None:
        return torch.stack([out.start_logits[0], out.end_logits[0]], -1)
    return out.logits[0]


@pytest.mark.parametrize("head", TESTED)
@pytest.mark.parametrize("pad_to", [None, 10])
def test_the_answer_and_the_weights_are_those_of_the_librarys_own_call(opened, head, pad_to):
    model, own = opened(head)
    trace, out = model.trace(TEXT, pad_to=pad_to), library(own)
    assert trace.integrity().ok.all(), trace.integrity()
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions")
    found = {name.split("_")[0]: getattr(out, name, None) for name in names}
    if getattr(out, "attentions", None) is not None:
        found = {"decoder" if model.kind == Kind.DECODER_ONLY else "encoder": out.attentions}
    assert set(trace.sites) == {site for site, weights in found.items() if weights is not None}
    for site in trace.sites:
        rows = np.array([token != "<pad>" for token in trace.queries(site)])[: trace_rows(trace)]
        keys = np.array([token != "<pad>" for token in trace.keys(site)])
        weights = trace.attention(site)
        expected = torch.cat(found[site]).numpy()
        first = int(rows.argmax())  # padding of a decoder alone is at the left
        size, width = expected.shape[2:]
        shown = weights[:, :, first : first + size, int(keys.argmax()) :][..., :width]
        np.testing.assert_allclose(shown, expected, atol=1e-6 if pad_to is None else 1e-5)
    if head == "T5EncoderModel":
        assert trace.predictions().empty
        return
    logits = logits_of(out)
    answers = trace.predictions()
    first = 0 if model.kind != Kind.DECODER_ONLY else len(trace.target_tokens) - IDS.size(1)
    for row in answers.itertuples():
        if logits.ndim == 1:
            expected = float(logits[model.model.config.label2id[row.label]])
            assert (row.start, row.stop) == (first, first + IDS.size(1))
        elif "QuestionAnswering" in head:
            start, stop = row.start - first, row.stop - first - 1
            expected = float(logits[start, 0] + logits[stop, 1])
        else:
            expected = float(logits[row.start - first, model.model.config.label2id[row.label]])
        assert row.value == pytest.approx(expected, abs=2e-5)
    if logits.ndim == 1:
        assert trace.text == model.model.config.id2label[int(logits.argmax())]


def trace_rows(trace):
    return len(trace.target_tokens) or len(trace.source_tokens)


@pytest.mark.parametrize("head", ["GPT2ForSequenceClassification", "BartForSequenceClassification"])
def test_nothing_is_decoded(opened, head):
    model, _ = opened(head)
    trace = model.trace(TEXT, max_new_tokens=3)
    assert (trace.predicted_tokens, trace.candidate_tokens) == ((), ())
    assert trace.steps().empty
    assert "prompt" not in trace.facts
    for option in ({"target": "5"}, {"prefix": "5"}, {"force": {1: 5}}):
        with pytest.raises(ConfigError) as caught:
            model.trace(TEXT, **option)
        assert caught.value.key == "decodes_nothing"
        assert head in str(caught.value)


def test_the_decoder_reads_what_its_class_feeds_it(opened):
    model, own = opened("BartForSequenceClassification")
    start = own.config.decoder_start_token_id
    expected = [start, *IDS[0, :-1].tolist()]
    assert fed(own, Inputs(IDS, torch.ones_like(IDS))).target.tolist() == [expected]
    assert model.trace(TEXT).target_tokens == tuple(map(str, expected))


def test_a_text_without_its_end_is_refused_where_the_answer_is_read_there(opened):
    model, _ = opened("BartForSequenceClassification")
    with pytest.raises(VocabularyError) as caught:
        model.trace("5 17 8")
    assert caught.value.key == "no_end"
    assert opened("BartForQuestionAnswering")[0].trace("5 17 8").sites[0] == "encoder"


@pytest.mark.parametrize("head", ["GPT2ForSequenceClassification", "BartForSequenceClassification"])
def test_heads_are_measured_on_texts_of_several_lengths(opened, head):
    """Their own passes, text for text, are the oracle."""
    model, own = opened(head)
    texts = [TEXT, f"7 8 9 {EOS}"]
    batch = given_sentences(model, texts)
    assert len(measure(model, batch).heads) == len(model.anatomy.all_heads)
    with pytest.raises(EvaluationBatchError) as caught:
        measure(model, batch, gradients=True)
    assert caught.value.key == "no_predictions"
    with pytest.raises(ConfigError) as no_pair:  # by ids
        model.passes.pairs([("5", "6")], "pairs")
    assert no_pair.value.key == "no_pair"
    layers = [layer for layer in model.passes.attentions(batch) if layer.site == "decoder"]
    own.set_attn_implementation("eager")
    for number, text in enumerate(texts):
        ids = torch.tensor([[int(token) for token in text.split()]])
        with torch.inference_mode():
            out = own(input_ids=ids, output_attentions=True)
        alone = getattr(out, "decoder_attentions", None) or out.attentions
        for layer, weights in zip(layers, alone, strict=True):
            shown = layer.weights[number, :, : ids.size(1), : ids.size(1)]
            torch.testing.assert_close(shown, weights[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("head", ["GPT2ForSequenceClassification", "BartForSequenceClassification"])
def test_heads_are_measured_by_labels(head, tmp_path):
    """The library's own model is the oracle, text for text, with each head zeroed by hand."""
    own = tiny_model(CLASSES[head], head=head, num_labels=3, pad_token_id=1)
    model = open_directory(saved(own, tmp_path))
    texts, labels = [TEXT, f"7 8 9 {EOS}", f"11 12 {EOS}"], [2, 0, 1]

    def loss(removed=None):
        logits = logits_without(removed, own, CLASSES[head], model.anatomy, texts)
        return float(torch.nn.functional.cross_entropy(logits, torch.tensor(labels)))

    batch = given_sentences(model, texts, labels)
    heads = measure(model, batch, gradients=True, removed_on=3).heads
    for row, removed in zip(heads.itertuples(), model.passes.heads, strict=True):
        assert (row.site, row.layer, row.head) == tuple(removed)
        assert row.zero_loss == pytest.approx(loss(removed) - loss(), abs=2e-5)
    with torch.no_grad():
        logits = model.passes.logits(batch)
    assert float(token_losses(logits, batch.labels).sum()) / 3 == pytest.approx(loss(), abs=2e-5)


@pytest.mark.parametrize("head", ["GPT2ForSequenceClassification", "BartForSequenceClassification"])
def test_heads_are_removed_by_a_metric_of_classes(head, tmp_path):
    """The library's own model is the oracle, text for text, with each head zeroed by hand."""
    names = {0: "no", 1: "maybe", 2: "yes"}
    own = tiny_model(CLASSES[head], head=head, id2label=names, pad_token_id=1)
    model = load(saved(own, tmp_path))
    texts = [TEXT, f"7 8 9 {EOS}"]

    def difference(removed=None):
        logits = logits_without(removed, own, CLASSES[head], model.anatomy, texts)
        return float((logits[:, 2] - logits[:, 0]).mean())

    heads = model.measure(texts, metric=logit_difference("yes", "no")).heads
    for row, removed in zip(heads.itertuples(), model.passes.heads, strict=True):
        assert (row.site, row.layer, row.head) == tuple(removed)
        assert row.zero_metric == pytest.approx(difference(removed) - difference(), abs=2e-5)


def test_labels_need_the_id_by_which_the_library_finds_the_end(opened):
    model, own = opened("GPT2ForSequenceClassification")
    assert own.config.pad_token_id is None
    with pytest.raises(EvaluationBatchError) as caught:
        given_sentences(model, [TEXT, f"7 8 {EOS}"], [0, 1])
    assert caught.value.key == "labels_need_padding"
    with pytest.raises(EvaluationBatchError) as caught:
        model.passes.continued([TEXT, f"7 8 {EOS}"], "texts")
    assert caught.value.key == "labels_need_padding"


def test_what_is_below_the_head_of_a_classifier_has_no_head():
    generates, reads = tiny_model("gpt2"), tiny_model("gpt2", head="GPT2ForSequenceClassification")
    assert decodes(generates, Kind.DECODER_ONLY)
    assert without_head(generates, Kind.DECODER_ONLY) is generates
    assert not decodes(reads, Kind.DECODER_ONLY)
    assert without_head(reads, Kind.DECODER_ONLY) is reads.transformer
    assert without_head(reads, Kind.ENCODER_ONLY) is reads
