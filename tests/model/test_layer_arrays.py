import numpy as np
import torch

from explorer.core.trace import Trace
from explorer.model.layer_arrays import LayerArrays


def test_each_layer_is_copied_into_one_array():
    arrays = LayerArrays()
    values = torch.arange(24, dtype=torch.bfloat16).reshape(2, 1, 3, 4)
    for index in (1, 0):
        copy = arrays.put("x", index, 2, values[index])
        assert copy.shape == (1, 3, 4)
    values[:] = 0
    arrays.clear("x", np.array([[True], [False], [False]]))
    found = arrays.finished()["x"]
    assert found.dtype == np.float32
    expected = np.arange(24.0).reshape(2, 3, 4)
    expected[:, 0] = 0
    assert found.tolist() == expected.tolist()


def test_a_trace_does_not_copy_them():
    arrays = LayerArrays()
    arrays.put("encoder.attention", 0, 1, torch.full((1, 1, 2, 2), 0.5))
    finished = arrays.finished() | {"encoder.closed": np.zeros((2, 2), np.uint8)}
    trace = Trace(("a", "b"), (), (), "", finished)
    assert trace.attention("encoder") is finished["encoder.attention"]
