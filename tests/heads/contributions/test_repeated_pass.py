import numpy as np
import pytest

from explorer.core import trace_size
from explorer.core.errors import TraceSizeError
from explorer.heads.contributions.repeated_pass import captured_again

FORCED = {1: 5, 2: 3}


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
