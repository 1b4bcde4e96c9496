"""Examples that a test in Python and one in TypeScript read, so that both languages agree."""

import json
from pathlib import Path
from typing import Any


def shared_examples(name: str) -> Any:
    """The examples in `NAME_examples.json`."""
    file = Path(__file__).with_name(f"{name}_examples.json")
    return json.loads(file.read_text(encoding="utf-8"))
