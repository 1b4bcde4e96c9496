"""Models of the library transformers on a GPU, compared with the same on a CPU."""

import numpy as np
import pytest

from explorer.public.studied_model import load, wrap

TEXTS = {"opus-tiny": "The cat sees a dog.", "gpt-tiny": "The cat", "bert-tiny": "The cat sees"}


@pytest.mark.parametrize("name", TEXTS)
def test_a_trace_equals_that_of_the_cpu(name, model_folder):
    opened = load(model_folder / name)
    here = opened.trace(TEXTS[name])
    large = type(opened.model).from_pretrained(model_folder / name, device_map="cuda")
    there = wrap(large, opened.tokens.tokenizer, copy=False).trace(TEXTS[name])
    assert "cuda" in str(there.facts["devices"])
    assert there.arrays.keys() == here.arrays.keys()
    for array, ours in there.arrays.items():
        if array.startswith("steps."):
            continue
        np.testing.assert_allclose(
            ours.astype(float), here.arrays[array].astype(float), atol=2e-4, err_msg=array
        )
    assert there.predicted_tokens == here.predicted_tokens
