"""What a link asks for in vain, in words."""

from explorer.app.refused_parts import refused_parts


def test_parts_are_listed_and_a_wrong_drawing_is_named_with_its_ranges():
    assert refused_parts(("model", "pad"), "en") == "model, padding"
    said = refused_parts(("draw 0.8 -3",), "en")
    assert "0.8 -3" in said
    assert "(a temperature from 0.1 to 5, then a seed from 0 to 9999; k= from 1 to 9999" in said
    assert "0 到 9999" in refused_parts(("draw 9 1",), "zh")
