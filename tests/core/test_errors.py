from explorer.core.errors import LONGEST_FACT, AlignmentError, ExplorerError
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


def test_what_a_file_wrote_is_one_bounded_line_of_a_sentence():
    """A file name, or a setting in it, may have characters that steer a terminal."""
    name = "\x1b]0;x\x07\n\x9b2J" + "y" * 100_000
    shown = str(ExplorerError("is_folder", name=name))
    assert shown == say(
        "errors.is_folder",
        name="\\x1b]0;x\\x07\\x0a\\x9b2J" + "y" * (LONGEST_FACT - 10) + "…",
    )
    assert ExplorerError("is_folder", name=name).facts["name"] == name
