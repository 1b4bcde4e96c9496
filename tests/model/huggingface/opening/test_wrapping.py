"""A model in memory is traced as the same model is once it is saved and opened, and stays as it
was."""

import copy
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.opening.wrapping import wrapped
from explorer.public.studied_model import load, wrap
from tests.support import model_directories
from tests.support.huggingface_families import FAMILIES, TESTED, tiny_model

TEXTS = {
    "marian": "The cat sat here.",
    "gpt2": "The cat sat",
    "bert": "The [MASK] sat here.",
}


def refused(key, *given, contains=""):
    with pytest.raises(ModelDirectoryError) as caught:
        wrap(*given)
    assert caught.value.key == key
    assert contains in str(caught.value)
    assert contains in caught.value.in_language("zh")


def equal_traces(first, second):
    """To the bit, with what was measured and in every fact."""
    assert first.arrays.keys() == second.arrays.keys()
    for name, array in second.arrays.items():
        np.testing.assert_array_equal(first.arrays[name], array, err_msg=name)
    assert first.candidate_tokens == second.candidate_tokens
    assert (first.text, first.measured, first.facts) == (
        second.text,
        second.measured,
        second.facts,
    )
    assert first.digest == second.digest


def in_memory(opened):
    """The same with its weights at the beginning of a block of memory each. In the file, where they
    are else, they begin anywhere, by which sums of a few rows are rounded otherwise."""
    for weight in opened.model.parameters():
        weight.data = weight.data.clone(memory_format=torch.preserve_format)
    return opened


@pytest.fixture(scope="module", params=TEXTS)
def tuned(request, tmp_path_factory):
    """A model after a step of training, in training mode, its tokenizer, and where it is saved."""
    folder = getattr(model_directories, request.param)(tmp_path_factory.mktemp("own") / "given")
    kind = {"marian": "AutoModelForSeq2SeqLM", "gpt2": "AutoModelForCausalLM"}
    automatic = getattr(transformers, kind.get(request.param, "AutoModelForMaskedLM"))
    model = automatic.from_pretrained(folder, attn_implementation="sdpa").train()
    with warnings.catch_warnings():  # of a package that Marian's recommends
        warnings.simplefilter("ignore")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXTS[request.param], return_tensors="pt").input_ids
    model(input_ids=ids, labels=ids).loss.backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    saved = tmp_path_factory.mktemp("saved") / "tuned"
    model.save_pretrained(saved)
    tokenizer.save_pretrained(saved)
    return request.param, model, tokenizer, saved


@pytest.mark.parametrize("capture", ["pattern", "full"])
def test_traces_equal_those_of_the_saved_model_to_the_bit(tuned, capture):
    family, model, tokenizer, saved = tuned
    own, opened = wrap(model, tokenizer, "tuned"), in_memory(load(saved))
    assert own.digest == opened.digest
    equal_traces(
        own.trace(TEXTS[family], capture=capture), opened.trace(TEXTS[family], capture=capture)
    )
    assert (own.trace(TEXTS[family]).integrity().ok).all()


def test_the_given_model_is_not_touched(tuned):
    family, model, tokenizer, _ = tuned
    ids = tokenizer(TEXTS[family], return_tensors="pt").input_ids

    def state():
        weights = {name: (one.clone(), one.stride()) for name, one in model.state_dict().items()}
        modes = [module.training for module in model.modules()]
        modes += [weight.requires_grad for weight in model.parameters()]
        grads = [weight.grad is not None for weight in model.parameters()]
        model.eval()
        with torch.no_grad():
            results = [model(input_ids=ids, labels=ids).logits]
            if model.can_generate():
                results.append(model.generate(ids, max_new_tokens=8, num_beams=2, do_sample=False))
        for module, mode in zip(model.modules(), modes, strict=False):
            module.training = mode
        return weights, modes, grads, results, model.config._attn_implementation

    weights, modes, grads, results, implementation = state()
    wrap(model, tokenizer).trace(
        TEXTS[family], ablate=[("decoder" if family == "gpt2" else "encoder", 0, 0)]
    )
    after = state()
    for name, (weight, stride) in weights.items():
        assert torch.equal(weight, after[0][name][0])
        assert stride == after[0][name][1]
    assert (modes, grads, implementation) == (after[1], after[2], after[4])
    assert implementation == "sdpa"
    assert any(modes)
    for first, second in zip(results, after[3], strict=True):
        assert torch.equal(first, second)


def test_later_training_is_seen_once_it_is_wrapped_again(tuned):
    family, given, tokenizer, _ = tuned
    model = copy.deepcopy(given)
    before = wrap(model, tokenizer, "own")
    first = before.trace(TEXTS[family])
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.5)
    equal_traces(before.trace(TEXTS[family]), first)
    assert wrap(model, tokenizer, "own").digest != before.digest


@pytest.mark.parametrize("name", TESTED)
def test_without_a_tokenizer_a_model_reads_ids_as_its_directory_does(name, directory):
    model = getattr(transformers, FAMILIES[name].model).from_pretrained(directory(name))
    own, opened = wrapped(model, name="own"), in_memory(open_directory(directory(name), "own"))
    assert own.notes == ()
    equal_traces(own.trace("5 9 7 4"), replace(opened, notes=()).trace("5 9 7 4"))


