"""The learning rate of each step: warm-up, then decay."""

import math

from explorer.training.config import TrainingConfig


def learning_rate(config: TrainingConfig, step: int) -> float:
    """The rate of step 0, 1, …: a linear warm-up, and a decay along half a cosine to 0 or by the
    inverse square root of the step.

    The paper's schedule (§5.3, equation 3) is "inverse-sqrt" with a peak rate of
    (d_model · warmup)^−½.
    """
    warm = (step + 1) / config.warmup
    if config.schedule == "inverse-sqrt":
        return float(config.rate * min(warm, warm**-0.5))
    decay = 0.5 * (1 + math.cos(math.pi * step / config.steps))
    return config.rate * min(1.0, warm) * decay
