from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from explorer.app.widgets import downloads
from explorer.core.i18n import say


def page(output: str, name: str, language: str) -> None:
    """Two models on one text, the second of which says `output` by itself."""
    import streamlit as st

    import explorer
    from explorer.app.widgets import comparison_panel
    from explorer.core import folders
    from explorer.heads.comparison.attention_comparison import compare
    from explorer.heads.comparison.trace_comparison import TraceComparison

    model = explorer.load(folders.checkpoints() / "reverse.safetensors")
    one = model.trace("7 3 9")
    two = model.trace("7 3 9", target=output)
    compared = TraceComparison(one, two, one)
    places = comparison_panel.ComparisonPlaces(st.container(), st.container(), st.container())
    places.summarise(
        comparison_panel.models_summary(compared, ("a", name), language),
        comparison_panel.models_numbers(compared, ("a", name), language),
    )
    matched = compare(one, one).matched()
    comparison_panel.matched_table(matched, ("a", name), language)


def shown(output: str, name: str = "b", language: str = "en") -> AppTest:
    app = AppTest.from_function(page, default_timeout=60, args=(output, name, language)).run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    return app.markdown[0].value.replace("\\", "").replace("\u2060", "")


def test_the_summary_says_what_the_second_model_says_by_itself():
    same = said(shown("9 3 7"))
    assert same == say("heads.compare_same_as_sure")
    assert said(shown("7 9")).startswith("b writes “7 9”.")
    assert said(shown("7 9", language="zh")).startswith("b 写出“7 9”。")


def test_names_are_shown_literally():
    assert "*b* :smile:" in said(shown("7 9", "*b* :smile:"))


def test_the_table_names_the_heads_of_both_and_is_downloaded_whole(monkeypatch):
    taken: list[bytes] = []

    def offer(label: str, make: Callable[[], bytes], **_: object) -> None:
        taken.append(make())

    monkeypatch.setattr(downloads.st, "download_button", offer)
    app = shown("9 3 7")
    table = app.dataframe[0].value
    assert table.iloc[-1].tolist() == ["Cross", "L1 H3", "L1 H3", 1.0]
    lines = taken[0].decode("utf-8-sig").splitlines()
    assert lines[0] == "site,layer,head,other_layer,other_head,similarity"
    assert len(lines) == 25
