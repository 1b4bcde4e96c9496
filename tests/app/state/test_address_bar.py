"""What the URL shows, and when it is followed."""

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from explorer.app.refused_parts import refused_parts
from explorer.app.server import fetch_route
from explorer.app.state import address_bar
from explorer.app.state import heads as heads_state
from explorer.app.state import visit as visit_state
from explorer.core.interventions import Interventions
from explorer.core.look import Look, Request, Selection, to_query
from explorer.model.known_models import KNOWN_MODELS
from tests.support.catalog_members import shipped

CATALOG = {"reverse": shipped("reverse", "123", task="reverse")}


class Query(dict):
    """As `st.query_params`, without a browser."""

    to_dict = dict.copy

    def from_dict(self, query: dict) -> None:
        self.clear()
        self.update(query)


@pytest.fixture(autouse=True)
def query(monkeypatch) -> Query:
    """A URL without a query, and a new session."""
    query = Query()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", query)
    return query


def write(language: str = "") -> None:
    permalink = heads_state.look()
    address_bar.write(permalink, visit_state.default_request(CATALOG), language)


def ask_for(text: str) -> None:
    visit_state.read_request({"model": "reverse", "text": text}, CATALOG)


def test_a_first_visit_opens_the_default_and_the_url_stays_without_a_query(query):
    address_bar.follow(CATALOG)
    assert visit_state.current() == Look(visit_state.default_request(CATALOG))
    write()
    assert query == {}
    visit_state.select(Selection("cross", 0, 1, 2))
    write()
    assert query["head"] == "1"


def test_what_this_session_wrote_is_not_followed(query):
    address_bar.follow(CATALOG)
    ask_for("3 2")
    write()
    ask_for("1 1")
    address_bar.follow(CATALOG)
    assert visit_state.current().request.text == "1 1"
    assert address_bar.times_followed() == 1


def test_the_back_button_is_followed(query):
    address_bar.follow(CATALOG)
    ask_for("3 2")
    write()
    before = dict(query)
    ask_for("1 1")
    write()
    query.from_dict(before)
    address_bar.follow(CATALOG)
    assert visit_state.current().request.text == "3 2"
    assert address_bar.times_followed() == 2


def test_everything_in_a_link_is_followed_and_written_again(query):
    interventions = Interventions.parse(["ablate cross.1.2"])
    request = Request("reverse", "1 2", 3, ((2, 4),), interventions)
    visit = Look(request, Selection("cross", 1, 2))
    link = to_query(replace(visit, section="metrics"))
    query.from_dict(link)
    address_bar.follow(CATALOG)
    assert visit_state.current() == visit
    assert heads_state.section() == "metrics"
    write("zh")
    assert query == link | {"lang": "zh"}


def test_a_link_to_a_model_that_can_be_fetched_names_it(query, monkeypatch):
    monkeypatch.setattr(fetch_route, "to_fetch", lambda: [*KNOWN_MODELS.values()])
    query.from_dict({"model": "gpt2", "pad": "99"})
    address_bar.follow(CATALOG)
    refused = address_bar.take_refused()
    assert sorted(refused or ()) == ["pad", "unfetched gpt2"]
    assert "“gpt2”, which is not fetched yet" in refused_parts(refused or (), "en")
    query.from_dict({"model": "gpt3"})
    address_bar.follow(CATALOG)
    assert address_bar.take_refused() == ("model",)


def test_refused_parameters_are_reported_once(query):
    query.from_dict({"pad": "99", "step": "x"})
    address_bar.follow(CATALOG)
    assert address_bar.take_refused() == ("pad", "step")
    assert address_bar.take_refused() is None


def test_a_section_that_is_gone_is_reported_once(query):
    query.from_dict({"part": "beam"})
    address_bar.follow(CATALOG)
    assert heads_state.section() == "overview"
    assert address_bar.take_moved() == "beam"
    assert address_bar.take_moved() is None
    query.from_dict({"part": "removal"})
    address_bar.follow(CATALOG)
    assert address_bar.take_moved() is None


def test_another_page_keeps_the_visit_behind_a_url_without_a_query(query):
    address_bar.enter("explore")
    address_bar.follow(CATALOG)
    ask_for("3 2")
    write()
    query.clear()
    address_bar.enter("heads")
    address_bar.follow(CATALOG)
    assert visit_state.current().request.text == "3 2"
    write()
    assert query["text"] == "3 2"
    query.clear()
    address_bar.enter("heads")  # a URL without a query on the same page: the Back button
    address_bar.follow(CATALOG)
    assert visit_state.current() == Look(visit_state.default_request(CATALOG))


def test_the_run_of_the_train_page_is_named_in_the_url(query):
    address_bar.write_run("runs/reverse-1")
    assert query == {"run": "runs/reverse-1"}
    assert address_bar.linked_run() == "runs/reverse-1"
    address_bar.write_run(None)
    assert address_bar.linked_run() is None


def test_a_page_is_entered_anew_after_another_page():
    entered = ("heads", "heads", "explore", "explore", "heads")
    assert [address_bar.enter(page) for page in entered] == [False, False, True, False, True]


class LeftError(Exception):
    """In place of what ends the run of a script that goes to another page."""


@pytest.fixture
def sent(monkeypatch, query) -> list[tuple[str, dict]]:
    """The pages that visitors were sent to, and with what; the URL then has it."""
    sent: list[tuple[str, dict]] = []

    def switch_page(page: Path, query_params: dict) -> None:
        sent.append((page.stem, query_params))
        query.from_dict(query_params)
        raise LeftError

    monkeypatch.setattr(st, "switch_page", switch_page)
    return sent


EXPLORE = Path("views/explore.py")
LINK = {"model": "reverse", "site": "decoder", "head": "1"}


def leave_train() -> None:
    address_bar.enter("train")
    with pytest.raises(LeftError):
        address_bar.open_query(EXPLORE, LINK)


def test_a_page_that_was_left_and_is_drawn_again_goes_on_and_writes_nothing(sent, query):
    leave_train()
    with pytest.raises(LeftError):
        address_bar.enter("train")  # Streamlit merged its timer with the change of the page
    assert sent == [("explore", LINK)] * 2
    assert query == LINK
    address_bar.enter("explore")
    assert sent == [("explore", LINK)] * 2


def test_a_visitor_who_comes_back_stays(sent, query):
    leave_train()
    address_bar.enter("explore")
    query.clear()
    address_bar.enter("train")
    leave_train()
    query.from_dict({"run": "runs/reverse-1"})  # Back, before Explore was drawn
    address_bar.enter("train")
    assert len(sent) == 2
