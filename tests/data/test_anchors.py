import pytest

from explorer.data.anchors import Anchor, find_anchors, replaced
from explorer.data.parallel_corpus import Pair

FRENCH = [
    Pair("I saw Tom in Boston.", "J'ai vu Tom à Boston."),
    Pair("I know that Mary has three cats.", "Je sais que Marie a trois chats."),
    Pair("Tom's dog is 12 years old.", "Le chien de Tom a 12 ans."),
    Pair("It rains.", "Il pleut."),
    Pair("He says that it rains.", "Il dit qu'il pleut."),
]
CHINESE = [
    Pair("汤姆有三本书。", "Tom has three books."),
    Pair("我在北京。", "I am in Beijing."),
    Pair("下雨了。", "It rains."),
]


def test_anchors_occur_on_both_sides_in_the_form_of_each_language():
    assert find_anchors(FRENCH[0]) == (
        Anchor("city", "Boston", "Boston"),
        Anchor("male", *2 * ["Tom"]),
    )
    assert find_anchors(FRENCH[1]) == (
        Anchor("female", "Mary", "Marie"),
        Anchor("animals", "cats", "chats"),
        Anchor("number", "three", "trois"),
    )
    assert find_anchors(FRENCH[2]) == (
        Anchor("male", "Tom", "Tom"),
        Anchor("number", "12", "12"),
        Anchor("animal", "dog", "chien"),
    )
    assert find_anchors(CHINESE[0]) == (
        Anchor("male", "汤姆", "Tom"),
        Anchor("number", "三", "three"),
    )
    pair = Pair("He has twenty-three cats.", "Il a vingt-trois chats.")
    assert find_anchors(pair)[1:] == (Anchor("number", "twenty-three", "vingt-trois"),)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Tom came.", "Il est venu."),
        ("Tom likes Tom.", "Tom s'aime."),
        ("He came forty-two times.", "Il est venu soixante-deux fois."),  # not the number two
        ("He came 2 times, not three.", "Il est venu deux fois et pas trois."),  # which is which?
        ("We saw a piano.", "On a vu un piano."),  # one spelling: maybe neither language is known
        ("I saw 12 of 30.", "J'en ai vu 12."),
        ("他有二十三本书。", "He has three books."),
        ("Thomson came.", "Thomson est venu."),
    ],
)
def test_what_occurs_on_one_side_or_in_a_longer_word_is_not_an_anchor(source, target):
    assert find_anchors(Pair(source, target)) == ()


@pytest.mark.parametrize(
    ("new", "expected"),
    [("Anna", "le chat d'Anna"), ("Tom", "le chat de Tom"), ("onze", "le chat de onze")],
)
def test_de_loses_its_vowel_before_another_but_not_before_onze(new, expected):
    assert replaced("le chat de Paul", "Paul", new, elides=True) == expected
    assert replaced("le chat de Paul", "Paul", new, elides=False) == f"le chat de {new}"
