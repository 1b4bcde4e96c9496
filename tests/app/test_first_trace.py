"""The stored trace that is shown before torch is imported."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from explorer.app import first_trace, initial_view, model_cache
from explorer.app.asked_model import asked_model
from explorer.app.state.visit import initial_request
from explorer.components.trace_questions import TRACE_QUESTIONS, Place
from explorer.core.look import Request
from explorer.model.catalog import shipped_models
from tests.support.payloads import unpack_payload

MEMBER = next(iter(shipped_models().values()))
REQUEST = initial_request(MEMBER)
FIRST_PICTURE = """
import json, sys
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from explorer.app import explore_route

client = TestClient(Starlette(routes=[Route("/trace", explore_route.serve, methods=["POST"])]))
answer = client.post("/trace", json={"model": sys.argv[1], "text": sys.argv[2]})
print(json.dumps([answer.status_code, "torch" in sys.modules, "pandas" in sys.modules]))
"""


def test_the_stored_trace_is_the_decoded_one():
    stored, decoded = first_trace.stored(MEMBER, REQUEST), model_cache.trace(MEMBER, REQUEST)
    assert stored is not None
    for tokens in ("source_tokens", "target_tokens", "predicted_tokens", "candidate_tokens"):
        assert getattr(stored, tokens) == getattr(decoded, tokens)
    assert stored.arrays.keys() == decoded.arrays.keys()
    for name, array in decoded.arrays.items():
        if array.dtype.kind == "f":
            np.testing.assert_allclose(stored.arrays[name], array, rtol=0, atol=1e-6)
        else:
            np.testing.assert_array_equal(stored.arrays[name], array)
    assert stored.facts.items() >= decoded.facts.items()


def test_it_opens_where_its_model_opens():
    stored = first_trace.stored(MEMBER, REQUEST)
    assert stored is not None
    measured = initial_view.measured_choice(MEMBER)
    assert measured is not None
    choice = first_trace.choice_of(stored)
    assert (choice.head, choice.why) == (measured.head, measured.why)
    assert choice.value == pytest.approx(measured.value, abs=1e-6)


def test_the_first_picture_needs_neither_torch_nor_pandas():
    run = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE, REQUEST.model, REQUEST.text],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout.splitlines()[-1]) == [200, False, False]


def test_another_request_has_no_stored_trace():
    for other in (
        replace(REQUEST, text="1 2"),
        replace(REQUEST, pad=1),
        replace(REQUEST, forced=((1, 5),)),
    ):
        assert first_trace.stored(MEMBER, other) is None
    reverse = shipped_models()["reverse"]
    assert first_trace.stored(reverse, initial_request(reverse)) is None
    assert first_trace.stored(reverse, Request(reverse.name, REQUEST.text)) is None


def test_a_trace_of_another_checkpoint_is_not_shown(tmp_path):
    folder = tmp_path / "first"
    folder.mkdir()
    shutil.copy(MEMBER.first_trace, folder)
    other = replace(MEMBER, path=tmp_path / MEMBER.path.name, stamp="other")
    shutil.copy(MEMBER.path, other.path)
    assert first_trace.stored(other, REQUEST) is not None
    other.path.write_bytes(MEMBER.path.read_bytes()[:-1] + b"\x07")
    assert first_trace.stored(replace(other, stamp="changed"), REQUEST) is None
    (folder / MEMBER.first_trace.name).write_bytes(b"no trace")
    assert first_trace.stored(replace(other, stamp="broken"), REQUEST) is None


def test_once_torch_is_there_the_model_answers():
    assert first_trace.shown_first(MEMBER, REQUEST) is None


def test_its_checks_are_measured_when_they_are_asked_for():
    stored = first_trace.stored(MEMBER, REQUEST)
    assert stored is not None
    assert not stored.measured
    model, question = asked_model(MEMBER, REQUEST, stored), TRACE_QUESTIONS["integrity"]
    assert model is not None
    assert question.offered(stored, model)
    header, _ = unpack_payload(question.payload(stored, Place(), model))
    decoded = model_cache.trace(MEMBER, REQUEST)
    assert header["integrity"] == decoded.integrity().to_dict("records")
    assert not question.offered(decoded, model)
