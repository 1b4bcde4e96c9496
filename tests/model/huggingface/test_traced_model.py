import threading

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.processors import BertProcessing
from tokenizers.trainers import BpeTrainer
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from explorer.core import trace_size
from explorer.core.errors import (
    ConfigError,
    EvaluationBatchError,
    InterventionError,
    MaskError,
    TraceSizeError,
    VocabularyError,
)
from explorer.core.trace import Trace
from explorer.core.words import marks_words, merge
from explorer.heads.removal.counterfactuals import compare_traces
from explorer.model.huggingface import traced_model
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.capture.attention_calls import CAPTURE
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.tokens import Tokens
from explorer.public.studied_model import wrap
from tests.support.huggingface_families import EOS, tiny_model
from tests.support.model_directories import bert, gpt2

TEXT = "5 17 8 41 9 23"


def short(model, count):
    """The options with which a decoder decodes at most `count` tokens; an encoder takes none."""
    return {} if model.kind == Kind.ENCODER_ONLY else {"max_new_tokens": count}


@pytest.fixture(scope="module")
def models(opened):
    """One model of each kind, and one with local attention and shared keys."""
    return {name: opened(name) for name in ("marian", "llama", "gemma2", "bert")}


def test_a_decoder_alone_has_the_prompt_as_its_beginning(models):
    trace = models["llama"].trace(TEXT, max_new_tokens=3)
    assert trace.sites == ("decoder",)
    assert trace.source_tokens == ()
    assert trace.target_tokens[:6] == ("5", "17", "8", "41", "9", "23")
    assert len(trace.target_tokens) == 8
    assert trace.predicted_tokens[:-1] == trace.target_tokens[1:]
    steps = trace.steps()
    chosen = steps[steps.chosen]
    assert chosen.forced.tolist() == [True] * 5 + [False] * 3
    assert trace.text == " ".join(trace.predicted_tokens[-3:])
    assert trace.facts["prompt"] == 6


@pytest.mark.parametrize("word", ["spaces", "مرحبا", "🙂"])
def test_a_saved_text_without_a_space_keeps_its_word(word, tmp_path):
    model = open_directory(gpt2(tmp_path / "gpt2"))
    trace = model.trace(word, target=".")
    trace.save(tmp_path / "one.trace")
    for found in (trace, Trace.load(tmp_path / "one.trace")):
        assert len(found.target_tokens) > 2
        assert merge(found).target_tokens == (word, ".")
        assert marks_words(found)


def test_several_texts_have_a_trace_each(models):
    texts = [TEXT, "7 8"]
    expected = [models["bert"].trace(text).digest for text in texts]
    assert [trace.digest for trace in models["bert"].traces(texts)] == expected


def test_forced_tokens_prefixes_and_targets(models):
    for name, first in [("marian", 1), ("llama", 6)]:
        model = models[name]
        prefixed = model.trace(TEXT, prefix="7 8", max_new_tokens=4)
        assert prefixed.predicted_tokens[first - 1 : first + 1] == ("7", "8")
        forced = model.trace(TEXT, force={first: 7, first + 1: 8}, max_new_tokens=4)
        np.testing.assert_array_equal(prefixed.attention("decoder"), forced.attention("decoder"))
        given = model.trace(TEXT, target="7 8")
        assert given.predicted_tokens[first - 1 :] == ("7", "8", str(EOS))
        assert given.facts["given"]


def test_the_first_token_that_the_settings_demand_is_decoded_as_by_the_library(models, monkeypatch):
    """As the language of mBART; the library's own decoding is the oracle."""
    model = models["marian"]
    free = model.trace(TEXT, max_new_tokens=4).predicted_tokens
    monkeypatch.setattr(model.model.generation_config, "forced_bos_token_id", 8)
    monkeypatch.setattr(model.model.generation_config, "forced_eos_token_id", None)  # at the limit
    ids = torch.tensor([[*map(int, TEXT.split())]])
    (expected,) = model.model.generate(ids, max_new_tokens=4, num_beams=1, do_sample=False)
    found = model.trace(TEXT, max_new_tokens=4).predicted_tokens
    assert free[0] != found[0] == "8"
    assert found == tuple(map(str, expected[1:].tolist()))


