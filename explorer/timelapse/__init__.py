"""The time-lapse: a training's curves and its probe under one slider, drawn in the browser."""

from explorer.timelapse.bundle import bundle, styles
from explorer.timelapse.payload import payload

__all__ = ["bundle", "payload", "styles"]
