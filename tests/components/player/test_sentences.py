from explorer.components.player.sentences import player_sentences
from explorer.core.i18n import LANGUAGES, section


def test_the_player_has_its_own_sentences_and_the_glossary_in_each_language():
    for language in LANGUAGES:
        own, glossary = section("player", language), section("glossary", language)
        assert player_sentences(language) == {**own, **glossary}
        assert not own.keys() & glossary.keys()