def test_an_encoder_alone_fills_in_its_masks(models):
    model = models["bert"]
    plain = model.trace(TEXT)
    assert plain.sites == ("encoder",)
    assert plain.steps().empty

    class WithMask(Tokens):
        mask_id = 41

    filling = type(model)(
        model.name, model.model, model.anatomy, WithMask(None, model.tokens.size), model.positions
    )
    masked = filling.trace(TEXT)
    with torch.inference_mode():
        ids = torch.tensor([[int(token) for token in TEXT.split()]])
        logits = model.model(input_ids=ids).logits[0, 3]
    steps = masked.steps()
    assert set(steps.step) == {4}
    assert steps.id.iloc[0] == int(logits.argmax())
    assert steps.probability.iloc[0] == pytest.approx(float(logits.softmax(-1).max()), abs=1e-6)
    assert masked.text.split()[3] == str(int(logits.argmax()))
    assert merge(masked).steps().step.tolist() == steps.step.tolist()
    compared = compare_traces(filling, masked, filling.trace(TEXT, ablate=[("encoder", 0, 1)]))
    assert compared.forced.predicted_tokens == masked.predicted_tokens
    for wrong in ({"prefix": "5"}, {"target": "5"}, {"max_new_tokens": 5}):
        with pytest.raises(ConfigError, match="an encoder alone"):
            model.trace(TEXT, **wrong)
    with pytest.raises(VocabularyError, match="no mask token at position 1"):
        model.trace(TEXT, force={1: 5})
    assert masked.facts["mask"] == "41"
    assert "mask" not in plain.facts


def test_two_texts_are_in_two_segments(tmp_path):
    model = open_directory(bert(tmp_path / "bert"))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "bert")
    given = tokenizer("The cat.", "A dog.", return_tensors="pt", return_token_type_ids=True)
    with torch.inference_mode():
        model.model.set_attn_implementation("eager")
        own = model.model(**given, output_attentions=True)
        flat = model.model(input_ids=given["input_ids"], output_attentions=True)
        model.model.set_attn_implementation(CAPTURE)
    expected = torch.cat(own.attentions).numpy()
    trace = model.trace("The cat.", pair="A dog.")
    np.testing.assert_allclose(trace.attention("encoder"), expected, atol=1e-6)
    assert np.abs(expected - torch.cat(flat.attentions).numpy()).max() > 1e-3
    second = given["token_type_ids"][0].tolist().index(1)
    assert (trace.facts["pair"], trace.facts["second"]) == ("A dog.", second)
    assert trace.source_tokens[second:] == ("▁A", "▁dog", ".", "[SEP]")
    assert trace.integrity().ok.all()
    padded = model.trace("The cat.", pair="A dog.", pad_to=15)
    assert padded.source_tokens[-1] == "[PAD]"
    assert padded.integrity().ok.all()
    np.testing.assert_allclose(
        padded.attention("encoder")[:, :, : expected.shape[2], : expected.shape[3]],
        expected,
        atol=1e-6,
    )


def test_a_pair_without_segments_is_told_apart_by_its_separators(tmp_path):
    model = open_directory(bert(tmp_path / "distilbert", "distilbert"))
    trace = model.trace("The cat.", pair="A dog.")
    assert not model.has_segments
    assert trace.source_tokens[trace.facts["second"] - 1] == "[SEP]"
    assert "separator" not in trace.facts


def test_a_second_text_is_refused_where_there_is_no_place_for_it(models, tmp_path):
    for name in ("marian", "llama", "bert"):  # the last without a tokenizer
        with pytest.raises(ConfigError) as caught:
            models[name].trace(TEXT, pair="5")
        assert caught.value.key == "no_pair"
    model = open_directory(bert(tmp_path / "bert"))
    for empty in ("", "  "):
        with pytest.raises(VocabularyError):
            model.trace("The cat.", pair=empty)
    with pytest.raises(VocabularyError) as caught:
        model.trace("The cat.", pair="a cat " * 300)
    assert caught.value.key == "long_text"


