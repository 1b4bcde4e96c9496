"""A class together, without a server: who is present, votes, and what each page is told."""

from dataclasses import replace

import pytest

from explorer.app.server import class_session
from explorer.app.server.class_session import ClassSession, Question, Screen, Seat

QUESTION = Question(("<bos>", "4"), ("1", "7", "9"))
VIEW = {"query": {"model": "reverse"}, "shown": {"step": 2}}


@pytest.fixture
def together() -> ClassSession:
    return ClassSession()


def sit(
    together: ClassSession, *, host: bool = False, guest: str = "", page: str = ""
) -> tuple[Seat, list[int]]:
    """A page with an open stream, and one entry for each time that it was woken."""
    woken: list[int] = []
    seat = Seat(together.admit(guest), "192.0.2.7", host, lambda: woken.append(1), page)
    together.join(seat)
    return seat, woken


def ask(together: ClassSession, question: Question | None = QUESTION) -> int:
    """Show a question; its number."""
    together.show(Screen(question=question))
    seat, _ = sit(together, host=True)
    told = together.message(seat)["question"]
    together.leave(seat)
    return told["number"] if told else 0


def test_a_late_guest_is_told_what_is_shown_now(together):
    early, woken = sit(together)
    assert together.message(early)["view"] is None
    together.show(Screen(view=VIEW))
    assert together.message(early)["view"] == VIEW
    late, _ = sit(together)
    assert together.message(late)["view"] == VIEW
    assert len(woken) == 3  # joined, shown, and joined by the other
    assert together.message(late)["present"] == 2


def test_the_present_are_counted_once_each_and_the_host_is_not(together):
    first, _ = sit(together)
    second_tab, _ = sit(together, guest=first.guest)
    assert second_tab.guest == first.guest
    host, _ = sit(together, host=True)
    assert together.message(host)["present"] == 1
    together.leave(first)
    assert together.message(host)["present"] == 1
    together.leave(second_tab)
    assert together.message(host)["present"] == 0


def test_a_guest_has_one_vote_and_may_change_it_until_the_reveal(together):
    number = ask(together)
    guest, _ = sit(together)
    host, _ = sit(together, host=True)
    assert together.vote(guest.guest, number, 0)
    assert together.vote(guest.guest, number, 2)
    assert together.message(host)["question"]["counts"] == [0, 0, 1]
    assert together.message(host)["question"]["answered"] == 1
    assert together.message(guest)["question"]["choice"] == 2
    together.show(Screen(question=replace(QUESTION, answer=2)))
    assert not together.vote(guest.guest, number, 0)
    assert together.message(guest)["question"]["choice"] == 2


def test_only_candidates_of_the_question_on_screen_count(together):
    number = ask(together)
    guest, _ = sit(together)
    host, _ = sit(together, host=True)
    for choice in (-1, 3, 10**9):
        assert not together.vote(guest.guest, number, choice)
    for wrong in (number - 1, number + 1):
        assert not together.vote(guest.guest, wrong, 0)
    assert not together.vote("nobody", number, 0)
    assert not together.vote(host.guest, number, 0)
    assert together.message(host)["question"]["answered"] == 0
    together.show(Screen())
    assert not together.vote(guest.guest, number, 0)


def test_guests_see_the_votes_of_others_and_the_answer_after_the_reveal(together):
    number = ask(together)
    guest, _ = sit(together)
    other, _ = sit(together)
    together.vote(other.guest, number, 1)
    before = together.message(guest)["question"]
    assert (before["counts"], before["answer"]) == (None, None)
    assert (before["answered"], before["asked"]) == (1, 2)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    after = together.message(guest)["question"]
    assert (after["counts"], after["answer"], after["number"]) == ([0, 1, 0], 1, number)


def test_each_guest_has_a_tally_of_their_own(together):
    right, _ = sit(together)
    wrong, _ = sit(together)
    silent, _ = sit(together)
    number = ask(together)
    together.vote(right.guest, number, 1)
    together.vote(wrong.guest, number, 0)
    for _ in range(3):  # the host publishes other steps, too
        together.show(Screen(view=VIEW, question=replace(QUESTION, answer=1)))
    tallies = [
        (together.message(seat)["right"], together.message(seat)["total"])
        for seat in (right, wrong, silent)
    ]
    assert tallies == [(1, 1), (0, 1), (0, 0)]


def test_a_question_that_is_hidden_again_is_asked_anew(together):
    number = ask(together)
    guest, _ = sit(together)
    together.vote(guest.guest, number, 1)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert ask(together) > number
    assert together.message(guest)["question"]["choice"] is None
    together.show(Screen())
    assert together.message(guest)["question"] is None


def test_without_a_host_guests_go_on_alone_and_the_question_is_closed(together):
    host, _ = sit(together, host=True)
    together.show(Screen(view=VIEW, question=QUESTION))
    guest, woken = sit(together)
    together.leave(host)
    assert not together.message(guest)["away"]  # it may be a reload
    woken.clear()
    together.miss(host)
    told = together.message(guest)
    assert (told["away"], told["question"], told["view"]) == (True, None, VIEW)
    assert woken
    back, _ = sit(together, host=True)
    assert together.message(back)["away"]  # until that page has shown what it has
    together.show(Screen(view=VIEW, question=QUESTION))
    assert not together.message(guest)["away"]