def test_half_precision_and_wrappers_of_torch(directory):
    model = transformers.AutoModelForCausalLM.from_pretrained(
        directory("llama"), dtype=torch.bfloat16
    )
    opened = open_directory(directory("llama"), "own", dtype="bfloat16")
    held = torch.nn.DataParallel(torch.compile(model, backend="eager"))
    for given in (model, held):
        trace = wrapped(given, name="own").trace("5 9 7")
        assert trace.facts["precision"] == "half"
        np.testing.assert_array_equal(
            trace.attention("decoder"), opened.trace("5 9 7").attention("decoder")
        )


def test_its_name_is_that_under_which_it_was_loaded_or_its_class(directory):
    folder = directory("bert")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    assert wrapped(model).name == folder.name
    assert wrapped(tiny_model("bert")).name == "BertForMaskedLM"


def test_it_has_the_methods_of_a_model_that_was_loaded(tuned):
    family, model, tokenizer, saved = tuned
    if family == "gpt2":
        texts = ["The cat sat", "You see a dog"]
        own, opened = wrap(model, tokenizer).measure(texts), load(saved).measure(texts)
        np.testing.assert_array_equal(own.heads.entropy, opened.heads.entropy)


def test_an_adapter_counts_as_the_weights_it_changes(directory):
    warnings.simplefilter("ignore", FutureWarning)  # of the library, in names that peft calls
    peft = pytest.importorskip("peft")
    model = tiny_model("llama")
    model.set_attn_implementation("eager")
    layers = ["q_proj", "v_proj", "o_proj"]
    settings = peft.LoraConfig(r=4, target_modules=layers, init_lora_weights=False)
    adapted = peft.get_peft_model(model, settings)
    before = {key: weight.clone() for key, weight in adapted.state_dict().items()}
    own = wrapped(adapted)
    trace = own.trace("5 9 7 4")
    assert adapted.training
    assert all(torch.equal(weight, before[key]) for key, weight in adapted.state_dict().items())
    with adapted.disable_adapter():
        plain = wrapped(adapted).trace("5 9 7 4")
    bare = wrapped(tiny_model("llama")).trace("5 9 7 4")
    np.testing.assert_array_equal(plain.attention("decoder"), bare.attention("decoder"))
    given = adapted.eval()(torch.tensor([[5, 9, 7, 4]]), output_attentions=True)
    for layer, weights in enumerate(given.attentions):
        found = trace.attention("decoder")[layer, :, :4, :4]
        np.testing.assert_allclose(found, weights[0].detach(), atol=1e-6)
        assert np.abs(found - plain.attention("decoder")[layer, :, :4, :4]).max() > 1e-3
    merged = wrapped(copy.deepcopy(adapted).merge_and_unload())
    np.testing.assert_array_equal(
        merged.trace("5 9 7 4").attention("decoder"), trace.attention("decoder")
    )
    for first, second in zip(
        own.output_weights()["decoder"], merged.output_weights()["decoder"], strict=True
    ):
        assert torch.equal(first, second)
    prompts = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
    refused("wrap_prompt", peft.get_peft_model(tiny_model("llama"), prompts), contains="PROMPT_TUN")


def test_what_is_no_model_of_the_library_is_told_what_to_use(directory):
    folder = directory("bert")
    refused("wrap_path", "gpt2", contains="explorer.load")
    refused("wrap_path", Path(folder), contains="explorer.load")
    refused("wrap_module", torch.nn.Linear(8, 2), contains="explorer.capture")
    refused("wrap_other", {"weights": 1}, contains="dict")
    held = torch.nn.Sequential(torch.nn.ModuleDict({"encoder": tiny_model("bert")}))
    refused("wrap_inside", held, contains='get_submodule("0.encoder")')
    refused("wrap_wrapped", open_directory(folder), contains="trace(")
    refused("wrap_dtype", tiny_model("bert").double(), contains="float64")
    refused("wrap_tokenizer", tiny_model("bert"), "bert", contains="str")
    with torch.device("meta"):
        empty = transformers.BertForMaskedLM(tiny_model("bert").config)
    refused("wrap_on_disk", empty, contains="copy=False")


def test_a_pipeline_is_told_to_give_its_parts(tmp_path):
    folder = model_directories.bert(tmp_path / "bert")
    pipe = transformers.pipeline("fill-mask", model=str(folder))
    refused("wrap_pipeline", pipe, contains="pipe.model, pipe.tokenizer")
    assert wrap(pipe.model, pipe.tokenizer).trace("The [MASK] sat.").candidate_tokens


def test_a_model_with_a_part_that_has_no_copy_is_refused(directory):
    model = tiny_model("bert")
    model.register_buffer("scaled", model.get_input_embeddings().weight * 2)
    refused("wrap_no_copy", model, contains="save_pretrained")


def test_a_tokenizer_of_another_model_is_refused(tmp_path):
    folder = model_directories.bert(tmp_path / "bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    refused("other_tokenizer", tiny_model("bert"), tokenizer)


def test_without_a_copy_the_given_model_itself_is_wrapped(directory):
    model = transformers.AutoModelForCausalLM.from_pretrained(directory("llama"))
    own = wrap(model.train(), name="own", copy=False)
    assert own.model is model
    assert not model.training
    equal_traces(own.trace("5 9 7 4"), wrap(model, name="own").trace("5 9 7 4"))
    given = model(torch.tensor([[5, 9, 7, 4]]), output_attentions=True).attentions
    found = own.trace("5 9 7 4").attention("decoder")[:, :, :4, :4]
    np.testing.assert_allclose(found, torch.cat(given).detach(), atol=1e-6)
