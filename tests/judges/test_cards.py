from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from localscore.calibration import Calibration
from localscore.errors import CalibrationError, UnknownJudge
from localscore.judges.cards import Card, CardFile, Index, card_named, cards, find_card, read_tuning, tables

TOML = sorted((Path(__file__).parents[2] / "models").glob("*.toml"))
HEX = "0123456789abcdef" * 4


@pytest.mark.parametrize("path", TOML, ids=lambda path: path.stem)
def test_every_card_file_is_a_card_of_its_name(path: Path) -> None:
    card = Card.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    assert card.name == path.stem
    assert card in cards()


def test_every_card_has_a_file() -> None:
    assert sorted(card.name for card in cards()) == [path.stem for path in TOML]


def test_names_and_aliases_mean_one_card() -> None:
    names = [name for card in cards() for name in (card.name, *card.aliases)]
    assert len(names) == len(set(names))


def test_cards_come_smallest_first() -> None:
    sizes = [card.parameters for card in cards()]
    assert sizes == sorted(sizes)


def test_the_starter_is_known_by_its_alias_and_its_name() -> None:
    assert card_named("starter") is card_named("qwen2.5-coder-1.5b")


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
def test_every_file_is_pinned_by_its_sha256_or_by_a_commit(card: Card) -> None:
    commit = card.hub is not None and re.fullmatch(r"[0-9a-f]{40}", card.hub.revision)
    assert [file.path for file in card.files if file.sha256 is None and not commit] == []


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
def test_every_card_can_be_had_from_somewhere(card: Card) -> None:
    assert card.files
    assert card.hub or card.index
    # Packages are joined to one file, and only its sha256 says that they are what they should be.
    assert card.index is None or (len(card.files) == 1 and card.files[0].sha256)


@pytest.mark.parametrize(
    "wrong", ["", HEX[:-1], HEX + "0", HEX.upper(), "x" + HEX[1:], HEX + "\n", f"sha256:{HEX}"]
)
def test_a_sha256_has_64_small_hexadecimal_digits(wrong: str) -> None:
    assert CardFile(path="a", sha256=HEX).sha256 == HEX
    with pytest.raises(ValidationError, match="sha256"):
        CardFile(path="a", sha256=wrong)


@pytest.mark.parametrize(
    "changes", [{"licence": None}, {"license": "MIT"}, {"files": [{"path": "a", "size": 1}]}]
)
def test_a_card_with_a_wrong_word_is_refused(changes: dict[str, Any]) -> None:
    fields = card_named("starter").model_dump() | changes
    with pytest.raises(ValidationError):
        Card.model_validate(fields)


def test_requirements_are_numbered_from_one() -> None:
    index = Index(package="pkg-part{part}", version="1.0", parts=11, member="*.bin")
    assert index.requirements == [f"pkg-part{part}==1.0" for part in range(1, 12)]
    assert Index(package="pkg", version="2", member="*").requirements == ["pkg==2"]


def test_the_size_of_a_card_is_that_of_its_files() -> None:
    files = (CardFile(path="a.json"), CardFile(path="b.gguf", bytes=5), CardFile(path="c", bytes=6))
    card = card_named("starter").model_copy(update={"files": files})
    assert card.bytes == 11
    assert card.gguf == "b.gguf"
    assert card.model_copy(update={"files": files[:1]}).gguf is None


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("startr", "starter"),
        ("Starter", "starter"),
        ("qwen2.5-coder-1.5", "qwen2.5-coder-1.5b"),
        ("smollm2", "smollm2-135m"),
    ],
)
def test_an_unknown_name_suggests_a_near_one(name: str, near: str) -> None:
    with pytest.raises(UnknownJudge, match=re.escape(repr(name))) as caught:
        card_named(name)
    assert f"Did you mean {near!r}?" in caught.value.hint


@pytest.mark.parametrize("name", ["", "zzz", "/no/such/folder"])
def test_a_name_like_no_other_gets_the_list(name: str) -> None:
    assert find_card(name) is None
    with pytest.raises(UnknownJudge) as caught:
        card_named(name)
    assert "Did you mean" not in caught.value.hint
    assert all(card.name in caught.value.hint for card in cards())


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    told = {
        "relevance": Calibration(judge=(0.1, 0.0, -0.2), explained=4.1, cuts=(2.5, 1.0, -0.1), records=201),
        "usage": Calibration(judge=(1.5,), saved=0.02, overlap=3.0, cuts=(0.5,), prior=True),
    }
    path = tmp_path / "calibration.toml"
    path.write_text(tables("calibration", told))
    assert read_tuning(path).calibration == told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("calibration = 3", "calibration"),
        ("[calibration", "cannot be read"),
        ("calibrations = 3", "calibrations"),
        ("[calibration.claims]\njudge = [1.0]", "no calibration of 'claims'"),
        ("[calibration.usage]\njudge = [1.0, 2.0]", "a number for each value but the last"),
        ("[calibration.usage]\njudge = [nan]", "judge.0"),
        ("[calibration.relevance]\njudge = [1.0, 1.0]\ncuts = [0.0, 1.0]", "cuts have to fall"),
        ("[calibration.usage]\ncutoff = 1", "cutoff"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "calibration.toml"
    path.write_text(text)
    with pytest.raises(CalibrationError, match=message) as raised:
        read_tuning(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="nowhere"):
        read_tuning(tmp_path / "nowhere.toml")


def test_prompts_with_other_slots_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "localscore.toml"
    path.write_text('[prompts]\nusage = "Utilise-t-elle le texte ?"\n')
    with pytest.raises(CalibrationError, match=r"'usage'.*the slots, answer"):
        read_tuning(path)
    path.write_text('[prompts]\nus = "?"\n')
    with pytest.raises(CalibrationError, match=r"'us'.*expected all_contexts, attribution"):
        read_tuning(path)
    path.write_text('[prompts]\nusage = "{answer} : cela vient-il du texte ?"\n')
    assert read_tuning(path).prompts == {"usage": "{answer} : cela vient-il du texte ?"}
