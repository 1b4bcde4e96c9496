"""The stepping player: a `Trace` drawn in the browser, in the app and in one offline file."""

from explorer.components.html_export import page
from explorer.components.player.bundle import PLOTLY, bundle, styles
from explorer.components.player.payload import View, payload

__all__ = ["PLOTLY", "View", "bundle", "page", "payload", "styles"]
