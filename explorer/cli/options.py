"""Options that are several words."""


def words(text: str) -> tuple[str, ...]:
    """The words of an option, between commas, or without any between spaces."""
    return tuple(word.strip() for word in (text.split(",") if "," in text else text.split()))
