import numpy as np

from explorer.heads.alignment import forced_traces as module
from explorer.heads.alignment.forced_traces import forced_traces
from explorer.model.explorable import ExplorableModel

PAIRS = [("1 2 3", "3 2 1"), ("2 甲", "甲 2 1 1 1"), ("1", "1"), ("3 3 3 3 3", "2")]


def test_each_trace_equals_that_of_the_pair_alone(explorable: ExplorableModel, monkeypatch) -> None:
    for most in (4096, 20, 1):  # all in one pass, some, each alone
        monkeypatch.setattr(module, "MOST_TOKENS", most)
        found = dict(forced_traces(explorable, PAIRS))
        assert sorted(found) == [0, 1, 2, 3]
        for number, (source, target) in enumerate(PAIRS):
            alone = explorable.trace(source, target=target)
            assert found[number].source_tokens == alone.source_tokens
            assert found[number].target_tokens == alone.target_tokens
            assert found[number].predicted_tokens == alone.predicted_tokens
            weights, own = found[number].attention("cross"), alone.attention("cross")
            np.testing.assert_allclose(weights, own, atol=1e-6)


def test_no_pairs_have_no_traces(explorable: ExplorableModel) -> None:
    assert list(forced_traces(explorable, [])) == []
