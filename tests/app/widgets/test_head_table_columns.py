import pandas as pd
import pytest

from explorer.app.widgets.head_table_columns import columns
from explorer.core.i18n import say


@pytest.mark.parametrize(
    ("name", "kind", "pattern"),
    [
        ("entropy", "column", "%.3f"),
        ("importance", "column", "%.2g"),
        ("zero_loss", "column", "%+.2g"),
        ("zero_exact", "column", "%+.2f"),
        ("log_probability", "step", "%+.2g"),
        ("probability", "step", "percent"),
    ],
)
def test_numbers_are_written_by_what_they_mean(name, kind, pattern):
    shown = columns(pd.DataFrame({name: [0.5]}), "en", kind)
    assert shown[name]["type_config"]["format"] == pattern


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_metric_has_its_label_and_help_and_its_interval_a_label(language):
    frame = pd.DataFrame({"entropy": [0.5], "entropy_interval": ["[0, 1]"]})
    shown = columns(frame, language)
    assert shown["entropy"]["label"] == say("heads.metric_entropy", language)
    assert shown["entropy"]["help"] == say("heads.metric_entropy_title", language)
    assert shown["entropy_interval"]["label"] == say("heads.column_interval", language)


def test_a_column_without_a_sentence_is_an_error():
    with pytest.raises(KeyError, match="no_such_metric"):
        columns(pd.DataFrame({"no_such_metric": [0.5]}), "en")
