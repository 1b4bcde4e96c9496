import pytest

from explorer.core.spoken_languages import language_name, nearest_codes


@pytest.mark.parametrize("code", ["fr", "fra", "fra_Latn", "fr_XX", "FR"])
def test_one_language_has_one_name_under_all_its_codes(code):
    assert language_name(code) == "French"
    assert language_name(code, "zh") == "法语"
    assert language_name(code, "de") == "French"


@pytest.mark.parametrize("code", ["", "java", "xx_XX", "_"])
def test_what_is_no_known_code_has_no_name(code):
    assert language_name(code) == ""


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("French", ("fra_Latn",)),
        ("fr", ("fra_Latn",)),
        ("zh", ("zho_Hans", "zho_Hant")),
        ("fra_latn", ("fra_Latn",)),
        ("", ()),
        ("Klingon", ()),
    ],
)
def test_the_nearest_codes_are_of_the_language_that_is_meant(wanted, found):
    codes = ["eng_Latn", "fra_Latn", "zho_Hans", "zho_Hant", "quy_Latn"]
    assert nearest_codes(wanted, codes)[: len(found) or 1] == found