@pytest.mark.parametrize(
    ("kind", "framed", "unread"),
    [
        ("bart", False, [{"text": "猫狗"}, {"text": "cat", "prefix": "猫狗"}]),
        ("bart", True, [{"text": "猫狗"}, {"text": "cat", "target": "猫狗"}]),
        ("gpt2", False, [{"text": "猫狗"}, {"text": "cat", "prefix": "猫狗"}]),
        ("bert", False, [{"text": "猫狗"}]),
        ("bert", True, [{"text": text} for text in ("猫狗", "猫狗 ")]),
        ("bert", True, [{"text": "cat", "pair": "猫狗"}, {"text": "猫狗", "pair": "cat"}]),
    ],
)
def test_a_text_of_which_the_tokenizer_makes_no_token_is_refused(kind, framed, unread):
    """A BPE without an unknown token drops the letters that it does not know."""
    own = Tokenizer(BPE())
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    trainer = BpeTrainer(vocab_size=20, special_tokens=list(marks.values()))
    own.train_from_iterator(["the cat sat"], trainer)
    if framed:
        own.post_processor = BertProcessing(("[SEP]", 1), ("[CLS]", 0))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=own, **marks)
    model = wrap(tiny_model(kind, vocab_size=20), tokenizer, name="tiny")
    for options in unread:
        with pytest.raises(VocabularyError) as caught:
            model.trace(**options)
        assert "tokenizer of “tiny” makes no token of “猫狗" in str(caught.value)
    with pytest.raises(VocabularyError):
        model.check_text("猫狗", "source")
    assert model.trace("cat 猫").integrity().ok.all()
    assert model.trace("[SEP]").integrity().ok.all()  # typed, so it is of the text


def test_cells_are_masked_unmasked_and_rows_set(models):
    for name, site in [("marian", "cross"), ("gemma2", "decoder"), ("bert", "encoder")]:
        model = models[name]
        query = 1
        trace = model.trace(TEXT, edit_mask=[(site, 1, 0, query, 0)], **short(model, 3))
        assert trace.mask_reason(site, 1, 0)[query, 0] == "edited"
        assert trace.attention(site)[1, 0, query, 0] == 0
        assert trace.mask_reason(site, 0, 0)[query, 0] == ""
        assert trace.integrity().ok.all(), trace.integrity()
        row = model.trace(TEXT, override_row=[(site, 1, 0, query, (3.0, 1.0))], **short(model, 3))
        assert row.attention(site)[1, 0, query, :2].tolist() == [0.75, 0.25]
        assert row.integrity().ok.all(), row.integrity()
    opened = models["gemma2"].trace(
        TEXT, target="7 8", edit_mask=[("decoder", 0, 1, 5, 0, True), ("decoder", 1, 0, 2, 4, True)]
    )
    assert opened.attention("decoder")[0, 1, 5, 0] > 0  # outside the window
    assert opened.attention("decoder")[1, 0, 2, 4] > 0  # a later position
    assert opened.integrity().ok.all()


def test_a_masked_cell_equals_a_score_of_minus_infinity(models):
    """The weights of the row are those of the other keys, made to sum to 1."""
    model = models["bert"]
    whole = model.trace(TEXT).attention("encoder")[0, 2, 3]
    edited = model.trace(TEXT, edit_mask=[("encoder", 0, 2, 3, 1)]).attention("encoder")[0, 2, 3]
    expected = np.where(np.arange(6) == 1, 0, whole)
    np.testing.assert_allclose(edited, expected / expected.sum(), atol=1e-6)


