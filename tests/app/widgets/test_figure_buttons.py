"""The buttons that save a figure which the server draws."""

from streamlit.testing.v1 import AppTest

from explorer.app.state import visitor


def page() -> None:
    from explorer.app.widgets.figure_buttons import figure_buttons

    figure_buttons(lambda width: f"drawn for {width}".encode(), "pruning-x", "curves", "en")


def test_a_figure_is_saved_for_both_columns_and_for_one(monkeypatch) -> None:
    drawn: list[bytes] = []
    monkeypatch.setattr(visitor, "limited_download", lambda make, _: drawn.append(make()) or b"")
    app = AppTest.from_function(page).run()
    assert not app.exception
    buttons = [button.proto for button in app.get("download_button")]
    assert [button.label for button in buttons] == ["SVG", "SVG, one column"]
    assert drawn == [b"drawn for both", b"drawn for one"]
