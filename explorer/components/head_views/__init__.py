"""The gallery: every head in one picture, one text with and without an intervention, and figures
by layer and head, drawn in the browser."""

from explorer.components.head_views.bundle import bundle, styles
from explorer.components.head_views.payload import matrix, overview, twin

__all__ = ["bundle", "matrix", "overview", "styles", "twin"]
