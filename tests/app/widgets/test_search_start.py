"""The search of a corpus before there is an index."""

from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import explorer
from explorer.app.widgets.search_start import strongest_cell
from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.sites import Head
from explorer.core.trace import Trace
from tests.support.app_pages import captions, components_of, open_page, url_query

TEXT = {"model": "reverse", "text": "7 3 9 1 4"}


@pytest.fixture(autouse=True)
def nothing_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folders.REPORTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(folders, "shipped_reports", lambda: tmp_path)


def answers(app: AppTest) -> list[dict[str, str]]:
    """The links of answers: those to the pages themselves ask nothing."""
    queries = [dict(parse_qsl(one.proto.query_string)) for one in app.get("page_link")]
    return [query for query in queries if query]


def test_an_answer_from_the_text_stands_beside_the_heads_and_opens_in_explore() -> None:
    app = open_page("heads", part="search", site="cross", layer="1", head="2", **TEXT)
    assert not app.exception
    assert "attention_head_grid" in components_of(app)
    assert any("largest weight of Cross L1 H2 on a word" in text for text in captions(app))
    assert any(say("heads.search_no_index") in one.value for one in app.markdown)
    trace = explorer.load("reverse").trace(TEXT["text"])
    query, key = strongest_cell(trace, Head("cross", 1, 2))
    weight = trace.attention("cross")[1, 2, query, key]
    assert f"**{weight:.2f}**" in [one.value for one in app.markdown]
    (link,) = answers(app)
    opened = open_page(**link)
    assert not opened.warning
    assert url_query(opened)["cell"] == f"{query}.{key}"


def test_another_head_has_another_example() -> None:
    app = open_page("heads", part="search", site="encoder", layer="0", head="1", **TEXT)
    assert any("Encoder L0 H1" in text for text in captions(app))
    assert len(answers(app)) == 1


def test_the_strongest_cell_is_on_text_and_not_the_only_one_of_its_row() -> None:
    decoder = [[[[1.0, 0, 0], [0.9, 0.1, 0], [0.7, 0, 0.3]]]]
    trace = Trace.from_arrays(["a"], ["<bos>", "x", "y"], encoder=[[[[1.0]]]], decoder=decoder)
    assert strongest_cell(trace, Head("decoder", 0, 0)) == (2, 2)
    assert strongest_cell(trace, Head("encoder", 0, 0)) == (0, 0)
    alone = Trace.from_arrays(["</s>", "<pad>"], encoder=np.array([[[[0.2, 0.8], [0.5, 0.5]]]]))
    assert strongest_cell(alone, Head("encoder", 0, 0)) == (0, 1)
