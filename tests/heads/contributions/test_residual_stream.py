import numpy as np
import pytest

from explorer.core.errors import ConfigError
from explorer.heads.contributions.residual_stream import residual_stream, whole_trace


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_sources_sum_to_what_each_sublayer_reads_and_to_the_output(normed_model, stack):
    trace = normed_model.trace("1 2 3", capture="full", pad_to=6)
    stream = residual_stream(normed_model, trace, stack)
    assert len(stream.sublayers) == 4 if stack == "encoder" else 6
    for sublayer in stream.sublayers:
        if sublayer.kind == "feed_forward":
            continue
        read = trace.arrays[f"{sublayer.kind}.sublayer_input"][sublayer.layer]
        total = sum(stream.sources(sublayer.name).values())
        np.testing.assert_allclose(total, read, atol=1e-5)
    output = sum(stream.sources().values())
    np.testing.assert_allclose(output, trace.arrays[f"{stack}.stack_output"], atol=1e-5)


def test_rows_are_those_of_the_whole_stream(normed_model):
    trace = normed_model.trace("1 2 3", capture="full")
    whole = residual_stream(normed_model, trace, "decoder").sources()
    row = residual_stream(normed_model, trace, "decoder", slice(1, 2)).sources()
    assert list(row) == list(whole)
    for name, vectors in row.items():
        np.testing.assert_array_equal(vectors, whole[name][1:2])


@pytest.mark.parametrize(("name", "value"), [("layers", [1]), ("sites", None), ("capture", "full")])
def test_what_is_captured_cannot_be_chosen(explorable, name, value):
    with pytest.raises(ConfigError, match=f"{name} cannot be chosen here"):
        whole_trace(explorable, "1 2", {name: value})
    trace = whole_trace(explorable, "1 2", {"target": "1"}, ["encoder"])
    assert trace.sites == ("encoder",)
    assert trace.text == "1"
