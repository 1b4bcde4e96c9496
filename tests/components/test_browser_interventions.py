"""`browser_model/js/interventions.ts` changes a model as Python changes it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.components.player.payload import Offer, player_payload
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.heads.removal.decisive_head import decisive_head
from explorer.model.explorable import ExplorableModel
from tests.support.browser_model import BrowserModel, browser_model, largest_difference
from tests.support.payloads import unpack_payload

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
TEXTS = {
    "reverse": "7 3 9 1 4",
    "english-french-early": "She gave the book to her brother.",
}
LIMIT = 1e-5

CHANGES = [
    ["ablate decoder.0.0"],
    ["ablate cross.1.*", "ablate encoder.0.2"],
    ["keep cross.0.1"],
    ["close cross.0.1 2 1", "close encoder.1.* 0 0", "close decoder.0.0 2 0"],
    ["open decoder.*.* 1 2"],
    ["open encoder.0.0 0 LAST", "open cross.0.3 1 LAST"],
    ["row cross.0.1 2 0.25,0,0.5", "row decoder.1.0 3 0,1", "row encoder.0.0 1 1,1,1"],
    ["close cross.0.0 1 0", "row cross.0.0 1 0.5,0.25,0.25"],
    ["omit mask"],
    ["omit positions"],
    ["omit scaling", "ablate decoder.1.1"],
    ["draw 1.5 7"],
    ["draw 2 7 k=3 p=0.8"],
    ["omit mask", "draw 2 3"],
]

REFUSED = [
    ["ablate cross.7.0"],
    ["ablate cross.0.9"],
    [f"ablate {site}.{layer}.*" for site in ("encoder", "decoder", "cross") for layer in (0, 1)],
    ["close cross.0.0 40 0"],
    ["close decoder.0.0 0 0"],
    ["close decoder.0.0 0 2"],
    ["open decoder.0.0 2 1"],
    ["row cross.0.0 40 1"],
    ["row cross.0.0 0 " + ",".join(["1"] * 30)],
    ["row decoder.0.0 0 0,1"],
    ["ablate cross.0.0 mean"],
    ["ablate cross.-1.0"],
    ["close cross.0.0 -1 0"],
    ["row cross.0.0 -1 1"],
]


@pytest.fixture(scope="module", params=TEXTS)
def both(request: pytest.FixtureRequest) -> Iterator[tuple[ExplorableModel, BrowserModel]]:
    path = CHECKPOINTS / f"{request.param}.safetensors"
    with browser_model(path) as browser:
        yield explorer.load(path), browser


@pytest.fixture(scope="module")
def reverse() -> Iterator[tuple[ExplorableModel, BrowserModel]]:
    path = CHECKPOINTS / "reverse.safetensors"
    with browser_model(path) as browser:
        yield explorer.load(path), browser


def padded(model: ExplorableModel) -> int:
    return len(model.source_ids(TEXTS[model.name])) + 2


def lines_for(model: ExplorableModel, lines: Sequence[str]) -> list[str]:
    """`lines` with the position of the last padding."""
    return [line.replace("LAST", str(padded(model) - 1)) for line in lines]


def traced(model: ExplorableModel, lines: Sequence[str], **options: Any) -> Trace:
    done = Interventions.parse(lines_for(model, lines)).options()
    return model.trace(TEXTS[model.name], pad_to=padded(model), **done, **options)


def request_of(model: ExplorableModel, lines: Sequence[str]) -> dict[str, Any]:
    return {"interventions": lines_for(model, lines), "padTo": padded(model)}


@pytest.mark.parametrize("lines", CHANGES, ids="; ".join)
def test_a_changed_model_computes_the_same_in_the_browser(both, lines):
    model, browser = both
    expected = traced(model, lines, capture="full")
    request = request_of(model, lines)
    header, arrays = browser.trace(TEXTS[model.name], capture="full", **request)
    assert header["text"] == expected.text
    assert header["facts"]["interventions"] == expected.facts["interventions"]
    for check, error in header["measured"].items():
        assert abs(error - expected.measured[check]) <= 1e-3 * max(1, error), check
    assert largest_difference(arrays["logits"], expected.arrays["logits"]) <= 10 * LIMIT
    for site in expected.sites:
        found = arrays[f"{site}.attention"]
        assert largest_difference(found, expected.attention(site)) <= LIMIT
        assert (arrays[f"{site}.closed"] == expected.arrays[f"{site}.closed"]).all(), site
    chances = {(one["step"], one["id"]): one["probability"] for one in header["candidates"]}
    steps = expected.steps()
    for row in steps[steps["rank"] <= 3].itertuples():
        assert abs(chances[row.step, row.id] - row.probability) <= LIMIT


@pytest.mark.parametrize("lines", CHANGES, ids="; ".join)
def test_the_payload_of_a_changed_model_equals_pythons(both, lines):
    model, browser = both
    names = ("vectors", "path", "without", "decisive")
    payload = player_payload(traced(model, lines), language=None, offer=Offer(names=names))
    other, expected = unpack_payload(payload)
    shown = {"view": {}, "language": "en", "strings": {}, "project": ""}
    text, request = TEXTS[model.name], request_of(model, lines)
    own, arrays = browser.ask("payload", text=text, request=request, shown=shown)
    assert arrays.keys() == expected.keys()
    for site, header in other["sites"].items():
        for name in ("shape", "packed", "removed", "numbers"):
            assert own["sites"][site][name] == header[name], (site, name)
        closed = f"{site}.closed"
        assert closed not in expected or (arrays[closed] == expected[closed]).all()
    for one, known in zip(own["integrity"], other["integrity"], strict=True):
        assert [one[name] for name in ("check", "ok", "expected")] == [
            known[name] for name in ("check", "ok", "expected")
        ]


@pytest.mark.parametrize("lines", REFUSED, ids="; ".join)
def test_a_change_that_is_impossible_is_refused_in_both(reverse, lines):
    model, browser = reverse
    with pytest.raises(ExplorerError) as refused:
        traced(model, lines)
    header, _ = browser.ask("trace", text=TEXTS["reverse"], request=request_of(model, lines))
    assert header["error"] == refused.value.key
    assert say(f"errors.{header['error']}", **header["facts"]) == str(refused.value)


@pytest.mark.parametrize("lines", [[], ["ablate decoder.0.0"], ["omit mask"]])
def test_the_decisive_head_is_the_same(both, lines):
    model, browser = both
    interventions = Interventions.parse(lines)
    head = decisive_head(
        model, model.trace(TEXTS[model.name], **interventions.options()), interventions
    )
    text, request = TEXTS[model.name], {"interventions": lines}
    header, _ = browser.ask("resource", text=text, name="decisive", place="", request=request)
    assert [header[name] for name in ("site", "layer", "head")] == list(head)
