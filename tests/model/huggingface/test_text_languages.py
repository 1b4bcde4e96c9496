from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.text_languages import languages_of
from explorer.model.huggingface.tokens import Tokens
from tests.support import multilingual_directories as made
from tests.support.model_directories import marian

TEXT = "the cat sees a dog"
LARGE = 10_000  # embeddings, more than any of these tokenizers has entries


def tokenizer_of(kind, folder):
    match kind:
        case "m2m100":
            return made.m2m100_tokenizer(folder / "m2m100")
        case "nllb":
            return made.nllb_tokenizer()
        case "plbart":
            return made.plbart_tokenizer(folder)
    return made.mbart_tokenizer(folder, many=kind == "mbart50")


@pytest.mark.parametrize(
    ("kind", "own", "code", "count"),
    [
        ("m2m100", "en", "fr", 100),
        ("nllb", "eng_Latn", "fra_Latn", 202),
        ("mbart50", "en_XX", "fr_XX", 52),
        ("mbart", "en_XX", "fr_XX", 25),
        ("plbart", None, "java", 3),
    ],
)
def test_a_text_is_read_in_the_name_of_a_language_as_by_the_library(
    kind, own, code, count, tmp_path
):
    tokenizer = tokenizer_of(kind, tmp_path)
    tokens = Tokens(tokenizer, LARGE)
    assert len(tokens.languages) == count
    assert tokens.source_language == own
    before = tokens.read(TEXT)
    read = Tokens(tokenizer, LARGE, code).read(TEXT)
    tokenizer.src_lang = code
    assert list(read.ids) == tokenizer(TEXT)["input_ids"]
    assert tokens.languages[code] in read.ids
    assert tokens.languages[code] not in before.ids
    assert any(code in label for label in read.labels)


def test_languages_without_an_embedding_and_tokenizers_without_languages_have_none(tmp_path):
    tokenizer = made.nllb_tokenizer()
    last = max(languages_of(tokenizer, LARGE).values())
    assert len(languages_of(tokenizer, last)) == 201
    assert not open_directory(marian(tmp_path / "marian")).tokens.languages
    assert not Tokens(None, 9).languages


@pytest.mark.parametrize("kind", ["m2m100", "nllb"])
def test_threads_that_read_in_several_languages_do_not_mix_them(kind, tmp_path):
    tokenizer = tokenizer_of(kind, tmp_path)
    shared = Tokens(tokenizer, LARGE)
    codes = list(shared.languages)[:20]
    readers = [shared, *(shared.in_language(code) for code in codes)]
    alone = [reader.read(TEXT).ids for reader in readers]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda reader: reader.read(TEXT).ids, readers * 20))
    assert together == alone * 20
    assert len(set(alone)) == len(codes) + (shared.source_language not in codes)
    assert tokenizer.tgt_lang is None
    assert shared.read(TEXT).ids == alone[0]


@pytest.mark.parametrize(
    ("make", "source", "target"),
    [
        (made.m2m100, "fr", "de"),
        (made.nllb, "fra_Latn", "zho_Hans"),
        (made.mbart, "fr_XX", "de_DE"),
    ],
)
def test_a_translation_into_a_language_equals_that_of_the_library(make, source, target, tmp_path):
    model = open_directory(make(tmp_path / "model"))
    trace = model.trace(TEXT, source_language=source, target_language=target, max_new_tokens=12)
    tokenizer = model.tokens.tokenizer
    tokenizer.src_lang = source
    told = tokenizer.convert_tokens_to_ids(
        tokenizer.convert_ids_to_tokens(model.tokens.languages[target])
    )
    with torch.inference_mode():
        out = model.model.generate(
            **tokenizer(TEXT, return_tensors="pt"),
            forced_bos_token_id=told,
            num_beams=1,
            max_length=20,
        )
    ids = out[0, 1:-1].tolist()  # without an end that the library forces at the longest output
    assert trace.steps().query("chosen").id.tolist() == ids[: len(trace.predicted_tokens)]
    assert trace.facts["source_language"] == source
    assert trace.facts["target_language"] == target
    assert (trace.integrity().error <= trace.integrity().limit).all()
    plain = model.trace(TEXT, max_new_tokens=1)
    assert plain.facts["target_language"] is None


def test_an_output_that_begins_with_a_language_begins_with_the_chosen_one(tmp_path):
    """An mBART for two languages: the library's call is decoder_start_token_id=…"""
    model = open_directory(made.mbart(tmp_path / "model", start="ro_RO"))
    assert model.facts["target_language"] == "ro_RO"
    trace = model.trace(TEXT, target_language="de_DE", max_new_tokens=6)
    with torch.inference_mode():
        out = model.model.generate(
            **model.tokens.tokenizer(TEXT, return_tensors="pt"),
            decoder_start_token_id=model.tokens.languages["de_DE"],
            num_beams=1,
            max_length=20,
        )
    assert trace.target_tokens[0] == "de_DE"
    ids = out[0, 1:-1].tolist()  # without an end that the library forces at the longest output
    assert trace.steps().query("chosen").id.tolist() == ids[: len(trace.predicted_tokens)]


def test_the_token_of_a_language_is_read_as_a_prefix_where_the_tokenizer_names_none(tmp_path):
    model = open_directory(made.m2m100(tmp_path / "model"))
    trace = model.trace(TEXT, prefix="__fr__", max_new_tokens=3)
    assert trace.predicted_tokens[0] == "__fr__"
    both = model.trace(TEXT, target_language="fr", prefix="the cat", max_new_tokens=4)
    assert both.predicted_tokens[:3] == ("__fr__", "▁the", "▁cat")


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (made.m2m100, "French", "such as fr."),
        (made.m2m100, "xx", "such as af, am, ar, ast, az."),
        (made.m2m100, "", "such as af"),
        (made.m2m100, 7, "“7”"),
        (made.nllb, "fr", "such as fra_Latn."),
        (marian, "fr", "leave out target_language"),
    ],
)
def test_an_unknown_language_is_refused_with_those_that_may_be_meant(make, code, said, tmp_path):
    model = open_directory(make(tmp_path / "model"))
    with pytest.raises(ConfigError) as error:
        model.trace(TEXT, target_language=code)
    assert said in str(error.value)


def test_measurements_are_of_the_model_in_its_languages(tmp_path):
    model = open_directory(made.m2m100(tmp_path / "model"))
    own = model.in_languages("fr", "de")
    batch = own.passes.pairs([(TEXT, "the dog")], "pairs")
    assert batch.source.ids[0, 0] == model.tokens.languages["fr"]
    assert batch.queries.ids[0, 1] == model.tokens.languages["de"]
    assert own.passes.texts([TEXT], "texts").labels.ids[0, 0] == model.tokens.languages["de"]
    assert model.passes.texts([TEXT], "texts").source.ids[0, 0] == model.tokens.languages["en"]
