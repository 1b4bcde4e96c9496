"""Weights of tutorials' classes give the logits of those classes, computed independently."""

import pickle
import re

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.core.errors import (
    CheckpointError,
    ConfigError,
    ExplorerError,
    FileError,
    VocabularyError,
)
from explorer.model.foreign_layouts import LAYOUTS
from explorer.public.studied_model import import_state_dict, load
from tests.support.tutorial_transformers import Annotated, Dived, WithFc

CLASSES = {"annotated": Annotated, "w_q": WithFc, "d2l": Dived}
SPECIALS = {"annotated": (2, 0, 1), "w_q": (0, 1, 2), "d2l": (0, 4, 3)}
SOURCE, TARGET, WIDTH, HEADS, HIDDEN = 11, 13, 24, 4, 20


def tutorial(layout):
    torch.manual_seed(7)
    model = CLASSES[layout](SOURCE, TARGET, WIDTH, HEADS, HIDDEN).eval()
    for name, weight in model.named_parameters():  # norms that do something
        if weight.dim() == 1:
            nn.init.normal_(weight, mean=float(name.endswith(("a_2", "weight"))), std=0.2)
    return model


def imported(path, layout, **options):
    return import_state_dict(
        path, layout, **({"heads": HEADS, "specials": SPECIALS[layout]} | options)
    )


def refused(path, layout, key, contains="", **options):
    with pytest.raises(ExplorerError) as caught:
        imported(path, layout, **options)
    assert caught.value.key == key
    assert contains in str(caught.value)
    assert contains in caught.value.in_language("zh")


@pytest.fixture(params=CLASSES)
def layout(request):
    return request.param


@pytest.fixture
def path(layout, tmp_path):
    torch.save(tutorial(layout).state_dict(), tmp_path / "theirs.pt")
    return tmp_path / "theirs.pt"


def moved(ids, size, specials):
    """Their ids as ours: padding, start and end first."""
    order = [*specials, *(one for one in range(size) if one not in specials)]
    return torch.tensor([[order.index(one) for one in row] for row in ids.tolist()]), order


@torch.no_grad()
def test_logits_are_those_of_their_code(layout, path):
    theirs, ours = tutorial(layout), imported(path, layout).transformer.eval()
    pad, start, end = SPECIALS[layout]
    theirs.pad = pad
    source = torch.tensor([[5, 6, 7, 8, 9, end], [10, 5, 9, end, pad, pad]])
    target = torch.tensor([[start, 6, 8, 12, 11], [start, 7, 5, 10, 9]])
    own_source, _ = moved(source, SOURCE, SPECIALS[layout])
    own_target, order = moved(target, TARGET, SPECIALS[layout])
    expected = theirs(source, target)[..., order]
    found = ours(own_source, own_target)
    assert expected.std() > 0.3
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_trace_decodes_as_their_code_does(layout, path):
    theirs, model = tutorial(layout), imported(path, layout, max_length=16)
    theirs.pad, start, end = SPECIALS[layout]
    pad = theirs.pad
    trace = model.trace(f"{start} 5 6 7", max_new_tokens=6)  # their sources begin with the start
    source, tokens = torch.tensor([[start, 5, 6, 7, end]]), [start]
    for _ in range(6):
        scores = theirs(source, torch.tensor([tokens]))[0, -1]
        scores[[pad, start]] = -torch.inf  # never chosen here
        tokens.append(int(scores.argmax()))
        if tokens[-1] == end:
            break
    expected = ["<eos>" if one == end else str(one) for one in tokens[1:]]
    assert list(trace.predicted_tokens) == expected
    assert trace.source_tokens == (str(start), "5", "6", "7", "<eos>")
    assert trace.attention("cross").shape[:2] == (3, HEADS)
    assert trace.integrity().ok.all()


def test_it_is_saved_as_a_checkpoint_that_opens_again(layout, path, tmp_path):
    model = imported(path, layout, name="own")
    model.save(tmp_path / "own.safetensors")
    again = load(tmp_path / "own.safetensors")
    assert again.digest == model.digest
    assert again.transformer.config == model.transformer.config
    assert again.facts == {"imported": layout}
    assert again.trace("5 6").text == model.trace("5 6").text


