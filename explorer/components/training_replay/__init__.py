"""The time-lapse: a training's curves and its probe under one slider, drawn in the browser."""

from explorer.components.training_replay.bundle import bundle, styles
from explorer.components.training_replay.payload import payload

__all__ = ["bundle", "payload", "styles"]
