import re
from html import unescape
from io import StringIO

import pandas as pd

from explorer.components.html_export import html_page
from explorer.core import page_writer
from tests.support.example_traces import example_trace


def test_the_package_sets_the_page_of_components():
    trace = example_trace()
    assert page_writer.html_page(trace, "zh") == html_page(trace, "zh")


def test_a_cell_shows_a_trace_as_the_player_and_a_large_one_as_its_tokens(monkeypatch):
    trace = example_trace()
    found = re.search(r'<iframe srcdoc="([^"]*)"', trace._repr_html_())
    assert unescape(found[1]) == html_page(trace)
    size = sum(trace.attention(site).nbytes for site in trace.sites)
    monkeypatch.setattr("explorer.core.trace._MOST_IN_A_CELL", size - 1)
    (table,) = pd.read_html(StringIO(trace._repr_html_()), index_col=0, keep_default_na=False)
    for name in ("source", "target", "predicted"):
        tokens = list(getattr(trace, f"{name}_tokens"))
        assert table[name].to_list() == tokens + [""] * (len(table) - len(tokens))
