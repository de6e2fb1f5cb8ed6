from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from localscore.errors import NotANumber
from localscore.judges import writing
from localscore.judges.writing import Draft, write

END = 0


class Sentence:
    """A grammar in which 5 must follow 4, 9 is never legal, and the end may come at any other time."""

    def __init__(self) -> None:
        self.tokens: list[int] = []

    def consume_token(self, token: int) -> bool:
        self.tokens.append(token)
        return True

    def validate_tokens(self, tokens: list[int]) -> int:
        return next((i for i, token in enumerate(tokens) if token == 9), len(tokens))

    def compute_ff_tokens(self) -> list[int]:
        return [5] if self.tokens[-1:] == [4] else []

    def compute_logit_bias(self) -> bytes:
        return bytes([200] * 9 + [0])

    def is_accepting(self) -> bool:
        return self.tokens[-1:] == [END]


class Model:
    """Prefers a certain text, and counts how often it is asked."""

    def __init__(self, text: Sequence[int]) -> None:
        self.text = list(text)
        self.read: list[int] = []
        self.passes = 0

    def __call__(self, tokens: Sequence[int], *, places: int, drop: int) -> torch.Tensor:
        self.passes += 1
        del self.read[len(self.read) - drop :]
        self.read += tokens
        ends = range(len(self.read) - places + 1, len(self.read) + 1)
        return torch.stack([self.scores(end) for end in ends])

    def scores(self, place: int) -> torch.Tensor:
        right = self.read[:place] == self.text[:place]
        token = self.text[place] if right and place < len(self.text) else 8
        return torch.nn.functional.one_hot(torch.tensor(token), 10).float()


def written(model: Model, prompt: Sequence[int], room: int = 99) -> list[int] | None:
    return write(Sentence(), model.scores(0), model, prompt, room)


TEXT = [3, 1, 2, 4, 5, 6, 7, 1, 2, 4, 5, 6, 3, 3, END]


@pytest.mark.parametrize(
    "prompt", [[], [1, 2, 4, 5, 6, 7], [6, 7, 1, 8, 8, 8, 8, 8], TEXT, [9, 9, 3, 9, 1, 9]]
)
def test_a_draft_never_changes_what_is_written(prompt: list[int]) -> None:
    assert written(Model(TEXT), prompt) == TEXT


def test_what_stands_in_the_prompt_is_written_in_fewer_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    drafted, plain = Model(TEXT), Model(TEXT)
    written(drafted, TEXT)
    monkeypatch.setattr(writing, "DRAFT", 0)
    written(plain, TEXT)
    # One token a pass after the first, which is free, but for 5 after 4, which is forced.
    assert plain.passes == len(TEXT) - 1 - 2
    assert drafted.passes <= 4


def test_what_was_read_in_the_end_is_what_was_written() -> None:
    model = Model(TEXT)
    written(model, [3, 1, 8, 8, 8, 1, 2, 4, 5, 1, 1, 1])
    assert model.read[: len(TEXT) - 1] == TEXT[: len(model.read)][: len(TEXT) - 1]


def test_what_is_not_legal_is_not_written_even_if_it_is_most_probable() -> None:
    first = write(Sentence(), torch.tensor([0.0, 1, 2, 3, 0, 0, 0, 0, 0, 9]), Model([3, END]), [], 99)
    assert first == [3, END]


def test_a_text_that_does_not_end_in_its_room_is_no_verdict() -> None:
    assert written(Model([1, 2, 3] * 50), [1, 2, 3], room=20) is None


def test_scores_that_are_no_numbers_are_no_verdict() -> None:
    with pytest.raises(NotANumber):
        write(Sentence(), torch.full((10,), torch.nan), Model([]), [], 99)


def test_a_draft_goes_on_from_the_longest_match() -> None:
    draft = Draft([1, 2, 3, 7, 7, 2, 3, 8, 8])
    for token in (1, 2, 3):
        draft.append(token)
    assert draft.next()[:2] == [7, 7]


def test_of_equal_matches_the_latest_counts() -> None:
    draft = Draft([5, 1, 6, 5, 2, 6])
    draft.append(5)
    assert draft.next()[0] == 2


def test_what_was_never_seen_has_no_draft() -> None:
    draft = Draft([1, 2, 3])
    draft.append(4)
    assert draft.next() == []
