import json

import pytest

from tests.support.app_pages import open_page


@pytest.mark.parametrize("page", ["explore", "heads", "train"])
@pytest.mark.parametrize(("language", "word"), [("en", "Show less"), ("zh", "显示较少")])
def test_every_page_has_the_switch_in_its_language(page, language, word):
    app = open_page(page, lang=language)
    mounts = [element.proto for element in app.get("bidi_component")]
    (switch,) = (one for one in mounts if one.component_name == "attention_everything")
    data = json.loads(switch.json)
    assert data["strings"]["less"] == word
