from explorer.core.errors import AlignmentError, ExplorerError
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


def test_a_reason_is_told_in_the_language_of_the_sentence():
    reason = AlignmentError("tokens_differ", text="x", token="y")
    error = AlignmentError("tokens_refused", row=3, name="a.tsv", reason=reason)
    assert str(error).endswith(str(reason))
    assert error.in_language("zh").endswith(reason.in_language("zh"))
    try:
        raise reason
    except AlignmentError:
        error.alone()
    assert reason.__traceback__ is None