@pytest.mark.parametrize("inside", [None, "state_dict", "model_state_dict", "model"])
@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod."])
def test_wrapped_weights_in_any_file_are_the_same(inside, prefix, layout, path, tmp_path):
    expected = imported(path, layout).digest
    weights = {prefix + key: one.contiguous() for key, one in tutorial(layout).state_dict().items()}
    torch.save({inside: weights, "epoch": 3} if inside else weights, tmp_path / "x.pth")
    assert imported(tmp_path / "x.pth", layout).digest == expected
    save_file(weights, tmp_path / "x.safetensors")
    assert imported(tmp_path / "x.safetensors", layout).digest == expected


def test_a_state_dict_in_memory_is_the_same_model_as_its_file(layout, path):
    theirs, from_file = tutorial(layout), imported(path, layout)
    model = imported(theirs.state_dict(), layout, name="own")
    assert model.digest == from_file.digest
    trace = model.trace("5 6 7")
    assert (trace.attention("cross") == from_file.trace("5 6 7").attention("cross")).all()
    assert trace.facts["model"] == "own"
    assert imported(theirs.state_dict(), layout).name == "state_dict"
    assert imported({"model": theirs.state_dict(), "epoch": 3}, layout).digest == model.digest
    with torch.no_grad():  # further training changes nothing
        for weight in theirs.parameters():
            weight.zero_()
    assert model.digest == from_file.digest
    assert model.trace("5 6 7").text == trace.text


def test_what_is_no_state_dict_in_memory_says_so(layout):
    weights, numbers = tutorial(layout).state_dict(), torch.ones(2, dtype=torch.int64)
    refused({}, layout, "not_state_dict", "{}")
    refused({3: torch.ones(2)}, layout, "not_state_dict", "3: Tensor")
    refused(weights | {"epoch": 3}, layout, "not_state_dict", "'epoch': int")
    refused(weights | {"steps": numbers}, layout, "not_state_dict", "'steps': torch.int64")
    refused(weights | {"extra.weight": torch.ones(3)}, layout, "import_unknown", "extra.weight")
    refused(tutorial(layout), layout, "not_state_dict", CLASSES[layout].__name__)
    refused("", layout, "empty_path")


def test_a_token_twice_in_a_vocabulary_is_named(layout, path, tmp_path):
    words = [f"w{one}" for one in range(SOURCE)]
    others = [f"v{one}" for one in range(TARGET)]
    words[9] = words[6]
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n", "utf-8")
    for given in (words, tmp_path / "words.txt"):
        options = {"vocabulary": given, "target_vocabulary": others}
        refused(path, layout, "import_repeated", "“w6”", **options)
        refused(path, layout, "import_repeated", "6, 9", **options)


def test_a_vocabulary_names_the_ids(layout, path, tmp_path):
    words = [f"w{one}" for one in range(SOURCE)]
    others = [f"v{one}" for one in range(TARGET)]
    words[SPECIALS[layout][1]] = "<bos>"  # a label that our own start has
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n", "utf-8")
    as_list = imported(path, layout, vocabulary=words, target_vocabulary=others)
    as_file = imported(path, layout, vocabulary=tmp_path / "words.txt", target_vocabulary=others)
    ids = {word: number for number, word in enumerate(words)}
    as_ids = imported(path, layout, vocabulary=ids, target_vocabulary=others)
    assert as_list.source_vocabulary == as_file.source_vocabulary == as_ids.source_vocabulary
    plain, named = imported(path, layout).trace("5 6 7"), as_list.trace("[bos] w5 w6 w7")
    assert named.source_tokens == ("[bos]", "w5", "w6", "w7", "<eos>")
    assert plain.source_tokens == ("5", "6", "7", "<eos>")
    same = as_list.trace("w5 w6 w7")
    assert same.text == " ".join(f"v{one}" for one in plain.text.split())
    with pytest.raises(VocabularyError, match="end at 10,"):
        imported(path, layout).trace("99")
    refused(path, layout, "import_tokens", "13", vocabulary=words)
    refused(path, layout, "import_tokens", "10", vocabulary=words[1:])


