from explorer.app.server import loading_page
from explorer.core.i18n import LANGUAGES, say


def test_it_says_in_each_language_that_the_page_loads_and_brings_the_style_sheet():
    html = loading_page.element().decode()
    for language in LANGUAGES:
        assert f'<p lang="{language}">{say("explore.loading", language)}</p>' in html
    notice = html.partition('<div class="script-missing" role="alert" hidden>')[2]
    for language in LANGUAGES:
        assert f'<p lang="{language}">{say("explore.script_missing", language)}</p>' in notice
    assert "body:has(.stElementContainer) > .loading-page { display: none; }" in html