def test_edits_that_leave_their_cell_as_it_is_are_refused(models):
    """Padding, a later position, a cell outside the window, one that was edited before."""
    for name, options, cells, key in [
        ("marian", {"pad_to": 8}, [("cross", 1, 0, 1, 7)], "already_masked"),
        ("marian", {}, [("encoder", None, None, 1, 0, True)], "already_unmasked"),
        ("llama", {}, [("decoder", None, 1, 2, 4)], "already_masked"),
        ("gemma2", {}, [("decoder", 0, 1, 5, 0)], "already_masked"),
        ("bert", {}, [("encoder", None, 1, 5, 0), ("encoder", 2, 1, 5, 0)], "already_masked"),
    ]:
        with pytest.raises(InterventionError) as caught:
            models[name].trace(TEXT, edit_mask=cells, **short(models[name], 2), **options)
        assert caught.value.key == key
    # In the layer between, the same cell is inside.
    models["gemma2"].trace(TEXT, edit_mask=[("decoder", None, 1, 5, 0)], max_new_tokens=2)


def test_interventions_that_cannot_be_done_are_refused(models):
    model = models["llama"]
    for given, error in [
        ({"ablate": [("cross", 0, 0)]}, InterventionError),
        ({"ablate": [("decoder", 9, 0)]}, InterventionError),
        ({"ablate": [("decoder", 0, 4)]}, InterventionError),
        ({"ablate": [("decoder", 0, 1, "mean")]}, InterventionError),
        ({"edit_mask": [("decoder", 0, 0, 0, 0)]}, MaskError),
        ({"edit_mask": [("decoder", 0, 0, 50, 0)]}, InterventionError),
        (
            {"ablate": [("decoder", layer, head) for layer in range(3) for head in range(4)]},
            InterventionError,
        ),
    ]:
        with pytest.raises(error):
            model.trace(TEXT, max_new_tokens=2, **given)


def test_only_chosen_layers_and_sites_are_captured(models):
    for name, sites in [("marian", ["cross", "encoder"]), ("gemma2", None), ("bert", None)]:
        model = models[name]
        whole = model.trace(TEXT, **short(model, 3), capture="full")
        part = model.trace(TEXT, **short(model, 3), capture="full", layers=[1], sites=sites)
        assert set(part.sites) == set(sites or whole.sites)
        for site in part.sites:
            vectors = ("query_vectors", "key_vectors", "values")
            for kind in ("attention", "scores", *vectors, "head_output"):
                own = part.arrays[f"{site}.{kind}"]
                np.testing.assert_array_equal(own, whole.arrays[f"{site}.{kind}"][1:2])
            assert part.layer_numbers(site) == (1,)
            assert part.mask(site, 0, 0).tolist() == whole.mask(site, 1, 0).tolist()
        assert part.predicted_tokens == whole.predicted_tokens
        assert part.integrity().ok.all()
        assert part.facts["model_layers"] == {
            site: len(whole.attention(site)) for site in whole.sites
        }
    edited = model.trace(TEXT, layers=[1], edit_mask=[("encoder", 0, 0, 1, 0)])
    assert edited.mask("encoder", 0, 0).all()  # the layer with the edit was not captured


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"pad_to": "8"}, "no_whole_number"),
        ({"max_new_tokens": "3"}, "no_whole_number"),
        ({"without": 3}, "bad_omission"),
        ({"means": 3}, "bad_means"),
        ({"force": {"2": 7}}, "bad_force"),
    ],
)
def test_an_option_of_a_wrong_type_is_refused(models, options, key):
    with pytest.raises(ConfigError) as caught:
        models["marian"].trace(TEXT, **options)
    assert caught.value.key == key


