import pytest

from explorer.app.widgets.credits import short_credit
from explorer.model.catalog import shipped_models

TATOEBA = "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, CC BY 2.0 FR; authors"


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "Sentences: Tatoeba, CC BY 2.0 FR"), ("zh", "例句来源：Tatoeba，CC BY 2.0 FR")],
)
def test_corpus_and_licence_are_named_in_the_language_of_the_page(language, shown):
    assert short_credit(TATOEBA, language) == shown
    own = {model.summary.credit for model in shipped_models().values() if model.summary.credit}
    assert {short_credit(credit, language) for credit in own} == {shown}


def test_another_credit_is_shown_as_it_is():
    assert short_credit("Drawn by hand", "zh") == "Drawn by hand"
    assert short_credit("", "en") == ""
