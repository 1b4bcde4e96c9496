import numpy as np
import pytest

from explorer.core import trace_size
from explorer.core.errors import TraceSizeError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.heads.contributions.repeated_pass import captured_again, fed_ids

FORCED = {1: 5, 2: 3}


def test_what_a_trace_was_fed_is_its_text_with_padding_and_what_was_chosen(explorable):
    trace = explorable.trace("1 2 3", pad_to=6, force=FORCED)
    source, target = fed_ids(explorable, trace)
    assert source.tolist() == [[*explorable.source_vocabulary.encode("1 2 3"), EOS, PAD, PAD]]
    assert target.tolist()[0][:3] == [BOS, 5, 3]
    labels = explorable.target_vocabulary.labels(target[0].tolist())
    assert labels == trace.target_tokens


@pytest.mark.parametrize("sites", [("decoder", "cross"), ("encoder", "decoder", "cross")])
def test_the_further_pass_is_the_one_that_full_capture_makes(normed_model, sites):
    options = {"pad_to": 6, "force": FORCED}
    shown = normed_model.trace("1 2 3", **options)
    again = captured_again(normed_model, shown, sites)
    expected = normed_model.trace("1 2 3", capture="full", sites=sites, **options)
    assert again.sites == expected.sites
    assert again.predicted_tokens == expected.predicted_tokens
    for name, array in expected.arrays.items():
        if name != "gold" and not name.startswith("early."):  # not of the pass
            np.testing.assert_allclose(again.arrays[name], array, atol=1e-5, err_msg=name)


def test_a_pass_that_would_be_too_large_is_refused(explorable, monkeypatch):
    shown = explorable.trace("1 2 3")
    monkeypatch.setattr(trace_size, "largest_trace", lambda: 1)
    with pytest.raises(TraceSizeError):
        captured_again(explorable, shown, ("decoder",))
