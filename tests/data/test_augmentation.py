import re

import numpy as np
import pytest

from explorer.data.augmentation import Augmentation, language_of, random_number
from explorer.data.name_lists import word_classes
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


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_swapped_pair_has_the_same_new_name_and_number_on_both_sides():
    augmentation = Augmentation(FRENCH)
    seen = set()
    for seed in range(40):
        pair = augmentation.swapped(2, 1.0, generator(seed))
        (found,) = re.findall(
            r"^(?:Mr\.|Mrs\.|Ms\.|Miss|Dr\.|Uncle|Aunt)? ?(.+)'s .+ is (\d\d) ", pair.source
        )
        name, number = found
        assert pair.target.endswith(f"{name} a {number} ans.")
        seen.add(name)
    assert len(seen) > 30
    assert augmentation.swapped(2, 0.0, generator()) == FRENCH[2]
    assert augmentation.swapped(3, 1.0, generator()) == FRENCH[3]


@pytest.mark.parametrize("digits", ["7" * 18, "7" * 19, "7" * 40, "0" * 25])
def test_a_number_of_many_digits_keeps_their_count(digits):
    pair = Pair(f"Call {digits}.", f"Appelez {digits}.")
    new = Augmentation([*FRENCH, pair]).swapped(len(FRENCH), 1.0, generator())
    (number,) = re.findall(r"\d+", new.source)
    assert len(number) == len(digits)
    assert number != digits
    assert new.target == f"Appelez {number}."


def test_french_elides_before_a_vowel_and_english_does_not():
    augmentation = Augmentation(FRENCH)
    pairs = [
        augmentation.swapped(number, 1.0, generator(seed))
        for seed in range(60)
        for number in (1, 2)
    ]
    elided = [pair.target for pair in pairs if re.search(r"\b(d|qu)'[AEIOUÉÀÂ]", pair.target)]
    assert elided
    assert not [pair.target for pair in pairs if re.search(r"\b(de|que) [AEIOU]", pair.target)]


def test_an_elided_name_gives_its_vowel_back():
    augmentation = Augmentation([*FRENCH, Pair("Alice's book", "Le livre d'Alice")])
    targets = [augmentation.swapped(5, 1.0, generator(seed)).target for seed in range(40)]
    assert any(target.startswith("Le livre de ") for target in targets)
    assert not any(re.search(r"d'[BCDFGJKLMNPQRSTVWXZ]", target) for target in targets)


def test_beside_chinese_text_a_name_stands_in_characters_or_in_latin_letters():
    augmentation = Augmentation(CHINESE)
    pairs = [augmentation.swapped(1, 1.0, generator(seed)) for seed in range(40)]
    assert len({pair.source for pair in pairs}) > 10
    for pair in pairs:
        (chinese,) = re.findall("我在(.+)。", pair.source)
        (latin,) = re.findall("I am in (.+)\\.", pair.target)
        assert re.fullmatch(r"[\u4e00-\u9fff·]+", chinese) or chinese == latin


def test_copied_lines_are_equal_on_both_sides_but_for_the_script():
    for augmentation, chinese in ((Augmentation(FRENCH), False), (Augmentation(CHINESE), True)):
        pairs = [augmentation.copied(generator(seed)) for seed in range(300)]
        equal = [pair for pair in pairs if pair.source == pair.target]
        assert len(equal) == len(pairs) if not chinese else 40 < len(equal) < len(pairs)
        assert any(re.fullmatch(r"[\d :,-]+", pair.source) for pair in pairs)
        assert any("rain" in pair.source or "pleut" in pair.source for pair in pairs)


def test_choices_follow_the_generator():
    augmentation = Augmentation(FRENCH)
    assert augmentation.swapped(0, 1.0, generator(5)) == augmentation.swapped(0, 1.0, generator(5))
    assert augmentation.sample(1.0, 0.0, 3) == augmentation.sample(1.0, 0.0, 3)
    assert len(augmentation.sample(1.0, 0.0, 3)) == 3
    assert augmentation.sample(0.0, 0.0, 3) == []