def test_too_much_attention_is_refused_before_the_run(models, monkeypatch):
    model = models["marian"]
    whole = model.trace(TEXT, max_new_tokens=2)
    needed = sum(whole.attention(site).nbytes for site in whole.sites)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: needed)
    assert "model_layers" not in model.trace(TEXT, max_new_tokens=2).facts
    monkeypatch.setattr(trace_size, "largest_trace", lambda: needed - 1)
    fitting = model.trace(TEXT, max_new_tokens=2, layers="fit")
    count = fitting.facts["model_layers"]["cross"]
    assert fitting.layer_numbers("cross") == tuple(range(count - 1))
    for run in ("encoded", "greedy_rows", "full_pass"):
        monkeypatch.setattr(traced_model, run, None)  # would fail
    with pytest.raises(TraceSizeError, match=f"the first {count - 1} fit"):
        model.trace(TEXT, max_new_tokens=2)
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 1)
    with pytest.raises(TraceSizeError):
        model.trace(TEXT, max_new_tokens=2, layers="fit")
    with pytest.raises(TraceSizeError):
        models["bert"].trace(TEXT)


def test_the_encoder_runs_once_for_decoding_and_capture(models):
    """And once more for the comparison with the library."""
    runs = []
    hook = (
        models["marian"].model.get_encoder().register_forward_hook(lambda *call: runs.append(call))
    )
    models["marian"].trace(TEXT, max_new_tokens=4)
    hook.remove()
    assert len(runs) == 2


def test_bad_options_are_refused(models):
    model = models["marian"]
    options = ({"capture": "all"}, {"pad_to": 3}, {"target": "5", "prefix": "5"}, {"force": 3})
    for wrong in options:
        with pytest.raises(ConfigError):
            model.trace(TEXT, **wrong)
    with pytest.raises(ConfigError, match="“marian0” is a model of the library"):
        model.trace(TEXT, without=["mask"])
    for text, key in [(" ".join(["5"] * 41), "long_source"), ("", "not_ids"), ("x", "not_ids")]:
        with pytest.raises(VocabularyError) as caught:
            model.trace(text)
        assert caught.value.key == key
    with pytest.raises(VocabularyError):
        model.trace(TEXT, target=" ".join(["5"] * 41))


@pytest.mark.parametrize(
    ("name", "got", "limit", "what"),
    [("marian", 41, 40, "source"), ("llama", 40, 39, "prompt"), ("bert", 41, 40, "text")],
)
def test_what_is_too_long_is_called_what_it_is(opened, name, got, limit, what):
    """After a prompt at least one token follows."""
    model = opened(name)
    sentence = f"The {what} has {got} tokens and this model takes at most {limit}"
    with pytest.raises(VocabularyError, match=sentence):
        model.trace(" ".join(["5"] * got))
    model.trace(" ".join(["5"] * limit), **short(model, 1))
    with pytest.raises(VocabularyError, match=f"The {what} has 41 tokens"):
        model.check_text(" ".join(["5"] * 41), "source")


def test_a_trace_is_stored_and_shown(models, tmp_path):
    for name, model in models.items():
        trace = model.trace(TEXT, **short(model, 3))
        trace.save(tmp_path / "x.trace")
        assert Trace.load(tmp_path / "x.trace").integrity().ok.all()
        trace.to_html(tmp_path / "x.html")
        assert trace.facts["family"] == name


def test_two_threads_on_one_model_never_mix(models):
    model = models["marian"]
    texts = [TEXT, "9 9 30 31 32 33"]
    options = [{}, {"ablate": [("encoder", 0, 0)]}]
    alone = [
        model.trace(text, max_new_tokens=4, **more).digest
        for text, more in zip(texts, options, strict=True)
    ]
    found = {0: set(), 1: set()}

    def work(number):
        for _ in range(5):
            trace = model.trace(texts[number], max_new_tokens=4, **options[number])
            found[number].add(trace.digest)

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: {alone[0]}, 1: {alone[1]}}


def test_texts_are_checked_before_they_are_measured(models):
    models["marian"].check_text(TEXT, "source")
    models["marian"].check_text(TEXT, "target")
    for text in ("999", "5 " * 41):
        for side in ("source", "target"):
            with pytest.raises(VocabularyError):
                models["marian"].check_text(text, side)
    models["bert"].check_text(TEXT, "target")  # a second text
    with pytest.raises(EvaluationBatchError):
        models["llama"].check_text(TEXT, "target")