def test_tokens_that_are_no_symbols_are_cut_and_have_their_ids(layout, path):
    words = [f"w{one}" for one in range(SOURCE)]
    words[5:9] = ["internationalization", "<eos>", "a b", ""]
    others = [f"v{one}" for one in range(TARGET)]
    model = imported(path, layout, vocabulary=words, target_vocabulary=others)
    trace = model.trace("internat…5 <eos>…6 ab…7 …8 w9 w10")
    plain = imported(path, layout).trace("5 6 7 8 9 10")
    assert (trace.attention("encoder") == plain.attention("encoder")).all()


def test_what_the_shapes_do_not_say_must_be_given(layout, path):
    refused(path, layout, "import_needs", "heads", heads=None)
    refused(path, layout, "import_needs", "specials", specials=None)
    refused(path, layout, "not_divisible", "24", heads=5)
    refused(path, layout, "bad_size", "heads", heads="4")
    refused(path, layout, "bad_number", "norm_eps", norm_eps=0.0)
    for specials in [(0, 1), (0, 1, 1), (0, 1, SOURCE), 3, "abc"]:
        refused(path, layout, "import_specials", str(specials), specials=specials)


def test_an_unknown_layout_is_named(tmp_path):
    with pytest.raises(CheckpointError, match="choose one of annotated, w_q, d2l"):
        import_state_dict(tmp_path / "x.pt", "minGPT", heads=2, specials=(0, 1, 2))


def test_weights_of_another_class_are_named(layout, path, tmp_path):
    for other in LAYOUTS.keys() - {layout}:
        refused(path, other, "import_unknown")
    weights = tutorial(layout).state_dict()
    torch.save(weights | {"encoder.extra.weight": torch.ones(3)}, tmp_path / "more.pt")
    refused(tmp_path / "more.pt", layout, "import_unknown", "encoder.extra.weight")
    first = [key for key in weights if not re.search(r"(layers\.|block)[1-9]", key)]
    for key, weight in ((key, weights[key]) for key in first):
        if not key.endswith((".bias", "pe")):  # a linear map may have no bias
            torch.save({k: one for k, one in weights.items() if k != key}, tmp_path / "less.pt")
            with pytest.raises((CheckpointError, ConfigError)):
                imported(tmp_path / "less.pt", layout)
        if not key.endswith("pe"):
            torch.save(weights | {key: torch.ones(*weight.shape, 2)}, tmp_path / "shape.pt")
            with pytest.raises((CheckpointError, ConfigError)):
                imported(tmp_path / "shape.pt", layout)
            rows = torch.ones(len(weight) + 1, *weight.shape[1:])
            torch.save(weights | {key: rows}, tmp_path / "shape.pt")
            if LAYOUTS[layout].renamed(key) != "encoder.embedding.tokens.weight":  # a word more
                with pytest.raises((CheckpointError, ConfigError)):
                    imported(tmp_path / "shape.pt", layout)


@pytest.mark.parametrize("kind", ["annotated", "w_q"])
def test_learned_positions_are_refused(kind, tmp_path):
    weights = tutorial(kind).state_dict()
    (*_, key) = (name for name in weights if name.endswith("pe"))
    torch.save(weights | {key: weights[key] + 0.01}, tmp_path / "x.pt")
    refused(tmp_path / "x.pt", kind, "import_positions", "positions")


def test_a_pickle_with_code_is_not_run(layout, tmp_path):
    trap = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (open, (str(trap), "w"))

    (tmp_path / "x.pt").write_bytes(pickle.dumps({"encoder.norm.a_2": Evil()}))
    refused(tmp_path / "x.pt", layout, "no_state_dict")
    torch.save(tutorial(layout), tmp_path / "whole.pt")
    refused(tmp_path / "whole.pt", layout, "no_state_dict")
    (tmp_path / "x.safetensors").write_bytes(b"no tensors")
    refused(tmp_path / "x.safetensors", layout, "damaged_checkpoint")
    with pytest.raises(FileError):
        imported(tmp_path / "none.pt", layout)
    assert not trap.exists()
