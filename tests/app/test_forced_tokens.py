from dataclasses import replace

from explorer.app import model_cache
from explorer.app.forced_tokens import forced_view
from explorer.components.player.payload import View
from explorer.core.look import Request
from explorer.model.catalog import shipped_models


def test_forced_tokens_stand_beside_the_output_without_them():
    member = shipped_models()["reverse"]
    free = Request("reverse", "7 3 9", 0)
    trace = model_cache.trace(member, free)
    assert forced_view(member, free, trace) == View()
    forced = replace(free, forced=((2, 4),))
    changed = model_cache.trace(member, forced)
    view = forced_view(member, forced, changed)
    assert view.forced == ((2, changed.predicted_tokens[1]),)
    assert view.original == trace.predicted_tokens