def test_small_numbers_have_at_most_three_digits():
    random = generator()
    assert max(len(random_number(random, small=True)) for _ in range(300)) == 3
    assert max(len(random_number(random)) for _ in range(300)) == 5


ENGLISH = [
    Pair("I saw Tom at the station.", "J'ai vu Tom à la gare."),
    Pair("The color of the two doors is the same.", "La couleur des deux portes est la même."),
    Pair("It rains.", "Il dit qu'il pleut."),
]


def test_a_person_may_become_a_surname_with_a_title():
    augmentation = Augmentation(ENGLISH)
    pairs = [augmentation.swapped(0, 1.0, generator(seed)) for seed in range(300)]
    titled = [pair for pair in pairs if re.search(r"(Mr\.|Dr\.|Uncle) ", pair.source)]
    assert 5 < len(titled) < 40
    for pair in titled:
        (title, name) = re.findall(r"saw (\S+) (\S+) at", pair.source)[0]
        (french, same) = re.findall(r"vu (\S+) (\S+) à", pair.target)[0]
        assert name == same
        assert french in {"Mr.": ("M.", "Monsieur"), "Dr.": ("Dr",), "Uncle": ("Oncle",)}[title]


def test_a_word_becomes_another_of_its_class_in_both_languages():
    pairs = [*ENGLISH, Pair("The dog barks.", "Le chien aboie.")]
    turned = [Pair(pair.target, pair.source) for pair in pairs]
    seen = [Augmentation(pairs).swapped(3, 1.0, generator(seed)) for seed in range(150)]
    assert Pair("The horse barks.", "Le cheval aboie.") in seen
    assert len(set(seen)) == sum(
        words[1] != "" for words in word_classes()["animal"]
    )  # a word without a French form is never chosen
    seen = [Augmentation(turned).swapped(3, 1.0, generator(seed)) for seed in range(300)]
    assert Pair("Le cheval aboie.", "The horse barks.") in seen
    chinese = Augmentation(
        [
            Pair("今天是星期五。", "Today is Friday."),
            Pair("狗在花园里。", "A dog is in the garden."),
        ]
    )
    days = {chinese.swapped(0, 1.0, generator(seed)) for seed in range(100)}
    assert Pair("今天是星期二。", "Today is Tuesday.") in days
    assert len(days) == 7
    unknown = Augmentation([Pair("Der Freitag", "Friday"), Pair("vendredi", "Friday")])
    assert unknown.swapped(1, 1.0, generator()) == Pair("vendredi", "Friday")


def test_a_number_in_words_becomes_words_or_digits_on_both_sides():
    augmentation = Augmentation(ENGLISH)
    seen = set()
    for seed in range(200):
        pair = augmentation.swapped(1, 1.0, generator(seed))
        (english,) = re.findall(r"the ([\w-]+) doors", pair.source)
        (french,) = re.findall(r"des (.+) portes", pair.target)
        seen.add((english, french))
    assert {("twelve", "douze"), ("seven", "sept")} <= seen
    assert any(english.isdigit() and english == french for english, french in seen)
    assert all(english.isdigit() == french.isdigit() for english, french in seen)


def test_an_english_source_may_be_spelled_as_in_britain():
    augmentation = Augmentation(ENGLISH)
    assert "The colour of the" in augmentation.swapped(1, 1.0, generator()).source
    assert augmentation.swapped(1, 0.0, generator()) == ENGLISH[1]
    turned = Augmentation([Pair(pair.target, pair.source) for pair in ENGLISH])
    assert "The color of the" in turned.swapped(1, 1.0, generator()).target


def test_languages_are_told_by_their_words():
    assert language_of([pair.source for pair in ENGLISH]) == "en"
    assert language_of([pair.target for pair in ENGLISH]) == "fr"
    assert language_of([pair.source for pair in CHINESE]) == "zh"
    assert language_of(["Je suis une fille.", "Elle est dans le jardin."]) == "fr"
    assert language_of(["He is my friend.", "She and I are here."]) == "en"
    assert language_of(["Das ist gut.", "Guten Tag."]) == ""
    assert language_of([]) == ""
