import pandas as pd
import pytest

from explorer.app.widgets.head_table_columns import columns, written
from explorer.core.i18n import say


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("entropy", 0.152, "0.15"),
        ("importance", 0.00031, "0.00031"),
        ("offset", -1.0, "−1"),
        ("offset", 0.0, "0"),
        ("zero_loss", 0.00031, "+0.00031"),
        ("zero_exact", -0.5, "−50.0"),
        ("entropy", float("nan"), "–"),
    ],
)
def test_numbers_are_written_by_what_they_mean_and_stay_numbers(name, value, text):
    shown = written(pd.DataFrame({name: [value], "head": ["L0 H0"]}))
    assert f">{text}<" in shown.to_html()
    assert pd.api.types.is_float_dtype(shown.data[name])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_metric_has_its_label_and_help_and_its_interval_a_label(language):
    frame = pd.DataFrame({"entropy": [0.5], "entropy_interval": ["[0, 1]"]})
    shown = columns(frame, language)
    assert shown["entropy"]["label"] == say("heads.metric_entropy", language)
    assert shown["entropy"]["help"] == say("heads.metric_entropy_title", language)
    own, interval = shown["entropy"]["label"], shown["entropy_interval"]["label"]
    assert interval == say("heads.column_interval", language, metric=own) != own


def test_a_column_without_a_sentence_is_an_error():
    with pytest.raises(KeyError, match="no_such_metric"):
        columns(pd.DataFrame({"no_such_metric": [0.5]}), "en")


def test_a_column_is_as_wide_as_the_longest_text_in_any_row_or_its_label():
    frame = pd.DataFrame({"entropy_interval": ["–"] * 20 + ["[0.151, 0.162], p ≤ .0024"]})
    wide = columns(frame, "en")["entropy_interval"]["width"]
    assert wide >= 5.8 * len("[0.151, 0.162], p ≤ .0024") + 16  # as the browser draws it
    label = columns(frame, "en")["entropy_interval"]["label"]
    narrow = columns(frame[:20], "en")["entropy_interval"]["width"]
    assert 5.8 * len(label) + 16 <= narrow < wide
    assert columns(frame[:20], "zh")["entropy_interval"]["width"] >= 2 * 14 + 16
    assert columns(frame[:0], "en")["entropy_interval"]["width"] == narrow


def test_a_column_has_room_for_its_widest_text_and_for_characters_wider_than_letters():
    widths = [
        columns(pd.DataFrame({"head": [text]}), "en")["head"]["width"]
        for text in ("L0 H0", "L0 H0" * 4, "猫，" * 4)
    ]
    assert widths == [53, 147, 133]  # 21 + 6.3 a letter, or 14
