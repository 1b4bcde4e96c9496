from explorer.core.errors import ExplorerError
from explorer.core.i18n import say


def test_an_error_has_a_sentence_in_both_languages():
    error = ExplorerError("not_divisible", d_model=10, heads=3)
    assert str(error) == say("errors.not_divisible", d_model=10, heads=3)
    assert error.in_language("zh") == say("errors.not_divisible", "zh", d_model=10, heads=3)


class RolesError(ExplorerError):
    section = "roles"


def test_a_class_of_errors_names_the_section_of_its_sentences():
    assert str(RolesError("none")) == say("roles.none")
    assert RolesError("none").in_language("zh") == say("roles.none", "zh")
