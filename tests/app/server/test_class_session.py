"""A class together, without a server: who is present, votes, and what each page is told."""

import json
from dataclasses import replace
from typing import Any

import pytest

from explorer.app.server import class_session, guest_limits
from explorer.app.server.class_session import ClassSession, Question, Screen, Seat
from explorer.components.class_curves_figure import Curve

QUESTION = Question(("<bos>", "4"), ("1", "7", "9"))
VIEW = {"query": {"model": "reverse", "step": "2"}}


@pytest.fixture
def changes() -> list[int]:
    """The version at each change that streams were told of."""
    return []


@pytest.fixture
def together(changes) -> ClassSession:
    session = ClassSession(lambda _: changes.append(session.version))
    return session


def sit(
    together: ClassSession,
    *,
    host: bool = False,
    guest: str = "",
    page: str = "",
    address: str = "192.0.2.7",
) -> Seat:
    """A page with an open stream."""
    seat = Seat(together.admit(guest), address, host, page)
    together.join(seat)
    return seat


def message(together: ClassSession, seat: Seat) -> dict[str, Any]:
    """What the page of a stream is told now."""
    return json.loads(together.message(seat))


def ask(together: ClassSession, question: Question | None = QUESTION) -> int:
    """Show a question; its number."""
    together.show(Screen(question=question))
    seat = sit(together, host=True)
    told = message(together, seat)["question"]
    together.leave(seat)
    return told["number"] if told else 0


def test_a_late_guest_is_told_what_is_shown_now(together, changes):
    early = sit(together)
    assert message(together, early)["view"] is None
    together.show(Screen(view=VIEW))
    assert message(together, early)["view"] == VIEW
    late = sit(together)
    assert message(together, late)["view"] == VIEW
    assert changes == [1, 2, 3]  # joined, shown, and joined by the other
    assert message(together, late)["present"] == 2


def test_the_present_are_counted_once_each_and_the_host_is_not(together):
    first = sit(together)
    second_tab = sit(together, guest=first.guest)
    assert second_tab.guest == first.guest
    host = sit(together, host=True)
    assert message(together, host)["present"] == 1
    together.leave(first)
    assert message(together, host)["present"] == 1
    together.leave(second_tab)
    assert message(together, host)["present"] == 0


def test_a_guest_has_one_vote_and_may_change_it_until_the_reveal(together):
    number = ask(together)
    guest = sit(together)
    host = sit(together, host=True)
    assert together.vote(guest.guest, number, 0)
    assert together.vote(guest.guest, number, 2)
    assert message(together, host)["question"]["counts"] == [0, 0, 1]
    assert message(together, host)["question"]["answered"] == 1
    assert message(together, guest)["question"]["choice"] == 2
    together.show(Screen(question=replace(QUESTION, answer=2)))
    assert not together.vote(guest.guest, number, 0)
    assert message(together, guest)["question"]["choice"] == 2


def test_only_candidates_of_the_question_on_screen_count(together):
    number = ask(together)
    guest = sit(together)
    host = sit(together, host=True)
    for choice in (-1, 3, 10**9):
        assert not together.vote(guest.guest, number, choice)
    for wrong in (number - 1, number + 1):
        assert not together.vote(guest.guest, wrong, 0)
    assert not together.vote("nobody", number, 0)
    assert not together.vote(host.guest, number, 0)
    assert message(together, host)["question"]["answered"] == 0
    together.show(Screen())
    assert not together.vote(guest.guest, number, 0)


def test_guests_see_the_votes_of_others_and_the_answer_after_the_reveal(together):
    number = ask(together)
    guest = sit(together)
    other = sit(together)
    together.vote(other.guest, number, 1)
    before = message(together, guest)["question"]
    assert (before["counts"], before["answer"]) == (None, None)
    assert (before["answered"], before["asked"]) == (1, 2)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    after = message(together, guest)["question"]
    assert (after["counts"], after["answer"], after["number"]) == ([0, 1, 0], 1, number)


def test_each_guest_has_a_tally_of_their_own(together):
    right = sit(together)
    wrong = sit(together)
    silent = sit(together)
    number = ask(together)
    together.vote(right.guest, number, 1)
    together.vote(wrong.guest, number, 0)
    for _ in range(3):  # the host publishes other steps, too
        together.show(Screen(view=VIEW, question=replace(QUESTION, answer=1)))
    tallies = [
        (message(together, seat)["right"], message(together, seat)["total"])
        for seat in (right, wrong, silent)
    ]
    assert tallies == [(1, 1), (0, 1), (0, 0)]


