import pytest
import torch

from explorer.core.errors import TrainingError
from explorer.training.device import choose_device, computes_bfloat16


def test_a_missing_device_is_refused():
    assert choose_device("auto").type in ("cpu", "cuda")
    assert str(choose_device("cpu:0")) == str(choose_device("cpu")) == "cpu"
    with pytest.raises(TrainingError, match="auto, cpu"):
        choose_device("abacus")


def test_a_gpu_computes_bfloat16_and_a_cpu_where_its_library_does(monkeypatch):
    assert computes_bfloat16(torch.device("cuda"))
    native = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    assert computes_bfloat16(torch.device("cpu")) == native
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not computes_bfloat16(torch.device("cpu"))
