import numpy as np
import pytest

from explorer.model.huggingface.streams.turned_heads import Turn

T, HEADS, WIDTH = 5, 3, 8


def turned(given, size, halves, scale=1.0):
    """Each pair turned by a matrix of its own, position by position."""
    found = scale * given
    for position in range(T):
        for pair in range(size // 2):
            angle = position * 10_000.0 ** (-2 * pair / size)
            places = [pair, pair + size // 2] if halves else [2 * pair, 2 * pair + 1]
            matrix = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            for head in range(HEADS):
                found[position, head, places] = (
                    scale * np.array(matrix) @ given[position, head, places]
                )
    return found


@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize(("size", "scale"), [(8, 1.0), (4, 1.0), (8, 0.35), (0, 0.35)])
def test_a_turn_is_found_from_what_it_makes_and_is_linear(halves, size, scale):
    random = np.random.default_rng(3)
    given, part = random.normal(size=(2, T, HEADS, WIDTH))
    found = Turn.measured(given, turned(given, size, halves, scale))
    assert found is not None
    for head in range(HEADS):
        expected = turned(part, size, halves, scale)[:, head]
        np.testing.assert_allclose(found.of(part[:, head]), expected, atol=1e-9)
        some = slice(2, 4)
        np.testing.assert_allclose(found.of(part[some, head], some), expected[some], atol=1e-9)


def test_what_is_no_turn_is_refused():
    random = np.random.default_rng(4)
    given, other = random.normal(size=(2, T, HEADS, WIDTH))
    assert Turn.measured(given, other) is None
    normed = given / np.linalg.norm(given, axis=-1, keepdims=True)
    assert Turn.measured(given, normed) is None
    assert Turn.measured(given, given[..., ::-1]) is None  # of equal length
    assert Turn.measured(np.zeros_like(given), other) is None
