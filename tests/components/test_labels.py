from pathlib import Path

import pytest

from explorer.components.labels import (
    batch_name,
    describe,
    estimate_text,
    purpose,
    short_count,
    short_credit,
    short_time,
    source_hint,
    source_of_scores,
)
from explorer.core.trace import Trace
from explorer.model.catalog import UploadedTrace, shipped_models
from explorer.model.model_directory import directory_model
from explorer.training.cost_estimate import Estimate
from tests.support.catalog_members import shipped, summary, uploaded


def test_a_model_is_described_in_both_languages():
    model = shipped("reverse", encoder_layers=2, decoder_layers=2, heads=4, exact_match=0.99812)
    assert describe(model, "en") == "reverse · 99.8 % right"
    assert describe(model, "zh") == "reverse · 99.8 % 正确"
    language_model = shipped("english", decoder_layers=4, heads=8, word_perplexity=41.196)
    assert describe(language_model, "en") == "english · perplexity 41 a word"


def test_an_upload_is_called_one_and_a_trace_has_no_model():
    assert describe(uploaded("mine", "stamp"), "en") == "mine · uploaded"
    trace = Trace.from_arrays(["a"], encoder=[[[[1.0]]]])
    assert (
        describe(UploadedTrace("x.trace", "1", trace), "en") == "x.trace · trace without its model"
    )


@pytest.mark.parametrize(
    ("config", "details"),
    [
        (
            {
                "model_type": "bart",
                "is_encoder_decoder": True,
                "encoder_layers": 2,
                "decoder_layers": 3,
                "encoder_attention_heads": 3,
                "decoder_attention_heads": 4,
            },
            " · bart · 2+3 layers · 3+4 heads",
        ),
        ({"model_type": "gpt2", "n_layer": 1, "n_head": 1}, " · gpt2 · 1 layer · 1 head"),
        ({"n_layer": "12", "num_attention_heads": 2.5}, ""),
    ],
)
def test_of_a_directory_family_and_sizes_are_said_as_far_as_its_config_has_them(config, details):
    model = directory_model("mine", "stamp", Path("none"), config, 1000, ids=False)
    assert describe(model, "en") == f"mine{details}"
    assert purpose(model, "en") == ""


def test_what_a_model_does_is_said_by_name_task_or_kind():
    assert purpose(shipped("reverse"), "en") == "This model writes symbols in reverse order."
    assert purpose(shipped("mine", "12", task="sort"), "en") == "This model sorts its symbols."
    assert purpose(shipped("mine"), "en").startswith("mine translates sentences")


def test_the_source_of_a_score_names_its_sentences_and_whose_they_are():
    translator = summary(bleu=51.234, test_sources=77, credit="by somebody")
    source = source_of_scores(translator, "en")
    assert source.startswith("BLEU 51.2: translations of 77 sentences held out of training")
    assert source.endswith(" by somebody")
    assert "77" in source_of_scores(translator, "zh")
    assert source_of_scores(summary(), "en") == ""


def test_an_empty_box_says_what_may_be_typed():
    assert source_hint(shipped("x", "12"), "en").endswith("then Enter: 1 2")
    assert source_hint(shipped("x"), "en") == "Type a sentence, then Enter"


def test_a_cost_says_whether_its_time_was_measured_and_how_often_pairs_are_seen():
    measured = Estimate(243_000, 500.0, 30.0, measured=True)
    text = estimate_text(measured, "cpu", "en")
    assert text.startswith("0.2 M parameters")
    assert text.endswith("about 30 s on this CPU")
    rough = Estimate(243_000, 500.0, 30.0, measured=False, epochs=53.3)
    assert "about 30 s on an idle CPU" in estimate_text(rough, "cpu", "en")
    assert "about 30 s on an idle GPU" in estimate_text(rough, "cuda", "en")
    assert "sees each pair about 53 times" in estimate_text(rough, "cuda", "en")
    assert "在空闲的 CPU 上约 30 秒" in estimate_text(rough, "cpu", "zh")
    for found in (measured, rough):  # a busy machine took 7 times as long: it is no bound
        assert "most" not in estimate_text(found, "cpu", "en")
        assert "最多" not in estimate_text(found, "cpu", "zh")


def test_counts_and_times_as_text():
    assert [short_count(count) for count in (940_000, 243_000, 3_200)] == ["0.9 M", "0.2 M", "3 k"]
    times = [short_time(seconds, "en") for seconds in (0.2, 8, 61, 300, 9000, float("inf"))]
    assert times == ["1 s", "8 s", "60 s", "5 min", "2.5 h", "?"]


def test_batches_are_named_in_the_language_of_the_page():
    for stored, chinese in (
        (
            "reverse, held out, 1 to 16 symbols, seed 0",
            "reverse，未训练过的序列，1 到 16 个符号，种子 0",
        ),
        ("a, b.tsv, dev part", "a, b.tsv，开发部分"),
        ("gpt2, examples (7)", "gpt2，示例 (7)"),
        ("a.tsv, dev part, 3 repeated left out", "a.tsv，开发部分，重复的 3 个不计"),
        ("my held out.txt", "my held out.txt"),
    ):
        assert batch_name(stored, "en") == stored
        assert batch_name(stored, "zh") == chinese
    assert batch_name("your lines", "en") == "typed lines"  # maybe another's
    assert batch_name("your pairs (7)", "zh") == "上传的句对 (7)"


TATOEBA = "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, CC BY 2.0 FR; authors"


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "Sentences: Tatoeba, CC BY 2.0 FR"), ("zh", "例句来源：Tatoeba，CC BY 2.0 FR")],
)
def test_corpus_and_licence_are_named_in_the_language_of_the_page(language, shown):
    assert short_credit(TATOEBA, language) == shown
    own = {model.summary.credit for model in shipped_models().values() if model.summary.credit}
    assert {short_credit(credit, language) for credit in own} == {shown}


def test_another_credit_is_shown_as_it_is():
    assert short_credit("Drawn by hand", "zh") == "Drawn by hand"
    assert short_credit("", "en") == ""
