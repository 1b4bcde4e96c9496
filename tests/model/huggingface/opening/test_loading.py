"""Bad directories: one sentence each, and nothing made up."""

import json
import os
import pickle
import warnings

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load as weights_in
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import explorer
from explorer.core.errors import FileError, ModelDirectoryError, SearchError
from explorer.heads.reports.report_store import stored_reports
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.opening import loading
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.huggingface_families import saved, tiny_model

FORMAT = {"format": "pt"}


@pytest.fixture
def folder(tmp_path):
    return saved(tiny_model("bert"), tmp_path / "tiny")


def refused(path, key, *words, **options):
    with pytest.raises(ModelDirectoryError) as caught:
        open_directory(path, **options)
    assert caught.value.key == key, str(caught.value)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.in_language("zh") != str(caught.value)


def config(folder, **changes):
    file = folder / "config.json"
    described = json.loads(file.read_text("utf-8")) | changes
    kept = {name: value for name, value in described.items() if value is not None}
    file.write_text(json.dumps(kept), "utf-8")


def tokenizer(folder, entries):
    own = Tokenizer(models.WordLevel(entries, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=own, unk_token="[UNK]").save_pretrained(folder)


def test_paths_that_are_no_model(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.txt").write_text("x")
    refused(tmp_path / "none", "no_directory", "none")
    refused(tmp_path / "file", "not_a_directory", "file")
    refused(tmp_path / "empty", "no_config", "empty")
    refused(tmp_path / "other", "no_config", "other")


def test_configs_of_other_sizes_than_the_weights(folder):
    """Before anything is built, which would take minutes or all memory, or once the weights do not
    fit."""
    before = json.loads((folder / "config.json").read_text("utf-8"))
    for changes, key, word in (
        ({"num_hidden_layers": 100_000}, "size_beyond", "num_hidden_layers"),
        ({"vocab_size": 10**12}, "size_beyond", "vocab_size"),
        ({"num_labels": 10**9}, "size_beyond", "num_labels"),
        ({"num_hidden_layers": -1}, "size_below", "at least 1 is expected"),
        ({"hidden_size": 36}, "missing_weights", "in another size"),
        ({"num_hidden_layers": 4}, "missing_weights", "encoder.layer.3"),
    ):
        config(folder, **changes)
        refused(folder, key, word, "“tiny”")
        config(folder, **({"num_labels": None} | before))
    assert open_directory(folder).anatomy.layers("encoder") > 0


@pytest.mark.parametrize(
    ("family", "sizes", "name"),
    [
        ("bert", {"num_hidden_layers": 2}, "encoder.layer.2.attention"),
        ("bert", {"num_hidden_layers": 2, "architectures": ["BertModel"]}, "encoder.layer.2."),
        ("gpt2", {"n_layer": 2}, "h.2.attn.c_attn"),
        ("gpt2", {"n_layer": 1}, "h.1.attn.c_attn"),
        ("t5", {"num_decoder_layers": 2}, "decoder.block.2.layer.0.SelfAttention"),
        ("bart", {"decoder_layers": 2}, "decoder.layers.2.encoder_attn"),
    ],
)
def test_fewer_layers_than_the_files_have_are_refused(family, sizes, name, tmp_path):
    """Half a model would be shown."""
    folder = saved(tiny_model(family), tmp_path / "tiny")
    config(folder, **sizes)
    refused(folder, "undescribed_layers", "“tiny”", name)


@pytest.mark.parametrize(
    ("family", "more"),
    [
        ("bert", {"bert.pooler.dense.weight": (24, 24), "bert.pooler.dense.bias": (24,)}),
        ("bert", {"bert.more": (2,)}),
        ("roberta", {"roberta.pooler.dense.weight": (24, 24), "qa_outputs.bias": (2,)}),
        (
            "gpt2",
            {"transformer.h.1.attn.masked_bias": (), "transformer.h.0.attn.causal_mask": (1, 1)},
        ),
        ("gpt2", {"lm_head.bias": (67,)}),
        ("llama", {"model.layers.0.self_attn.rotary_emb.more": (5,)}),
        ("llama", {"model.layers.0.self_attn.bias": (1, 1, 4, 4)}),  # a causal mask
    ],
)
def test_weights_that_attention_does_not_depend_on_are_a_note(family, more, tmp_path):
    folder = saved(tiny_model(family), tmp_path / "tiny")
    plain = open_directory(folder).trace("5 6 7")
    weights = weights_in((folder / "model.safetensors").read_bytes())
    weights |= {name: torch.ones(size) for name, size in more.items()}
    save_file(weights, folder / "model.safetensors", FORMAT)
    model = open_directory(folder)
    (note,) = (one for one in model.notes if one.key == "unused_weights")
    assert note.facts["count"] == len(more)
    assert all(name in str(note) and name in note.in_language("zh") for name in more)
    assert str(note) in model.facts["notes"]
    site = plain.sites[0]
    assert (model.trace("5 6 7").attention(site) == plain.attention(site)).all()


@pytest.mark.parametrize(
    ("family", "under", "name"),
    [
        ("qwen2", "llama", "model.layers.0.self_attn.k_proj.bias"),
        ("qwen3", "llama", "model.layers.0.self_attn.k_norm.weight"),
    ],
)
def test_weights_inside_the_layers_without_a_place_are_refused(family, under, name, tmp_path):
    """The class that the config names computes other attention from the same files."""
    made = tiny_model(family)
    folder = saved(made, tmp_path / "tiny")
    head = f"{under.title()}ForCausalLM"
    config(folder, model_type=under, architectures=[head])
    built = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager")
    made.set_attn_implementation("eager")
    given = {"input_ids": torch.tensor([[5, 17, 8]]), "output_attentions": True}
    with torch.inference_mode():
        first, second = (model(**given).attentions[0] for model in (made, built))
    assert float((first - second).abs().max()) > 0.01
    refused(folder, "unplaced_weights", name, head)


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod."])
@pytest.mark.parametrize("file", ["model.safetensors", "pytorch_model.bin"])
def test_the_prefix_of_a_wrapper_is_left_out(file, prefix, folder):
    plain = open_directory(folder).trace("5 6 7")
    weights = weights_in((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    held = {prefix + name: weight for name, weight in weights.items()}
    if file == "model.safetensors":
        save_file(held, folder / file, FORMAT)
    else:
        torch.save(held, folder / file)
    trace = open_directory(folder).trace("5 6 7")
    assert (trace.attention("encoder") == plain.attention("encoder")).all()


def test_a_head_that_the_files_never_had_is_left_out_with_a_note(tmp_path):
    """As encoders of sentences are, whose config names the class of masks."""
    body = transformers.RobertaModel(tiny_model("roberta").config, add_pooling_layer=False)
    folder = saved(body, tmp_path / "encoder")
    config(folder, architectures=["RobertaForMaskedLM"])
    model = open_directory(folder)
    assert model.facts["class"] == "RobertaModel"
    note = model.notes[0]
    assert note.key == "no_head_weights"
    assert "RobertaModel" in str(note)
    body.set_attn_implementation("eager")
    own = body.eval()(torch.tensor([[5, 6, 7]]), output_attentions=True).attentions
    np.testing.assert_allclose(
        model.trace("5 6 7").attention("encoder"), torch.cat(own).detach(), atol=1e-6
    )


def test_weights_of_further_heads_are_left_out_and_what_was_computed_with_them_is_not_mixed(
    tmp_path,
):
    """bert-base has the heads of its pre-training, and its config names the one for masks. Earlier
    versions opened it with all heads, so its digest was another one."""
    whole = transformers.BertForPreTraining(tiny_model("bert").config)
    folder = saved(whole, tmp_path / "bert")
    config(folder, architectures=["BertForMaskedLM"])
    model = explorer.load(folder)
    assert model.facts["class"] == "BertForMaskedLM"
    assert model.notes[0].key == "unused_weights"
    assert "cls.seq_relationship.weight" in str(model.notes[0])
    earlier = explorer.wrap(whole)
    assert earlier.digest != model.digest
    earlier.index(["5 6 7"], tmp_path / "some.index")
    with pytest.raises(SearchError) as caught:
        model.index(["5 6 7"], tmp_path / "some.index")
    assert caught.value.key == "other_index"
    assert stored_reports(model.digest) == []


def test_quantised_weights_are_refused_with_the_reason_of_the_library(folder):
    config(folder, quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 128})
    refused(folder, "quantised", "“tiny”", "not quantised")


@pytest.mark.parametrize("rest", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_fp8_opens_without_a_gpu_as_the_numbers_that_it_stands_for(rest, dtype, tmp_path):
    """Each weight is a whole multiple of its scale, so that nothing is lost."""
    sizes = {"hidden_size": 128, "intermediate_size": 128, "num_attention_heads": 2}
    model = tiny_model("llama", **sizes, num_key_value_heads=2, head_dim=64)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("proj.weight"):
                weight.copy_((weight * 256).round().clamp(-8, 8) / 256)
            weight.copy_(weight.bfloat16())
    folder = saved(model, tmp_path / "fp8")
    plain = open_directory(folder, dtype=dtype).trace("5 6 7", max_new_tokens=2)
    packed = {}
    for name, weight in weights_in((folder / "model.safetensors").read_bytes()).items():
        if name.endswith("proj.weight"):
            packed[name] = (weight * 256).to(torch.float8_e4m3fn)
            packed[f"{name}_scale_inv"] = torch.full((1, 1), 1 / 256)
        else:
            packed[name] = weight.to(rest)
    save_file(packed, folder / "model.safetensors", FORMAT)
    settings = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3"}
    config(folder, quantization_config=settings | {"weight_block_size": [128, 128]})
    trace = open_directory(folder, dtype=dtype).trace("5 6 7", max_new_tokens=2)
    assert trace.text == plain.text
    assert (trace.attention("decoder") == plain.attention("decoder")).all()


def test_sizes_in_the_words_of_code_that_is_never_run(folder):
    """The library reads its own defaults, which are not those of the weights."""
    described = json.loads((folder / "config.json").read_text("utf-8"))
    described["n_embd"] = described.pop("hidden_size")
    described["auto_map"] = {"AutoConfig": "own.Config"}
    (folder / "config.json").write_text(json.dumps(described), "utf-8")
    refused(folder, "own_code", "bert", "never run")


def test_weights_that_are_no_numbers(folder):
    weights = weights_in((folder / "model.safetensors").read_bytes())
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    save_file(weights | {name: weights[name] * float("nan")}, folder / "model.safetensors", FORMAT)
    refused(folder, "not_finite", "bert")


@pytest.mark.parametrize("data", [b"", b"\x10" + bytes(40), b"{"])
def test_damaged_weights_are_refused_with_the_reason_of_the_library(data, folder):
    (folder / "model.safetensors").write_bytes(data)
    refused(folder, "library_refuses", transformers.__version__, "download its files again")


def test_configs_that_name_no_model(folder):
    refused(folder, "bad_dtype", "int8", dtype="int8")
    config(folder, model_type="no-such-family")
    refused(folder, "library_refuses", "no-such-family")
    config(folder, auto_map={"AutoConfig": "evil.Config"})
    (folder / "evil.py").write_text("raise SystemExit")
    refused(folder, "own_code", "never run")
    (folder / "config.json").write_text("[")
    refused(folder, "damaged_config", "line 1 column 2")


def test_models_that_read_no_text_or_predict_none(tmp_path, folder):
    config(folder, architectures=["NoSuchModel"])
    refused(folder, "unknown_architecture", "NoSuchModel")
    image = transformers.ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        image_size=16,
    )
    vision = saved(transformers.ViTModel(image), tmp_path / "vision")
    refused(vision, "no_text", "vit")
    bart = tiny_model("bart", head="BartModel", tie_word_embeddings=False)
    refused(saved(bart, tmp_path / "headless"), "no_head", "BartModel")
    several = saved(tiny_model("bert", head="BertForMultipleChoice"), tmp_path / "several")
    refused(several, "several_texts", "BertForMultipleChoice")


def test_a_decoder_without_a_head_reads_a_text(tmp_path):
    model = open_directory(saved(tiny_model("llama").model, tmp_path))
    trace = model.trace("5 17 8")
    assert (trace.sites, trace.target_tokens) == (("decoder",), ("5", "17", "8"))
    assert (trace.predicted_tokens, trace.text) == ((), "")
    assert trace.steps().empty


def test_a_class_for_a_decoder_whose_tokens_look_ahead_is_an_encoder(tmp_path):
    """Without `is_decoder` in its config."""
    folder = saved(tiny_model("bert", head="BertLMHeadModel"), tmp_path)
    model = open_directory(folder)
    assert model.kind == Kind.ENCODER_ONLY
    assert model.trace("5 17 8").mask("encoder").all()


def test_a_family_without_embeddings_of_tokens_is_refused(tmp_path):
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    canine = transformers.CanineConfig(hidden_size=16, num_hash_buckets=8, **sizes)
    refused(saved(transformers.CanineModel(canine), tmp_path), "no_embeddings", "canine")


def test_weights_that_are_missing_or_of_another_size(folder):
    file = folder / "model.safetensors"
    whole = weights_in(file.read_bytes())
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file({key: value for key, value in whole.items() if key != name}, file, {"format": "pt"})
    refused(folder, "missing_weights", name)
    save_file(whole | {name: torch.ones(3, 3)}, file, {"format": "pt"})
    refused(folder, "missing_weights", name, "in another size")
    file.unlink()
    refused(folder, "no_weights")


def test_pickles_are_read_but_their_code_never_runs(folder, tmp_path):
    whole = weights_in((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    torch.save(whole, folder / "pytorch_model.bin")
    assert open_directory(folder).facts["family"] == "bert"
    trap = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (open, (str(trap), "w"))

    with (folder / "pytorch_model.bin").open("wb") as stream:
        pickle.dump({"weight": Evil()}, stream)
    refused(folder, "code_in_weights", "nothing of it was run")
    assert not trap.exists()


def test_weights_larger_than_the_memory_are_refused_before_they_are_read(folder, monkeypatch):
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(2**35)
    config(folder, dtype="float16")
    monkeypatch.setattr(loading, "free_memory", lambda: 10 * 2**30)
    refused(folder, "too_large", "64.0 GB", "10.0 GB")
    refused(folder, "too_large", "32.0 GB", dtype="bfloat16")


@pytest.mark.parametrize("family", ["bart", "t5", "gpt2", "m2m_100", "mbart"])
def test_a_class_without_a_head_opens_with_a_tied_one(family, tmp_path):
    """The body of a model was saved, as in the directory of bart-base."""
    whole = tiny_model(family, tie_word_embeddings=True)
    body = saved(whole if whole.base_model is whole else whole.base_model, tmp_path / "body")
    plain = transformers.MODEL_MAPPING[type(whole.config)].__name__
    if whole.base_model is whole:  # T5 has no body of its own
        weights = weights_in((body / "model.safetensors").read_bytes())
        weights = {name: one for name, one in weights.items() if "lm_head" not in name}
        save_file(weights, body / "model.safetensors", FORMAT)
    config(body, architectures=[plain])
    model = open_directory(body)
    assert model.facts["class"] == type(whole).__name__
    assert [note.key for note in model.notes] in (["empty_tokenizer"], ["no_tokenizer"])
    own = open_directory(saved(whole, tmp_path / "whole"))
    traces = [one.trace("5 6 7", max_new_tokens=3) for one in (model, own)]
    assert traces[0].text == traces[1].text
    assert (traces[0].attention("decoder") == traces[1].attention("decoder")).all()


@pytest.mark.parametrize("pooler", [True, False])
def test_where_the_guessed_head_is_missing_the_plain_model_opens(pooler, tmp_path):
    """A config without `architectures`, as that of deberta-v3-small."""
    body = transformers.BertModel(tiny_model("bert").config, add_pooling_layer=pooler)
    folder = saved(body, tmp_path / "plain")
    config(folder, architectures=None)
    model = open_directory(folder)
    assert model.facts["class"] == "BertModel"
    assert [note.key for note in model.notes] == ["no_head_weights", "empty_tokenizer"]
    given = torch.tensor([[5, 6, 7]])
    body.set_attn_implementation("eager")
    own = body.eval()(given, output_attentions=True).attentions
    np.testing.assert_allclose(
        model.trace("5 6 7").attention("encoder"), torch.cat(own).detach(), atol=1e-6
    )
    config(folder, num_hidden_layers=4)
    refused(folder, "missing_weights", "encoder.layer.3", "plain")


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_a_config_without_a_family_is_told_by_the_names_of_the_weights(family, prefix, tmp_path):
    """As configs before 2020 are; those of RoBERTa begin with its head, which names no family."""
    folder = saved(tiny_model(family), tmp_path / "old")
    plain = open_directory(folder).trace("5 6 7")
    config(folder, model_type=None)
    weights = weights_in((folder / "model.safetensors").read_bytes())
    weights = {prefix + name: weight for name, weight in weights.items()}
    save_file(weights, folder / "model.safetensors", FORMAT)
    model = open_directory(folder)
    assert model.facts["family"] == family
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    for trace in (model.trace("5 6 7"), open_directory(folder).trace("5 6 7")):
        assert (trace.attention("encoder") == plain.attention("encoder")).all()
    save_file({"weights": torch.ones(1)}, folder / "model.safetensors", FORMAT)
    refused(folder, "library_refuses", "model_type")


def test_refusals_and_notes_name_the_model_as_people_know_it(folder):
    snapshot = folder.parent / "models--an-owner--a-model" / "snapshots" / "4f3a"
    snapshot.parent.mkdir(parents=True)
    folder.rename(snapshot)
    assert "“an-owner/a-model”" in str(open_directory(snapshot).notes[0])
    assert open_directory(snapshot).name == "an-owner/a-model"
    config(snapshot, architectures=["NoSuchModel"])
    refused(snapshot, "unknown_architecture", "“an-owner/a-model”", "NoSuchModel")
    (snapshot / "model.safetensors").unlink()
    refused(snapshot, "no_weights", "“an-owner/a-model”")
    with pytest.raises(ModelDirectoryError, match="“mine”") as caught:
        open_directory(snapshot, "mine")
    assert "“mine”" in caught.value.in_language("zh")


def test_tokenizers_that_are_missing_empty_or_of_another_model(folder):
    assert [note.key for note in open_directory(folder).notes] == ["empty_tokenizer"]
    tokenizer(folder, {"[UNK]": 0})
    model = open_directory(folder)
    assert [note.key for note in model.notes] == ["empty_tokenizer"]
    trace = model.trace("5 6")
    assert trace.source_tokens == ("5", "6")
    assert "ids" in trace.facts["notes"][0]
    tokenizer(folder, {f"w{number}": number for number in range(90)} | {"[UNK]": 90})
    refused(folder, "other_tokenizer", "91", "67")
    tokenizer(folder, {f"w{number}": number for number in range(60)} | {"[UNK]": 60})
    assert open_directory(folder).trace("w1 w2").source_tokens == ("w1", "w2")


def test_positions_count_from_behind_the_padding(tmp_path):
    model = open_directory(saved(tiny_model("roberta", pad_token_id=1), tmp_path))
    assert model.positions == 38
    assert model.trace(" ".join(["5"] * 38)).integrity().ok.all()


def test_half_precision_is_used_when_chosen(folder):
    assert open_directory(folder).model.dtype == torch.float32
    half = open_directory(folder, dtype="bfloat16")
    trace = half.trace("5 6 7")
    assert trace.facts["precision"] == "half"
    assert trace.integrity().ok.all(), trace.integrity()


def test_what_a_tokenizer_recommends_does_not_keep_it_from_being_used(folder, monkeypatch):
    tokenizer(folder, {"[UNK]": 0, "cat": 1, "dog": 2})
    own = transformers.AutoTokenizer.from_pretrained

    def recommend(*given, **options):
        warnings.warn("Recommended: pip install more.", stacklevel=2)
        return own(*given, **options)

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", recommend)
    assert open_directory(folder).tokens.tokenizer is not None


def test_a_tokenizer_that_cannot_be_read_is_a_note_with_the_reason(folder):
    tokenizer(folder, {"[UNK]": 0, "cat": 1, "dog": 2})
    (folder / "tokenizer.json").write_text("{", "utf-8")
    model = open_directory(folder)
    (note,) = model.notes
    assert note.key == "no_tokenizer"
    assert "line 1" in str(note)
    assert model.trace("5 6").source_tokens == ("5", "6")


def test_a_tokenizer_that_needs_a_package_names_it(folder, monkeypatch):
    def lacking(*given, **options):
        raise ImportError("You need to install fugashi to use it.")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lacking)
    (note,) = open_directory(folder).notes
    assert "(You need to install fugashi to use it.)" in str(note)
    assert "（“You need to install fugashi to use it.”）" in note.in_language("zh")


def test_a_pipe_as_weights_keeps_nobody_waiting(folder):
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    with pytest.raises(FileError, match=r"model\.safetensors.* is not a file"):
        open_directory(folder)


@pytest.mark.parametrize(
    "entries",
    [
        {"architectures": 3},
        {"architectures": True},
        {"model_type": [], "auto_map": {}},
        {"model_type": {"a": 1}, "auto_map": {}},
    ],
)
def test_entries_of_a_config_of_another_type_are_refused(folder, entries):
    described = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(described | entries), "utf-8")
    refused(folder, "damaged_config", f"{next(iter(entries))} is no ")


@pytest.mark.parametrize("dtype", [3, {"a": 1}, True])
def test_a_malformed_dtype_in_a_config_is_passed_over(folder, dtype):
    described = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(described | {"dtype": dtype}), "utf-8")
    assert next(open_directory(folder).model.parameters()).dtype == torch.float32
