"""What the browser's model gives the player is what Python gives it, for the same file and text.

`CASES=all` compares 60 inputs of every model.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import explorer
from explorer.components.inside.payload import head_vectors, omission, token_path
from explorer.components.payload import PROJECT
from explorer.components.player.payload import Offer, View, player_payload
from explorer.components.player.sentences import player_sentences
from explorer.core.sentencepiece_vocabulary import learn_pieces
from explorer.core.verbs import OMISSIONS
from explorer.core.word_segmentation import grouped
from explorer.model.checkpoint import Checkpoint, save_checkpoint
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer import Transformer
from tests.support.browser_model import BrowserModel, browser_model, largest_difference
from tests.support.payloads import unpack_payload
from tests.support.random_texts import hostile_text, sentence
from tests.support.sample import sampled

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
SHIPPED = sorted(path.stem for path in CHECKPOINTS.glob("*.safetensors"))
INPUTS = 60
SHOWN = {"view": {}, "language": "zh", "strings": player_sentences("zh"), "project": PROJECT}
TOLERANCES = {"probability": 5e-5, "attention": 1, "rank": 1}
"""Logits that differ by 1e-4 change a probability by p (1 − p) 2e-4 at most. A code of weights is
1.5e-5; of thousands of tokens, two may be as probable but for rounding."""
NEAR = 1e-7  # probabilities
LIMIT = 1e-4


def decoder_alone(path: Path) -> None:
    """Write a decoder alone of pieces of words, with random weights."""
    pieces = learn_pieces([sentence(number) for number in range(200)], 900)
    size = len(pieces)
    config = ModelConfig(size, size, 24, 4, 0, 2, 32, max_length=300, tied_embeddings=True)
    torch.manual_seed(1)
    checkpoint = Checkpoint(Transformer(config).eval(), pieces, pieces, {"task": "continue"})
    save_checkpoint(checkpoint, path, half=True)


@pytest.fixture(scope="module", params=[*sampled(SHIPPED, 3), "decoder alone"])
def both(request, tmp_path_factory) -> Iterator[tuple[ExplorableModel, BrowserModel]]:
    path = CHECKPOINTS / f"{request.param}.safetensors"
    if request.param == "decoder alone":
        path = tmp_path_factory.mktemp("models") / "alone.safetensors"
        decoder_alone(path)
    with browser_model(path) as browser:
        yield explorer.load(path), browser


@pytest.fixture(scope="module")
def translators() -> Iterator[tuple[ExplorableModel, BrowserModel]]:
    path = CHECKPOINTS / "english-french.safetensors"
    with browser_model(path) as browser:
        yield explorer.load(path), browser


def text_for(model: ExplorableModel, number: int) -> str:
    symbols = getattr(model.source_vocabulary, "symbols", None)
    if symbols is None:
        text = sentence(number) if number % 4 else hostile_text(number) + " a"
        most = model.transformer.config.max_length // 2  # a letter of another script is four pieces
        while len(model.source_vocabulary.encode(text)) > most:
            text = text[: len(text) // 2]
        return text
    chance = np.random.default_rng(number)
    return " ".join(chance.choice(symbols, chance.integers(1, 12)))


def close(
    found: NDArray[Any], expected: NDArray[Any], tolerance: float | NDArray[np.float64]
) -> bool:
    difference = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    return found.shape == expected.shape and bool((difference <= tolerance).all())


def order_of(own: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The places of `own` candidates in the order of the others: two neighbours are swapped where
    rounding decides which is the more probable."""
    ids, known, probability = own["steps.id"], other["steps.id"], own["steps.probability"]
    order = np.arange(len(ids))
    for at in np.flatnonzero(ids != known):
        if ids[order[at]] == known[at] or at + 1 == len(ids) or ids[at + 1] != known[at]:
            continue
        if abs(probability[at] - probability[at + 1]) < NEAR:
            order[at : at + 2] = order[at + 1], order[at]
    return order