def test_a_host_who_is_back_is_not_missed(together):
    first, _ = sit(together, host=True)
    guest, _ = sit(together)
    together.leave(first)
    second, _ = sit(together, host=True)
    together.miss(first)
    assert not together.message(guest)["away"]
    together.leave(second)
    together.miss(first)  # the second one has only just left
    assert not together.message(guest)["away"]
    together.miss(second)
    assert together.message(guest)["away"]


def test_one_tab_of_a_host_leads_until_it_is_closed_or_another_takes_over(together):
    first, _ = sit(together, host=True, page="a")
    second, _ = sit(together, host=True, page="b")
    guest, _ = sit(together)
    assert not together.is_led_elsewhere("b")  # nothing is shown
    together.show(Screen(view=VIEW, page="a"))
    told = [together.message(seat)["elsewhere"] for seat in (first, second, guest)]
    assert told == [False, True, False]
    together.lead("b")
    assert together.is_led_elsewhere("a")
    together.leave(second)
    assert together.is_led_elsewhere("a")  # it may be a reload
    together.miss(second)
    assert not together.is_led_elsewhere("a")
    assert not together.message(guest)["away"]
    together.show(Screen(page="a"))
    assert not together.is_led_elsewhere("c")


def test_a_host_who_comes_back_in_another_tab_leads(together):
    host, _ = sit(together, host=True, page="a")
    together.show(Screen(view=VIEW, page="a"))
    together.leave(host)
    together.miss(host)
    assert not together.is_led_elsewhere("b")


def test_where_a_head_looks_is_another_question_than_what_comes_next(together):
    number = ask(together)
    asked = replace(QUESTION, kind="key", head="L1 H2", positions=(0, 1, 3))
    guest, _ = sit(together)
    together.vote(guest.guest, number, 1)
    assert ask(together, asked) > number
    told = together.message(guest)["question"]
    assert (told["kind"], told["head"], told["positions"]) == ("key", "L1 H2", (0, 1, 3))
    assert told["choice"] is None
    again = ask(together, replace(asked, head="L1 H3"))
    assert not together.vote(guest.guest, again, 3)  # three keys may be attended to
    assert together.vote(guest.guest, again, 2)


def test_a_guest_who_reconnects_keeps_vote_and_tally(together):
    number = ask(together)
    guest, _ = sit(together)
    together.vote(guest.guest, number, 1)
    together.leave(guest)
    back, _ = sit(together, guest=guest.guest)
    assert together.message(back)["question"]["choice"] == 1
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert together.message(back)["right"] == 1


def test_a_word_that_this_server_did_not_make_names_no_guest(together):
    assert together.admit("mallory") != "mallory"
    known = together.admit("")
    assert together.admit(known) == known


def test_streams_of_an_address_and_of_all_are_limited(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_OF_ADDRESS", 2)
    monkeypatch.setattr(class_session, "MOST_STREAMS", 3)
    for address in ("2001:db8::1", "2001:db8::2"):  # a visitor can choose the last 64 bits
        assert together.has_room(address)
        together.join(Seat(together.admit(""), address, False, lambda: None))
    assert not together.has_room("2001:db8::3")
    assert together.has_room("192.0.2.2")
    together.join(Seat(together.admit(""), "192.0.2.2", False, lambda: None))
    assert not together.has_room("192.0.2.3")


def test_a_class_of_forty_behind_one_address_has_room():
    assert class_session.MOST_OF_ADDRESS >= 3 * 40


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
    guest, _ = sit(together)
    together.vote(guest.guest, number, 1)
    together.leave(guest)
    other, _ = sit(together)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert together.message(other)["question"]["answered"] == 0


@pytest.mark.parametrize("others", [1, 9])
def test_a_guest_whose_stream_is_open_is_not_forgotten(together, others, monkeypatch):
    """However many come and go: the vote counts, and the answer is shown."""
    monkeypatch.setattr(class_session, "MOST_GUESTS", 2)
    number = ask(together)
    guest, _ = sit(together)
    for _ in range(others):
        together.leave(sit(together)[0])
    assert together.vote(guest.guest, number, 1)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    told = together.message(guest)
    assert (told["question"]["answered"], told["right"], told["total"]) == (1, 1, 1)
    assert together.admit(guest.guest) == guest.guest
    assert len(together._tallies) <= 3


def test_a_guest_who_is_forgotten_before_the_stream_opens_may_vote(together, monkeypatch):
    monkeypatch.setattr(class_session, "MOST_GUESTS", 1)
    number = ask(together)
    late = Seat(together.admit(""), "192.0.2.7", False, lambda: None, "")
    together.admit("")
    together.join(late)
    assert together.vote(late.guest, number, 1)
    together.show(Screen(question=replace(QUESTION, answer=1)))
    assert together.message(late)["total"] == 1


def test_the_end_wakes_all_and_lets_nobody_in(together):
    _, woken = sit(together)
    woken.clear()
    together.end()
    assert woken
    assert not together.has_room("192.0.2.1")
