import numpy as np

from explorer.core.interventions import Interventions
from explorer.core.look import Request
from explorer.heads.request_answers import RequestAnswers
from explorer.model.explorable import ExplorableModel


class Answers(RequestAnswers):
    """Of the model that the tests of heads share, with layer 1 of `cross` alone in the trace."""

    def __init__(self, model: ExplorableModel, request: Request) -> None:
        super().__init__(request, {"cross": (1,)}, trained_here=True)
        self.found = model

    def model(self) -> ExplorableModel:
        return self.found


def test_the_request_is_traced_again_with_its_changes(explorable):
    changes = Interventions.parse(["ablate cross.1.0"])
    answers = Answers(explorable, Request("tiny", "1 2 3", 0, ((2, 5),), changes))
    expected = explorable.trace("1 2 3", force={2: 5}, ablate=["cross.1.0"])
    assert answers.checked().digest == expected.digest
    layer = answers.layer("cross", 0)
    assert layer.layer_numbers("cross") == (1,)
    np.testing.assert_allclose(
        layer.attention("cross")[0], expected.attention("cross")[1], atol=1e-6
    )
    assert layer.query_vectors("cross").shape[:3] == layer.attention("cross").shape[:3]
    omitted = answers.layer("cross", 0, ("scaling",))
    assert "omit scaling" in omitted.facts["interventions"]