def test_a_question_that_is_hidden_again_is_asked_anew(together):
    number = ask(together)
    guest = sit(together)
    together.vote(guest.guest, number, 1)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert ask(together) > number
    assert message(together, guest)["question"]["choice"] is None
    together.show(Screen())
    assert message(together, guest)["question"] is None


CARD = replace(QUESTION, tokens=(), kind="card", prompt="Which token comes first?")


@pytest.mark.parametrize(("question", "counted"), [(QUESTION, 2), (CARD, 1)])
def test_the_vote_on_a_card_is_counted_once_for_each_guest(together, question, counted):
    """Also when the card is shown again; a step that is guessed again is another question."""
    guest, late = sit(together), sit(together)
    for choice, voters in ((1, [guest]), (0, [guest, late])):
        number = ask(together, question)
        for one in voters:
            assert together.vote(one.guest, number, choice)
        together.show(Screen(question=replace(question, answer=1)))
        together.show(Screen())
    told = [message(together, one) for one in (guest, late)]
    results = [(one["right"], one["total"]) for one in told]
    assert results == [(1, counted), (0, 1)]


def test_of_few_cards_is_remembered_who_was_counted(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_CARDS", 2)
    guest = sit(together)
    totals = []
    for prompt in ("a", "b", "a", "c", "a", "b"):  # "a" is counted again last; "b" is forgotten
        asked = replace(CARD, prompt=prompt)
        together.vote(guest.guest, ask(together, asked), 1)
        together.show(Screen(question=replace(asked, answer=1)))
        totals.append(message(together, guest)["total"])
    assert totals == [1, 2, 2, 3, 3, 4]


def test_a_guest_who_is_forgotten_is_counted_on_no_card(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_GUESTS", 1)
    guest = sit(together)
    together.vote(guest.guest, ask(together, CARD), 1)
    together.show(Screen(question=replace(CARD, answer=1)))
    together.leave(guest)
    together.admit("")
    assert not any(together._cards.values())


def test_a_question_on_which_nobody_could_vote_is_not_shown_with_its_answer(together):
    guest = sit(together)
    for before in (None, replace(QUESTION, candidates=("1", "7"))):
        ask(together, before)
        together.show(Screen(view=VIEW, question=replace(QUESTION, answer=1)))
        assert message(together, guest)["question"] is None
        assert message(together, guest)["view"] == VIEW


def test_without_a_host_guests_go_on_alone_and_the_question_is_closed(together, changes):
    host = sit(together, host=True)
    together.show(Screen(view=VIEW, question=QUESTION))
    guest = sit(together)
    together.leave(host)
    assert not message(together, guest)["away"]  # it may be a reload
    changes.clear()
    together.miss(host)
    told = message(together, guest)
    assert (told["away"], told["question"], told["view"]) == (True, None, VIEW)
    assert changes
    back = sit(together, host=True)
    assert message(together, back)["away"]  # until that page has shown what it has
    together.show(Screen(view=VIEW, question=QUESTION))
    assert not message(together, guest)["away"]


def test_a_host_who_is_back_is_not_missed(together):
    first = sit(together, host=True)
    guest = sit(together)
    together.leave(first)
    second = sit(together, host=True)
    together.miss(first)
    assert not message(together, guest)["away"]
    together.leave(second)
    together.miss(first)  # the second one has only just left
    assert not message(together, guest)["away"]
    together.miss(second)
    assert message(together, guest)["away"]


def test_one_tab_of_a_host_leads_until_it_is_closed_or_another_takes_over(together):
    first = sit(together, host=True, page="a")
    second = sit(together, host=True, page="b")
    guest = sit(together)
    assert not together.is_led_elsewhere("b")  # nothing is shown
    together.show(Screen(view=VIEW, page="a"))
    told = [message(together, seat)["elsewhere"] for seat in (first, second, guest)]
    assert told == [False, True, False]
    together.lead("b")
    assert together.is_led_elsewhere("a")
    together.leave(second)
    assert together.is_led_elsewhere("a")  # it may be a reload
    together.miss(second)
    assert not together.is_led_elsewhere("a")
    assert not message(together, guest)["away"]
    together.show(Screen(page="a"))
    assert not together.is_led_elsewhere("c")


def test_a_host_who_comes_back_in_another_tab_leads(together):
    host = sit(together, host=True, page="a")
    together.show(Screen(view=VIEW, page="a"))
    together.leave(host)
    together.miss(host)
    assert not together.is_led_elsewhere("b")


def test_where_a_head_looks_is_another_question_than_what_comes_next(together):
    number = ask(together)
    asked = replace(QUESTION, kind="key", head="L1 H2", positions=(0, 1, 3))
    guest = sit(together)
    together.vote(guest.guest, number, 1)
    assert ask(together, asked) > number
    told = message(together, guest)["question"]
    assert (told["kind"], told["head"], told["positions"]) == ("key", "L1 H2", [0, 1, 3])
    assert told["choice"] is None
    again = ask(together, replace(asked, head="L1 H3"))
    assert not together.vote(guest.guest, again, 3)  # three keys may be attended to
    assert together.vote(guest.guest, again, 2)


def test_a_guest_who_reconnects_keeps_vote_and_tally(together):
    number = ask(together)
    guest = sit(together)
    together.vote(guest.guest, number, 1)
    together.leave(guest)
    back = sit(together, guest=guest.guest)
    assert message(together, back)["question"]["choice"] == 1
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert message(together, back)["right"] == 1


def test_a_word_that_this_server_did_not_make_names_no_guest(together):
    assert together.admit("mallory") != "mallory"
    known = together.admit("")
    assert together.admit(known) == known


def test_streams_of_an_address_and_of_all_are_limited(together, monkeypatch):
    monkeypatch.setenv(guest_limits.VARIABLE, "2")
    monkeypatch.setattr(class_session, "MOST_STREAMS", 3)
    for address in ("2001:db8::1", "2001:db8::2"):  # a visitor can choose the last 64 bits
        assert together.has_room(address)
        together.join(Seat(together.admit(""), address, False))
    assert not together.has_room("2001:db8::3")
    assert together.has_room("192.0.2.2")
    together.join(Seat(together.admit(""), "192.0.2.2", False))
    assert not together.has_room("192.0.2.3")
    assert together.has_room("192.0.2.3", host=True)


def test_a_class_of_forty_behind_one_address_has_room():
    assert guest_limits.pages_of_address() >= 3 * 40


def test_few_guests_are_remembered(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_GUESTS", 3)
    first = together.admit("")
    for _ in range(3):
        together.admit("")
    assert len(together._tallies) == 3
    assert together.admit(first) != first


def test_a_guest_who_is_forgotten_is_not_counted(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_GUESTS", 1)
    number = ask(together)
    guest = sit(together)
    together.vote(guest.guest, number, 1)
    together.leave(guest)
    other = sit(together)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert message(together, other)["question"]["answered"] == 0


@pytest.mark.parametrize("others", [1, 9])
def test_a_guest_whose_stream_is_open_is_not_forgotten(together, others, monkeypatch):
    """However many come and go: the vote counts, and the answer is shown."""
    monkeypatch.setattr(class_session, "MOST_GUESTS", 2)
    number = ask(together)
    guest = sit(together)
    for _ in range(others):
        together.leave(sit(together))
    assert together.vote(guest.guest, number, 1)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    told = message(together, guest)
    assert (told["question"]["answered"], told["right"], told["total"]) == (1, 1, 1)
    assert together.admit(guest.guest) == guest.guest
    assert len(together._tallies) <= 3


def test_who_voted_is_forgotten_last(together, monkeypatch):
    """A phone that sleeps keeps its vote and its score while others open streams without end."""
    monkeypatch.setattr(class_session, "MOST_GUESTS", 3)
    number = ask(together)
    guest = sit(together)
    together.vote(guest.guest, number, 1)
    together.leave(guest)
    for _ in range(9):
        together.leave(sit(together))
    together.show(Screen(question=replace(QUESTION, answer=1)))
    for _ in range(9):
        together.leave(sit(together))
    back = Seat(together.admit(guest.guest), guest.address, False)
    told = message(together, back)
    assert (back.guest, told["right"], told["total"]) == (guest.guest, 1, 1)


def test_a_guest_who_is_forgotten_before_the_stream_opens_may_vote(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_GUESTS", 1)
    number = ask(together)
    late = Seat(together.admit(""), "192.0.2.7", False)
    together.admit("")
    together.join(late)
    assert together.vote(late.guest, number, 1)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert message(together, late)["total"] == 1


def test_the_end_wakes_all_and_lets_nobody_in(together, changes):
    together.end()
    assert changes == [1]
    assert not together.has_room("192.0.2.1")
    assert not together.has_room("192.0.2.1", host=True)


class Counted(dict[str, Any]):
    """A view that counts how often it is written."""

    written = 0

    def items(self):
        self.written += 1
        return super().items()


def test_what_all_guests_are_told_is_written_once_after_each_change(together):
    guests = [sit(together) for _ in range(30)]
    number = ask(together)
    view = Counted(VIEW)
    together.show(Screen(view=view, question=QUESTION))
    assert {together.message(guest) for guest in guests} == {together.message(guests[0])}
    assert view.written == 1
    together.vote(guests[7].guest, number, 2)
    choices = [message(together, guest)["question"]["choice"] for guest in guests]
    assert choices == [None] * 7 + [2] + [None] * 22
    assert view.written == 2


@pytest.mark.parametrize("answer", [None, 1])
@pytest.mark.parametrize("asked", [None, QUESTION])
def test_guests_and_hosts_are_told_the_same_facts(together, asked, answer):
    """A guest's message is put together from two parts; the host's is written as a whole."""
    host, guest = sit(together, host=True), sit(together)
    question = asked and replace(asked, answer=answer)
    for shown in (asked, question):
        together.show(Screen(view=VIEW, question=shown))
    of_host, of_guest = message(together, host), message(together, guest)
    assert (of_host.pop("host"), of_guest.pop("host")) == (True, False)
    if question:
        assert of_host["question"].pop("of_one_address") == 0
        if answer is None:
            of_host["question"]["counts"] = None
    assert of_guest == of_host


def test_an_address_casts_as_many_votes_as_it_may_open_streams(together, monkeypatch):
    """Also one that opens a stream, votes, and opens the next as another guest."""
    monkeypatch.setenv(guest_limits.VARIABLE, "2")
    number = ask(together)
    taken = []
    for _ in range(4):
        guest = sit(together, address="192.0.2.7")
        taken.append(together.vote(guest.guest, number, 1))
        together.leave(guest)
    assert taken == [True, True, False, False]
    assert together.vote(sit(together, address="192.0.2.8").guest, number, 1)


def test_the_host_sees_how_many_votes_came_from_one_address(together):
    number = ask(together)
    host = sit(together, host=True)
    many = [sit(together, address=f"2001:db8::{last}") for last in range(1, 6)]
    guests = [*many, sit(together, address="192.0.2.7"), sit(together, address="192.0.2.8")]
    for guest in guests:
        together.vote(guest.guest, number, 1)
    together.vote(many[0].guest, number, 2)  # a change is no further vote
    question = message(together, host)["question"]
    assert (question["of_one_address"], question["answered"]) == (5, 7)
    assert "of_one_address" not in message(together, guests[0])["question"]
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert message(together, host)["question"]["of_one_address"] == 5
    assert "of_one_address" not in message(together, guests[0])["question"]


def curve(seed: int, *, finished: bool = True) -> Curve:
    return Curve("copy", True, seed, ((25, 0.1),), ((0.5,),), finished)


def test_the_latest_curve_of_each_training_is_kept_and_of_many_those_heard_of_last(
    together, changes, monkeypatch
):
    monkeypatch.setattr(class_session, "MOST_CURVES", 2)
    first, second = curve(1), curve(2)
    for word, shared in (("a", first), ("b", first), ("a", second), ("c", first)):
        together.share(word, shared, "192.0.2.7")
    assert together.curves == {"a": second, "c": first}
    together.clear_curves()
    assert together.curves == {}
    assert changes == []  # the pages of guests are told of nothing


def test_a_guest_with_many_curves_loses_only_the_oldest_of_the_own_address(together):
    honest = {f"honest {number}": curve(number) for number in range(25)}
    for word, shared in honest.items():
        together.share(word, shared, "192.0.2.7")
    for number in range(320):  # a visitor can choose the last 64 bits
        together.share(f"made up {number}", curve(number), f"2001:db8::{number:x}")
    assert together.curves == honest | {f"made up {n}": curve(n) for n in range(290, 320)}


def test_a_curve_that_has_finished_is_forgotten_after_those_that_go_on(together, monkeypatch):
    monkeypatch.setenv(guest_limits.VARIABLE, "3")
    for word, finished in (("a", True), ("b", False), ("c", False), ("d", True), ("e", False)):
        together.share(word, curve(1, finished=finished), "192.0.2.7")
    assert list(together.curves) == ["a", "d", "e"]
    together.share("e", curve(1), "192.0.2.7")
    together.share("f", curve(1, finished=False), "192.0.2.7")
    assert list(together.curves) == ["a", "d", "e"]
    together.share("f", curve(1), "192.0.2.7")
    assert list(together.curves) == ["d", "e", "f"]
