import pytest

from explorer.app import experiment_cache, model_cache
from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.look import Request
from explorer.model.catalog import UploadedModel
from tests.support.catalog_members import summary

REQUEST = Request("tiny", "1 2 3", 1, ((1, 5),))


@pytest.fixture
def model(explorable, request) -> UploadedModel:
    """An uploaded model; its stamp is new for each test, so that nothing is cached."""
    return UploadedModel("tiny", request.node.name, summary("123"), explorable)


def test_an_experiment_is_computed_once_and_leaves_the_model_as_it_is(model):
    original = model_cache.greedy_trace(model, REQUEST)
    interventions = Interventions.parse(["ablate cross.1.2", "close encoder.0.0 0 1"])
    compared = experiment_cache.experiment(model, REQUEST, interventions)
    assert compared.original is original
    weights = [trace.attention("encoder")[0, 0, 0, 1] for trace in (original, compared.changed)]
    assert weights[0] > weights[1] == 0
    again = Interventions.parse(["close encoder.0.0 0 1", "ablate cross.1.2"])
    assert experiment_cache.experiment(model, REQUEST, again) is compared
    other = experiment_cache.experiment(model, REQUEST, interventions.on_heads)
    assert other is not compared
    assert (other.changed.attention("encoder") == original.attention("encoder")).all()


def test_an_intervention_that_the_model_has_not_is_refused(model):
    with pytest.raises(InterventionError, match=r"There is no head cross\.9\.9"):
        experiment_cache.experiment(model, REQUEST, Interventions.parse(["ablate cross.9.9"]))


def test_an_effect_is_that_of_the_removed_heads_alone(model):
    heads = Interventions.parse(["ablate cross.1.2 mean"])
    effect = experiment_cache.effect(model, heads)
    both = Interventions.parse(["ablate cross.1.2 mean", "close decoder.0.0 1 0"])
    assert experiment_cache.effect(model, both) is effect
    assert effect.sentences == experiment_cache.EFFECT_SENTENCES
    assert experiment_cache.means_batch(model).startswith(effect.batch)
    assert {"before", "after"} <= set(effect.table)
