"""Messages → text, by the chat template of a model, which the library renders in a sandbox."""

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.core.errors import ConfigError
from explorer.core.vocabulary import LONGEST_TEXT, shorten
from explorer.model.huggingface.library_errors import reason_of

Message = Mapping[str, str]
"""role: "user", "assistant", "system" or another role of the template; content: its text."""


def chat_text(tokenizer: Any, messages: Sequence[Message]) -> str:
    """The text of `messages`, followed by the beginning of the model's answer.

    Raises `ConfigError` without a template, if `messages` are not messages, and if the template
    refuses them or makes too long a text.
    """
    if not has_template(tokenizer):
        raise ConfigError("no_chat_template")
    checked = _checked(messages)
    try:
        text = tokenizer.apply_chat_template(checked, tokenize=False, add_generation_prompt=True)
    except Exception as error:  # a template raises errors of its own
        raise ConfigError("template_refuses", reason=reason_of(error)) from error
    if len(text) > LONGEST_TEXT:
        raise ConfigError("long_chat", limit=LONGEST_TEXT)
    return str(text)


def has_template(tokenizer: Any) -> bool:
    """Whether a tokenizer has a template, or a default one of several."""
    listed = getattr(tokenizer, "chat_template", None)
    return bool(listed.get("default") if isinstance(listed, Mapping) else listed)


def _checked(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Copies of the messages. Raises `ConfigError` unless they are a list of texts with roles."""
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence) or not messages:
        raise ConfigError("bad_messages", got=shorten(repr(messages)))
    for one in messages:
        texts = one.values() if isinstance(one, Mapping) else (None,)
        if not all(isinstance(text, str) for text in texts) or not {"role", "content"} <= set(one):
            raise ConfigError("bad_messages", got=shorten(repr(one)))
    if sum(1 + sum(map(len, one.values())) for one in messages) > LONGEST_TEXT:
        raise ConfigError("long_chat", limit=LONGEST_TEXT)
    return [dict(one) for one in messages]
