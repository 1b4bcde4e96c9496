import gzip

import numpy as np
import pytest

import explorer
from explorer.components.html_export import html_page
from explorer.components.inside.head_vectors import head_vectors
from explorer.components.inside.page_parts import page_parts
from explorer.components.player.payload import View
from explorer.core import folders
from explorer.core.errors import TraceError
from tests.support.payloads import unpack_payload

TEXT = "7 3 9"
CHECKPOINTS = folders.PACKAGE.parent / "checkpoints"


@pytest.fixture(scope="module")
def model():
    return explorer.load(CHECKPOINTS / "reverse.safetensors")


@pytest.fixture(scope="module")
def capture(model):
    def layer_of(site, layer, without=()):
        more = {"without": without} if without else {}
        return model.trace(TEXT, capture="full", layers=[layer], sites=[site], **more)

    return layer_of


def test_a_page_has_the_vectors_of_the_layer_and_all_predictions(model, capture):
    trace = model.trace(TEXT)
    parts = dict(page_parts(trace, capture, "cross", 1, 2, opened=True))
    heads = {f"cross/1/{head}" for head in range(4)}
    without = {f"cross/1/2/without/{part}" for part in ("scaling", "mask", "positions")}
    assert set(parts) == heads | without | {"cross/0", "cross/1"}
    assert next(iter(parts)) == "cross/1/2"
    full = model.trace(TEXT, capture="full")
    _, arrays = unpack_payload(gzip.decompress(parts["cross/1/2"]))
    np.testing.assert_allclose(
        arrays["queries"], full.query_vectors("cross")[1, 2].ravel(), atol=1e-5
    )
    assert parts["cross/1/0"] == head_vectors(capture("cross", 1), "cross", 0, 0)


def test_a_closed_panel_and_an_encoder_take_no_further_runs(model, capture):
    trace = model.trace(TEXT)
    parts = dict(page_parts(trace, capture, "encoder", 0, 3, opened=False))
    assert set(parts) == {"encoder/0", *(f"encoder/0/{head}" for head in range(4))}


def test_a_page_is_made_though_nothing_can_be_captured(model):
    trace = model.trace(TEXT)
    assert dict(page_parts(trace, lambda *_: None, "cross", 0, 0, opened=True)) == {}

    def refuse(*_):
        raise TraceError("bad_choice", name="", got="", choices="")

    assert dict(page_parts(trace, refuse, "cross", 0, 0, opened=True)) == {}
    assert "data-inside=" not in html_page(trace, capture=refuse)


def test_the_exported_page_stays_small(capture, model):
    page = html_page(model.trace(TEXT), view=View(cell=(1, 1), site="cross"), capture=capture)
    assert page.count('data-inside="cross/') == 4 + 2 + 3
    assert len(page.encode()) < 2_200_000
