import json

import pytest

from tests.support.app_pages import components_of, open_page


@pytest.mark.parametrize("page", ["explore", "heads", "train"])
@pytest.mark.parametrize(("language", "word"), [("en", "Everything"), ("zh", "全部")])
def test_every_page_has_the_switch_in_its_language(page, language, word):
    app = open_page(page, lang=language)
    assert components_of(app)[0] == "attention_everything"
    data = json.loads(app.get("bidi_component")[0].proto.json)
    assert data["strings"]["everything"] == word