def replaced(own: dict[str, NDArray[Any]], other: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Where the last candidate of a step is another one, because rounding decides which of two
    as probable ones is listed."""
    ends = np.append(np.diff(other["steps.step"]) != 0, True)
    near = np.abs(own["steps.probability"] - other["steps.probability"]) < NEAR
    return ends & near & (own["steps.id"] != other["steps.id"])


def compare_payloads(found: bytes, expected: bytes) -> None:
    own, own_arrays = unpack_payload(found)
    other, arrays = unpack_payload(expected)
    compare(own, own_arrays, other, arrays)


def compare(
    own: dict[str, Any],
    own_arrays: dict[str, NDArray[Any]],
    other: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    assert own_arrays.keys() == arrays.keys()
    order, left_out = order_of(own_arrays, arrays), replaced(own_arrays, arrays)
    for name, array in arrays.items():
        if name == "words":
            compare_payloads(own_arrays[name].tobytes(), array.tobytes())
            continue
        assert own["arrays"][name]["type"] == other["arrays"][name]["type"]
        tolerance = TOLERANCES.get(name.rpartition(".")[2], 0)
        found = own_arrays[name]
        if name in ("steps.id", "steps.label"):
            found, array = found[order][~left_out], array[~left_out]
        if name == "steps.label":  # places in lists, which differ where a candidate is replaced
            assert [own["labels"][at] for at in found] == [other["labels"][at] for at in array]
        else:
            if name == "steps.rank":  # of a forced token among thousands that are as unlikely
                tolerance = np.maximum(tolerance, array / 1000)
            assert close(found, array, tolerance), name
    assert left_out.any() or own["labels"] == other["labels"]
    for header in (own, other):
        del header["arrays"], header["labels"]
        for site in header["sites"].values():
            assert abs(site.pop("scale") - 1) < 1e-5
        for check in header.get("integrity", ()):
            assert check.pop("error") <= check["limit"]
    assert own == other


def test_a_payload_equals_pythons(both):
    model, browser = both
    for number in sampled(range(INPUTS), 3):
        text = text_for(model, number)
        source, prompt = model.checkpoint.read(text)
        longest = model.transformer.config.max_length
        pad_to = min(len(source) + 2, longest) if number % 2 and source else None
        force = {len(prompt) + 1: 5} if number % 3 == 0 else {}
        trace = model.trace(text, pad_to=pad_to, force=force)
        view = {"what_if": True, "forced": [[1, "x"]] if force else []}
        expected = player_payload(
            trace,
            language="zh",
            view=View(what_if=True, forced=((1, "x"),) if force else ()),
            offer=Offer(names=("vectors", "path", "without", "decisive")),
        )
        request = {"force": force, **({"padTo": pad_to} if pad_to else {})}
        shown = SHOWN | {"view": view}
        header, arrays = browser.ask("payload", text=text, request=request, shown=shown)
        assert "error" not in header, header
        compare(header, arrays, *unpack_payload(expected))


def test_a_trace_that_was_changed_fails_the_check(both):
    header, _ = both[1].ask("tampered", text=text_for(both[0], 1), shown=SHOWN)
    checks = {check["check"]: check["ok"] for check in header["integrity"]}
    assert not checks["unchanged_since_capture"]
    assert not checks["rows_sum_to_one"]


def test_what_is_inside_a_head_equals_pythons(both):
    model, browser = both
    text = text_for(model, 1)
    full = {
        site: model.trace(text, capture="full", layers=[1], sites=[site])
        for site in model.trace(text).sites
    }
    for site, trace in full.items():
        expected = {
            ("vectors", f"{site}/1/2"): head_vectors(trace, site, 0, 2),
            ("path", f"{site}/1"): token_path(trace, site),
        }
        for (name, place), payload in expected.items():
            header, arrays = browser.ask("resource", text=text, name=name, place=place)
            compare_inside(header, arrays, *unpack_payload(payload))


def compare_inside(
    own: dict[str, Any],
    own_arrays: dict[str, NDArray[Any]],
    other: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    assert own_arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        size = max(1.0, float(np.abs(array).max(initial=0)))
        assert largest_difference(own_arrays[name], array) <= LIMIT * size, name
    for header in (own, other):
        del header["arrays"]
    assert own == other


@pytest.mark.parametrize("part", OMISSIONS)
def test_a_head_without_a_part_of_the_model_equals_pythons(both, part):
    model, browser = both
    text = text_for(model, 2)
    site = model.trace(text).sites[-1]
    trace = model.trace(text, capture="full", layers=[0], sites=[site], without=[part])
    header, arrays = browser.ask("resource", text=text, name="without", place=f"{site}/0/1/{part}")
    expected = unpack_payload(omission(trace, site, 1))
    compare_inside(header, arrays, *expected)


def test_words_are_grouped_as_in_python(translators):
    model, browser = translators
    texts = [hostile_text(number) for number in sampled(range(20_000), 400)]
    rows = [model.source_vocabulary.encode(f"a {text}") for text in texts]
    labels = [list(model.source_vocabulary.labels(row)) for row in rows]
    found = browser.ask("words", rows=labels)[0]["words"]
    for row, words in zip(labels, found, strict=True):
        expected = [[word.label, word.start, word.stop] for word in grouped(row)]
        assert words == expected, row


@pytest.mark.parametrize("length", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_digests_are_those_of_sha_256(translators, length):
    data = bytes(number * 7 % 256 for number in range(length))
    digest = translators[1].ask("sha256", bytes=list(data))[0]["digest"]
    assert digest == hashlib.sha256(data).hexdigest()
