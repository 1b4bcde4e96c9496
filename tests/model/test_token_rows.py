import torch

from explorer.model.token_rows import TokenKind, TokenRows, teacher_forced

CONTENT, SPECIAL, END, PADDING = TokenKind


def kind(token):
    return {1: SPECIAL, 2: END}.get(token, CONTENT)


def test_padding_is_known_by_its_place_not_by_its_id():
    """Some models pad with the token that ends a text."""
    rows = TokenRows.of([[1, 7, 8, 2], [7, 2]], kind, padding=2)
    assert rows.ids.tolist() == [[1, 7, 8, 2], [7, 2, 2, 2]]
    assert rows.real.tolist() == [[True] * 4, [True, True, False, False]]
    assert rows.ends.tolist() == [[False, False, False, True], [False, True, False, False]]
    assert rows.special.tolist() == [[True, False, False, True], [False, True, True, True]]
    assert rows.content_numbers.tolist() == [[-1, 0, 1, -1], [0, -1, -1, -1]]
    assert rows.lengths.tolist() == [4, 2]


def test_rows_are_chosen_without_the_padding_of_all():
    rows = TokenRows.of([[1, 7, 8, 2], [7, 2], [8]], kind, padding=0)
    some = rows.chosen(torch.tensor([2, 1]))
    assert some.ids.tolist() == [[8, 0], [7, 2]]
    assert some.kinds.tolist() == [[CONTENT, PADDING], [CONTENT, END]]
    assert some.repeated(2).ids.tolist() == [[8, 0], [7, 2], [8, 0], [7, 2]]
    assert len(TokenRows.of([], kind, 0)) == 0


def test_a_text_predicts_its_own_next_tokens():
    rows = TokenRows.of([[7, 8, 2], [9]], kind, padding=2).shifted()
    assert rows.ids[0, :2].tolist() == [8, 2]
    assert rows.real.tolist() == [[True, True, False], [False, False, False]]


def test_a_decoder_is_fed_all_but_the_last_token():
    target = TokenRows.of([[1, 7, 8, 2], [1, 2]], kind, padding=0)
    queries, labels = teacher_forced(target, 0)
    assert queries.ids.tolist() == [[1, 7, 8], [1, 0, 0]]
    assert queries.kinds.tolist() == [[SPECIAL, CONTENT, CONTENT], [SPECIAL, PADDING, PADDING]]
    assert labels.ids.tolist() == [[7, 8, 2], [2, 0, 0]]
    assert labels.real.tolist() == [[True] * 3, [True, False, False]]
