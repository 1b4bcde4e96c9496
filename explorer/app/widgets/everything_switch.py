"""The switch between Simple and Everything, in the header of all pages. The style sheets of the
page and of the components say what it hides; the browser remembers it."""

from explorer.app.component import component
from explorer.components.payload import pack_payload
from explorer.core.i18n import section


def everything_switch(language: str) -> None:
    sentences = section("player", language)
    strings = {key: sentences[key] for key in ("everything", "less", "everything_title")}
    data = pack_payload({"language": language, "strings": strings}, {})
    component("everything")(key="everything", data=data, width="content")
