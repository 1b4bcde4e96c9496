import pytest

from tests.support.app_pages import open_page, sent_to
from tests.support.payloads import unpack_payload


@pytest.mark.parametrize("page", ["explore", "heads", "train"])
@pytest.mark.parametrize(("language", "word"), [("en", "Show less"), ("zh", "显示较少")])
def test_every_page_has_the_switch_in_its_language(page, language, word):
    app = open_page(page, lang=language)
    header, _ = unpack_payload(sent_to(app, "everything"))
    assert header["strings"]["less"] == word
