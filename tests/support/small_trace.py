"""A trace of random weights with masks, steps and measured errors, for tests of its parts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.mask_reasons import UNMASKED, mask_codes
from explorer.core.trace import Trace

SOURCE = ("a", "b", "<eos>", "<pad>")
TARGET = ("<bos>", "b", "a")


def random_weights(
    shape: tuple[int, ...], mask: NDArray[np.bool_], seed: int = 0
) -> NDArray[np.float32]:
    """Softmax of random scores of `shape` (…, query, key), 0 where `mask` is False."""
    scores = np.random.default_rng(seed).normal(size=shape)
    weights = np.where(mask, np.exp(scores), 0)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def small_trace(**changes: Any) -> Trace:
    """Two layers of five heads at every site, "a b" → "b a", with `changes` of its parts."""
    masks = {
        "encoder": mask_codes(4, 4, padded_keys=1),
        "decoder": mask_codes(3, 3, causal=True),
        "cross": mask_codes(3, 4, padded_keys=1),
    }
    arrays = {f"{site}.closed": codes for site, codes in masks.items()} | {
        f"{site}.attention": random_weights((2, 5, *codes.shape), codes == UNMASKED)
        for site, codes in masks.items()
    }
    steps = {  # two candidates a step; at step 2 the third was forced
        "steps.step": np.array([1, 1, 2, 2, 2, 3, 3]),
        "steps.rank": np.array([1, 2, 1, 2, 3, 1, 2]),
        "steps.id": np.array([4, 3, 4, 2, 3, 2, 3]),
        "steps.probability": np.array([0.5, 0.25, 0.5, 0.25, 0.125, 0.75, 0.1], np.float32),
        "steps.chosen": np.array([1, 0, 0, 0, 1, 1, 0], bool),
        "steps.forced": np.array([0, 0, 0, 0, 1, 0, 0], bool),
    }
    given: dict[str, Any] = {
        "source_tokens": SOURCE,
        "target_tokens": TARGET,
        "predicted_tokens": ("b", "a", "<eos>"),
        "text": "b a",
        "arrays": arrays | steps,
        "candidate_tokens": ("b", "a", "b", "<eos>", "a", "<eos>", "a"),
        "measured": {"hooked_equals_plain": 1e-6},
        "facts": {"task": "reverse"},
    }
    return Trace(**given | changes)
