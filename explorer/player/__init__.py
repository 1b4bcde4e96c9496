"""The stepping player: a `Trace` drawn in the browser, in the app and in one offline file."""

from explorer.player.bundle import PLOTLY, bundle, styles
from explorer.player.page import page
from explorer.player.payload import View, payload

__all__ = ["PLOTLY", "View", "bundle", "page", "payload", "styles"]
