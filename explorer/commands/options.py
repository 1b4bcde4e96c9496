"""Options that are several words."""


def words(text: str) -> tuple[str, ...]:
    """The words of an option, with spaces or commas between them."""
    return tuple(text.replace(",", " ").split())
