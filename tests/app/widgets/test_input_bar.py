from streamlit.testing.v1 import AppTest

from explorer.core.look import Look, Request
from tests.support.app_pages import chosen_in


def page() -> None:
    """The bar for two models and a trace, and the hint."""
    from explorer.app.widgets.notes import hint

    from explorer.app.state import session
    from explorer.app.state import visit as visit_state
    from explorer.app.widgets.input_bar import input_bar
    from explorer.core.look import Look, Request
    from explorer.model.catalog import UploadedTrace
    from tests.support.catalog_members import shipped
    from tests.support.small_trace import small_trace

    catalog = {
        "reverse": shipped("reverse", "123", task="reverse", credit="**Drawn** by hand"),
        "sentences": shipped("sentences", sentences=("A cat.",)),
        "upload": UploadedTrace("upload", "stamp", small_trace()),
        "long": UploadedTrace("a name that is too long for its box", "stamp", small_trace()),
    }
    if session.find(Look) is None:
        session.save(Look(Request("reverse", "1 2", 2)))
    input_bar(catalog, "en")
    request = visit_state.current().request
    hint(catalog[request.model], request, small_trace(), "en")


def visit(app: AppTest) -> Look:
    assert not app.exception
    return app.session_state["Look"]


def test_the_bar_shows_the_request():
    app = AppTest.from_function(page).run()
    assert chosen_in(app.selectbox, "model-en").value == "reverse"
    assert chosen_in(app.text_input, "source-en").value == "1 2"
    assert chosen_in(app.text_input, "source-en").placeholder.endswith("1 2 3")
    assert chosen_in(app.selectbox, "pad-en").value == 2


def test_what_is_typed_and_chosen_becomes_the_request():
    app = AppTest.from_function(page).run()
    app = chosen_in(app.text_input, "source-en").set_value("3 1").run()
    app = chosen_in(app.selectbox, "pad-en").set_value(4).run()
    assert visit(app).request == Request("reverse", "3 1", 4)
    app = chosen_in(app.selectbox, "model-en").set_value("sentences").run()
    assert visit(app).request.model == "sentences"
    assert chosen_in(app.text_input, "source-en").placeholder != ""
    assert "1 2 3" not in chosen_in(app.text_input, "source-en").placeholder


def test_random_asks_for_another_text_of_known_symbols():
    app = AppTest.from_function(page).run()
    app = app.button(key="random").click().run()
    text = visit(app).request.text
    assert len(text.split()) >= 3
    assert set(text.split()) <= set("123")


def test_a_trace_is_shown_and_cannot_be_asked_for_another_text():
    app = AppTest.from_function(page).run()
    app = chosen_in(app.selectbox, "model-en").set_value("upload").run()
    assert visit(app).request.model == "upload"
    (text,) = app.text_input
    assert text.disabled
    assert text.value == "a b"
    assert app.button(key="random").disabled
    assert chosen_in(app.selectbox, "pad-en").disabled
    (shown,) = app.caption  # on a phone alone, where the list cuts it
    assert shown.value.startswith("upload")


def test_a_name_that_is_cut_in_the_list_is_shown_whole_beside_it():
    app = AppTest.from_function(page).run()
    (shown,) = chosen_in(app.selectbox, "model-en").set_value("long").run().caption
    assert shown.value.startswith("a name that is too long for its box")


def test_what_a_model_does_and_its_credit_are_shown_literally():
    (shown,) = AppTest.from_function(page).run().caption
    assert "**Drawn**" not in shown.value
    assert shown.value.replace("\\", "") == (
        "This model writes symbols in reverse order. **Drawn** by hand"
    )


def test_a_text_in_a_script_that_a_translator_has_not_seen_is_said_to_mean_nothing():
    app = AppTest.from_function(page).run()
    app = chosen_in(app.selectbox, "model-en").set_value("sentences").run()
    app = chosen_in(app.text_input, "source-en").set_value("A dog.").run()
    assert not any("Chinese" in caption.value for caption in app.caption)
    app = chosen_in(app.text_input, "source-en").set_value("猫在睡觉。").run()
    assert any("never saw Chinese" in caption.value for caption in app.caption)
