"""The parts of the note in the header."""

import pytest

from explorer.app.widgets.notes import text_note
from explorer.core.i18n import LANGUAGES, say
from explorer.core.trace import Trace
from explorer.model.catalog import ShippedModel
from tests.support.catalog_members import shipped
from tests.support.shared_examples import shared_examples

EXAMPLES = shared_examples("text_note")


def reader(name: str) -> ShippedModel:
    """The model of this name in the examples."""
    given = EXAMPLES["models"][name]
    words = {f"{side}_words": frozenset(given.get(side, ())) for side in ("source", "target")}
    symbols = "".join(given.get("symbols", ()))
    own = {"trained_tokens": given.get("longest", 128), **words}
    return shipped(name, symbols, **own, **({} if symbols else {"sentences": (given["example"],)}))


@pytest.mark.parametrize("example", EXAMPLES["notes"])
def test_a_text_that_a_model_was_not_trained_for_is_noted(example):
    """The examples are those of the test of `textNotes.ts`."""
    tokens = example["tokens"]
    rows = [[1 / len(tokens)] * len(tokens)] * len(tokens)
    trace = Trace.from_arrays(tokens, encoder=[[rows]])
    note, facts = example["note"], example.get("facts", {})
    for language in LANGUAGES:
        found = text_note(reader(example["model"]), example["text"], trace, language)
        assert found == (say(f"explore.note_{note}", language, **facts) if note else "")
