import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from explorer.app import model_cache
from explorer.app.asked_model import ModelOfTrace, asked_model
from explorer.core.errors import TraceError
from explorer.core.interventions import Interventions
from explorer.core.look import SHOWN_MAPS, Request
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.layer_contributions import LAYER_METHODS
from explorer.heads.contributions.logit_attribution import logit_attribution
from explorer.heads.contributions.score_parts import score_parts
from explorer.model.catalog import UploadedModel, UploadedTrace
from explorer.model.directory_search import find_directories, named_models
from tests.support.catalog_members import summary
from tests.support.example_traces import example_trace

REQUEST = Request("tiny", "1 2 3", 2, ((2, 5),))
OPTIONS = {"pad_to": 6, "force": {2: 5}}


@pytest.fixture
def member(explorable, request) -> UploadedModel:
    """An uploaded model; its stamp is new for each test, so that nothing is cached."""
    return UploadedModel("tiny", request.node.name, summary("123"), explorable)


@pytest.fixture
def shown(member) -> Trace:
    return model_cache.trace(member, REQUEST)


@pytest.fixture
def model(member, shown) -> ModelOfTrace:
    model = asked_model(member, REQUEST, shown)
    assert model is not None
    assert model.trained_here
    return model


def test_one_layer_is_captured_in_full_once(model, shown):
    layer = model.layer("cross", 1)
    assert layer.sites == ("cross",)
    np.testing.assert_allclose(layer.attention("cross")[0], shown.attention("cross")[1], atol=1e-6)
    assert layer.query_vectors("cross").shape[:3] == layer.attention("cross").shape[:3]
    assert model.layer("cross", 1) is layer


def test_a_layer_is_captured_without_a_part_of_the_model(model):
    ahead = [
        one.attention("decoder")[0, :, 0, 1:].sum()
        for one in (model.layer("decoder", 1), model.layer("decoder", 1, ("mask",)))
    ]
    assert ahead[0] == 0 < ahead[1]


def test_a_layer_counts_among_those_that_the_trace_has(member, shown, explorable):
    arrays = {
        name: array[1:] if name == "cross.attention" else array
        for name, array in shown.arrays.items()
    }
    facts = {**shown.facts, "layer_numbers": {"cross": [1]}}
    deeper = asked_model(member, REQUEST, replace(shown, arrays=arrays, facts=facts, digest=""))
    expected = explorable.trace("1 2 3", **OPTIONS).attention("cross")[1]
    np.testing.assert_allclose(deeper.layer("cross", 0).attention("cross")[0], expected, atol=1e-6)


def test_it_keeps_neither_model_nor_trace(explorable, request):
    member = UploadedModel("tiny", request.node.name, summary("123"), replace(explorable))
    shown = member.model.trace("1 2 3")
    model = asked_model(member, Request("tiny", "1 2 3"), shown)
    kept = [weakref.ref(shown), weakref.ref(member.model)]
    del shown, member
    gc.collect()
    assert [reference() for reference in kept] == [None, None]
    for ask in (
        lambda: model.layer("cross", 0),
        lambda: model.contributions(example_trace(), "alti"),
        lambda: model.attribution(example_trace()),
        lambda: model.early(example_trace()),
        lambda: model.layer_path(example_trace(), "cross", 0),
        lambda: model.score_parts(example_trace(), Head("cross", 0, 0)),
        lambda: model.decisive_head(example_trace()),
    ):
        with pytest.raises(TraceError, match="no longer in memory"):
            ask()


def test_contributions_are_those_of_the_trace(member, explorable):
    greedy = REQUEST.unchanged()
    shown = model_cache.trace(member, greedy)
    model = asked_model(member, greedy, shown)
    for method in ("alti", "leave_one_out"):
        found, agreement = model.contributions(shown, method)
        expected = contributions(explorable, "1 2 3", method).source_share
        np.testing.assert_allclose(found.source_share, expected, atol=1e-4)
        assert len(agreement) == (5 if method == "leave_one_out" else 0)


def test_a_changed_model_answers_with_its_changes(member, explorable):
    lines = ["ablate cross.1.0 mean", "row cross.1.2 1 1,1", "omit scaling"]
    changed = replace(REQUEST, interventions=Interventions.parse(lines))
    shown = model_cache.trace(member, changed)
    model = asked_model(member, changed, shown)
    weights = model.layer("cross", 1).attention("cross")[0]
    np.testing.assert_allclose(weights, shown.attention("cross")[1], atol=1e-6)
    masked = model.layer("cross", 1, ("mask",))
    assert masked.facts["interventions"] == [*lines[:2], "omit scaling", "omit mask"]
    assert model.decisive_head(shown) in explorable.transformer.config.all_heads


def test_the_parts_of_heads_are_those_of_the_trace(model, shown, explorable):
    found = model.attribution(shown)
    expected = logit_attribution(explorable, "1 2 3", **OPTIONS)
    assert found.runner_up == expected.runner_up
    np.testing.assert_allclose(found.difference, expected.difference, atol=1e-5)


def test_scores_are_split_as_those_of_the_trace(model, shown, explorable):
    head = Head("cross", 1, 2)
    found = model.score_parts(shown, head)
    queries, keys = (np.stack(list(side.values())) for side in (found.queries, found.keys))
    expected = score_parts(explorable, "1 2 3", *head, 2, 1, **OPTIONS).table
    products = queries[:, 2] @ keys[:, 1].T * found.scale
    np.testing.assert_allclose(products, expected, atol=1e-5)


def test_a_model_of_the_library_answers_as_in_python(model_folder):
    directories = named_models(find_directories([model_folder]))
    gpt = next(one for one in directories.values() if "gpt-tiny" in one.name)
    request = Request(gpt.name, "The cat.")
    shown = model_cache.trace(gpt, request)
    model = asked_model(gpt, request, shown)
    assert not model.trained_here
    assert model.layer("decoder", 0).sites == ("decoder",)
    library = model_cache.model_of(gpt)
    found, agreement = model.contributions(shown, "alti")
    expected = contributions(library, "The cat.").matrix
    np.testing.assert_allclose(found.whole, expected, atol=1e-5)
    assert agreement == {}
    early = library.trace("The cat.", capture="full").facts["early_tokens"]
    assert model.early(shown)[1]["early_tokens"] == early
    parts = logit_attribution(library, "The cat.").parts
    np.testing.assert_allclose(model.attribution(shown).parts.value, parts.value, atol=1e-5)


def test_nobody_has_the_model_of_an_uploaded_trace():
    trace = example_trace()
    assert asked_model(UploadedTrace("mine", "stamp", trace), Request("mine", ""), trace) is None


def test_the_methods_that_a_visitor_chooses_are_those_of_layers():
    assert SHOWN_MAPS == LAYER_METHODS
