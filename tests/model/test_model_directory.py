from pathlib import Path
from typing import Any

import pytest

from explorer.components.labels import describe
from explorer.core.vocabulary import LONGEST_TEXT
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import DirectoryModel, directory_model


def member(path: Path = Path("none"), *, ids: bool = False, **config: Any) -> DirectoryModel:
    return directory_model("mine", "stamp", path, config, 1000, ids)


@pytest.mark.parametrize(
    ("config", "kind", "details"),
    [
        (
            {
                "model_type": "marian",
                "is_encoder_decoder": True,
                "encoder_layers": 6,
                "decoder_layers": 3,
                "encoder_attention_heads": 8,
                "decoder_attention_heads": 8,
            },
            TextKind.SENTENCE,
            "marian · 6+3 layers · 8 heads",
        ),
        (
            {
                "model_type": "bart",
                "is_encoder_decoder": True,
                "encoder_layers": 2,
                "decoder_layers": 3,
                "encoder_attention_heads": 3,
                "decoder_attention_heads": 4,
            },
            TextKind.SENTENCE,
            "bart · 2+3 layers · 3+4 heads",
        ),
        (
            {"model_type": "t5", "is_encoder_decoder": True, "num_layers": 6, "num_heads": 8},
            TextKind.SENTENCE,
            "t5 · 6+6 layers · 8 heads",
        ),
        (
            {
                "model_type": "gpt2",
                "architectures": ["GPT2LMHeadModel"],
                "n_layer": 12,
                "n_head": 4,
            },
            TextKind.PROMPT,
            "gpt2 · 12 layers · 4 heads",
        ),
        (
            {
                "model_type": "gemma3",
                "architectures": ["Gemma3ForCausalLM"],
                "text_config": {"num_hidden_layers": 3, "num_attention_heads": 2},
            },
            TextKind.PROMPT,
            "gemma3 · 3 layers · 2 heads",
        ),
        (
            {"model_type": "bert", "architectures": ["BertForMaskedLM"]},
            TextKind.MASKED,
            "bert",
        ),
        ({"model_type": "bert", "architectures": ["BertModel"]}, TextKind.SENTENCE, "bert"),
        (
            {"model_type": "electra", "architectures": ["ElectraForPreTraining"]},
            TextKind.SENTENCE,
            "electra",
        ),
        ({}, TextKind.SENTENCE, ""),
    ],
)
def test_kind_and_sizes_are_read_from_the_config(config, kind, details):
    model = member(**config)
    assert model.kind == kind
    assert describe(model, "en") == " · ".join(part for part in ("mine", details) if part)
    assert all(model.reads(text) for text in model.examples)
    assert not model.draws_texts


@pytest.mark.parametrize(
    ("config", "reads_pairs"),
    [
        ({"architectures": ["BertForMaskedLM"], "type_vocab_size": 2}, True),
        ({"architectures": ["RobertaForMaskedLM"], "type_vocab_size": 1}, False),
        ({"architectures": ["RobertaForSequenceClassification"], "type_vocab_size": 1}, True),
        ({"architectures": ["DistilBertForQuestionAnswering"]}, True),
        ({"architectures": ["DistilBertForTokenClassification"]}, False),
        ({"architectures": ["GPT2LMHeadModel"], "type_vocab_size": 2}, False),
        ({"architectures": ["BartForQuestionAnswering"], "is_encoder_decoder": True}, True),
        ({"architectures": ["GPT2ForSequenceClassification"]}, True),
        ({"is_encoder_decoder": True, "type_vocab_size": 2}, False),
        ({"type_vocab_size": "2"}, False),
        ({}, False),
    ],
)
def test_a_second_text_is_for_encoders_with_segments_or_built_for_pairs(config, reads_pairs):
    assert member(**config).reads_pairs == reads_pairs


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": 3, "architectures": "x", "encoder_layers": True, "is_encoder_decoder": True},
        {"architectures": [{}], "num_hidden_layers": -1, "n_layer": "12", "text_config": []},
        {"is_encoder_decoder": True, "task_specific_params": {"a": {"prefix": 3}, "b": []}},
        {"vocab_size": 10**30, "num_attention_heads": 2.5, "max_position_embeddings": None},
    ],
)
def test_odd_configs_are_listed_without_sizes(config):
    model = member(**config)
    assert describe(model, "en") == "mine"
    assert model.examples


def test_a_model_without_a_tokenizer_reads_ids_it_has():
    model = member(ids=True, vocab_size=7)
    assert model.kind == TextKind.IDS
    assert max(map(int, model.examples[0].split())) < 7
    assert model.reads("5 6")
    assert not model.reads("9" * 5000)
    assert not model.reads("a cat")


def test_a_model_that_fills_in_masks_reads_texts_with_its_mask_token(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"mask_token": "<m>"}')
    model = member(tmp_path, architectures=["XForMaskedLM"])
    assert model.mask == "<m>"
    assert all("<m>" in text for text in model.examples)
    assert model.reads("a <m> cat")
    assert not model.reads("a [MASK] cat")
    assert not model.reads("  ")
    assert model.reads("a <m>".ljust(LONGEST_TEXT, "a"))
    assert not model.reads("a <m>".ljust(LONGEST_TEXT + 1, "a"))


def test_prefixes_of_tasks_begin_the_examples():
    tasks = {"a": {"prefix": "translate English to French: "}}
    model = member(is_encoder_decoder=True, task_specific_params=tasks)
    assert model.examples[0].startswith("translate English to French: The")


def test_half_precision_takes_twice_the_file():
    assert member().weight_bytes == 1000
    assert member(torch_dtype="bfloat16").weight_bytes == 2000
