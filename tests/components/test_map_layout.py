from explorer.components.map_layout import map_hover, map_layout


def test_the_axes_have_the_names_and_labels_that_they_are_given():
    rows, columns = ["cross L0", "cross L1"], ["H0", "a" * 30, "<b>"]
    layout = map_layout("share & <b>", ("layer", "head"), rows, columns)
    assert layout["title"]["text"] == "share &amp; &lt;b&gt;"
    assert layout["yaxis"]["title"]["text"] == "layer"
    assert layout["yaxis"]["ticktext"] == rows
    assert layout["xaxis"]["title"]["text"] == "head"
    assert layout["xaxis"]["ticktext"] == ["H0", "a" * 24 + "…", "&lt;b&gt;"]
    template, data = map_hover(("layer", "head"), rows, columns)
    assert template == "layer %{customdata[0]}<br>head %{customdata[1]}"
    assert list(data["customdata"][1, 1]) == ["cross L1", "a" * 30]
    assert map_hover(("layer", "head"), rows, columns[:1]) == ("layer %{y}, head %{x}", {})
