from __future__ import annotations

import logging
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import localscore as ls
from localscore import engine, inquiries
from localscore.cache import CachedJudge, VerdictCache, cache_path, cached, store
from localscore.errors import OutputTruncated, VerdictError
from localscore.inquiries import Inquiry
from localscore.judges.scripted import ScriptedJudge
from localscore.results import Judgment
from tests.conftest import VERDICTS, sample, scripted
from tests.noted_run import answer

LEVELS = [inquiries.relevance(f"Who opened bridge {i}?", "Ann.") for i in range(40)]
CLAIMS = inquiries.claims("Ann opened it.")


def asked_of(path: Path, judge: ScriptedJudge, asked: Sequence[Inquiry[Any]]) -> list[Any]:
    with cached(judge, path) as keeping:
        return list(keeping.decide(asked))


def varied() -> ScriptedJudge:
    return ScriptedJudge(answer)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A cache that holds the answers to `LEVELS`."""
    asked_of(tmp_path / "verdicts.sqlite", varied(), LEVELS)
    return tmp_path / "verdicts.sqlite"


def test_what_is_kept_is_not_asked_and_comes_in_order(path: Path) -> None:
    more = [inquiries.usage("Who?", "Ann.", f"{i}") for i in range(3)]
    mixed: list[Inquiry[Any]] = [more[0], *LEVELS[:2], more[1], LEVELS[2], more[2]]
    judge = varied()
    assert asked_of(path, judge, mixed) == list(varied().decide(mixed))
    assert judge.asked == more


def test_a_judge_is_left_alone_where_everything_is_kept(path: Path) -> None:
    class Asleep(ScriptedJudge):
        def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
            raise AssertionError("It would be loaded now.")

    assert asked_of(path, Asleep(answer), LEVELS) == list(varied().decide(LEVELS))


def test_an_answer_is_kept_before_the_next_one_is_given(tmp_path: Path) -> None:
    def stopped(inquiry: Inquiry[Any]) -> Any:
        if inquiry == LEVELS[3]:
            raise KeyboardInterrupt
        return answer(inquiry)

    with pytest.raises(KeyboardInterrupt):
        asked_of(tmp_path / "v", ScriptedJudge(stopped), LEVELS)
    judge = varied()
    asked_of(tmp_path / "v", judge, LEVELS)
    assert judge.asked == LEVELS[3:]


def test_what_is_asked_together_still_is_where_a_part_of_it_is_kept(tmp_path: Path) -> None:
    level, used = inquiries.together(
        inquiries.relevance("Who?", "Ann."), inquiries.usage("Who?", "Ann.", "A")
    )
    asked_of(tmp_path / "v", varied(), [level])
    judge = varied()
    assert asked_of(tmp_path / "v", judge, [level, used]) == list(varied().decide([level, used]))
    assert judge.asked == [used]
    assert judge.asked[0].beside == level.beside


@pytest.mark.parametrize(
    "change",
    [
        lambda inquiry: replace(inquiry, chunks=(*inquiry.chunks[:-1], "Is it so?")),
        lambda inquiry: inquiries.relevance("Who opened bridge 0?", "Ann. "),
        lambda inquiry: inquiries.together(
            inquiry, replace(inquiry, chunks=(*inquiry.chunks[:-1], "Is it?"))
        )[0],
    ],
)
def test_whatever_is_sent_makes_another_verdict(path: Path, change: Callable[[Any], Any]) -> None:
    judge = varied()
    asked_of(path, judge, [change(LEVELS[0])])
    assert len(judge.asked) == 1


def test_another_judge_or_more_room_is_asked_anew(path: Path) -> None:
    other = ScriptedJudge(answer, name="other")
    asked_of(path, other, LEVELS[:1])
    assert len(other.asked) == 1
    judge = scripted()
    asked_of(path, judge, [CLAIMS])
    asked_of(path, judge, [replace(CLAIMS, room=2 * CLAIMS.room)])
    asked_of(path, judge, [CLAIMS])
    assert len(judge.asked) == 2


@pytest.mark.parametrize(
    "said",
    [
        "no JSON",
        Judgment(verdict={"level": "huge"}),
        Judgment(verdict={"level": "high"}, probabilities={"high": float("nan")}),
        Judgment(verdict={"level": "high"}, probabilities={"high": 1.0}),
    ],
)
def test_only_what_answers_the_question_is_kept(path: Path, said: Any) -> None:
    judge = ScriptedJudge(lambda inquiry: said)
    wrong = [inquiries.relevance("What?", "Ann.")]
    asked_of(path, judge, wrong)
    asked_of(path, judge, wrong)
    assert len(judge.asked) == 2


def test_a_cut_verdict_is_not_kept_but_the_one_with_more_room_is(tmp_path: Path) -> None:
    rooms: list[int] = []

    def answer(inquiry: Inquiry[Any]) -> Any:
        if inquiry.question == "claims":
            rooms.append(inquiry.room)
            if inquiry.room < 500:
                raise OutputTruncated("cut")
        return VERDICTS[inquiry.question]

    results = []
    for _ in range(2):
        with cached(ScriptedJudge(answer), tmp_path / "v") as judge:
            results += list(engine.run([sample()], [ls.ContextRecall()], judge))
    assert results[0] == results[1]
    assert [room > 500 for room in rooms] == [False, True, False]


@pytest.mark.parametrize("given", [1, 3])
def test_answers_of_which_it_cannot_be_known_what_they_belong_to_are_not_kept(path: Path, given: int) -> None:
    class Miscounting(ScriptedJudge):
        def decide(self, inquiries: Sequence[Inquiry[Any]]) -> Iterator[Judgment | VerdictError]:
            yield from list(super().decide([*inquiries, *inquiries]))[:given]

    new = [inquiries.relevance("What?", f"{i}") for i in range(2)]
    assert len(asked_of(path, Miscounting(answer), new)) == given
    judge = varied()
    asked_of(path, judge, new)
    assert judge.asked == new


def test_it_says_who_judges_and_what_it_cost(path: Path) -> None:
    class Wide(ScriptedJudge):
        samples_at_once = 64

    inner = Wide(answer)
    with cached(inner, path) as judge:
        assert isinstance(judge, CachedJudge)
        assert (judge.identity, judge.tokens, judge.samples_at_once) == (inner.identity, inner.tokens, 64)
        list(judge.decide(LEVELS))
    assert inner.tokens.cached == len(LEVELS)


def test_a_run_tells_how_many_verdicts_came_from_the_cache(tmp_path: Path) -> None:
    rows = [{"query": "Who?", "contexts": ["Ann ran.", "Bob."], "answer": "Ann.", "ground_truth": "Ann ran."}]
    counts = []
    for name in ("one", "two"):
        judge = scripted()
        ls.score(rows, judge=judge, out=tmp_path / name, cache=tmp_path / "v")
        counts.append((len(judge.asked), ls.load_run(tmp_path / name).manifest.cached))
    [(asked, none), (nothing, kept)] = counts
    assert (none, nothing, kept) == (0, 0, asked)


def test_a_full_disk_is_told_once_and_what_is_kept_is_still_read(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(VerdictCache(path)) as cache:
        assert cache._store is not None
        cache._store._database.execute("PRAGMA max_page_count = 1")  # which SQLite takes for a full disk
        judge = varied()
        more = [inquiries.relevance("What?", f"{i}" * 50) for i in range(100)]
        answers = list(CachedJudge(judge, cache).decide([*more, *LEVELS]))
    assert answers == list(varied().decide([*more, *LEVELS]))
    assert judge.asked == more
    [told] = [record.getMessage() for record in caplog.records]
    assert "disk is full" in told
    assert "No more verdicts are kept" in told


def test_a_cache_that_stays_locked_is_gone_on_without(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.01)
    more = [inquiries.relevance("What?", f"{i}") for i in range(3)]
    with closing(VerdictCache(path)) as cache, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert list(CachedJudge(varied(), cache).decide(more)) == list(varied().decide(more))
    assert [record.getMessage() for record in caplog.records] == [
        f"The cache {str(path)!r} cannot be used: database is locked. No more verdicts are kept."
    ]


def altered(sql: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database:
            database.executescript(sql)

    return damage


def overwritten(at: float, by: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        place = int(at * len(content))
        content[place : place + len(by)] = by
        path.write_bytes(content)

    return damage


def resealed(path: Path) -> None:
    """Put a verdict that does not validate into a row, with a check that is right."""
    with closing(sqlite3.connect(path)) as database:
        for [key] in database.execute("SELECT key FROM verdicts").fetchall():
            wrong = b'{"verdict": {"level": "huge"}}'
            database.execute(
                "UPDATE verdicts SET judgment = ?, mark = ? WHERE key = ?",
                [wrong, store._mark(key, wrong), key],
            )
        database.commit()


ONE_FOR_ALL = "UPDATE verdicts SET (judgment, mark) = (SELECT judgment, mark FROM verdicts LIMIT 1)"


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text("These are not the verdicts.\n" * 100),
        lambda path: path.write_bytes(b"\xff\xff"),
        lambda path: path.write_bytes(path.read_bytes()[:6000]),
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        overwritten(0, b"\0" * 16),
        overwritten(0.2, b"\xee" * 3000),
        overwritten(0.8, bytes(range(256)) * 8),
        altered("PRAGMA user_version = 99"),
        altered("DROP TABLE verdicts"),
        altered("ALTER TABLE verdicts RENAME COLUMN judgment TO verdict"),
        altered("UPDATE verdicts SET judgment = replace(judgment, 'high', 'none')"),
        altered("UPDATE verdicts SET judgment = 7"),
        altered(ONE_FOR_ALL),
        resealed,
    ],
)
def test_a_damaged_cache_is_set_aside_with_a_message_and_a_new_one_begun(
    path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    damage(path)
    damaged = path.read_bytes()
    judge = varied()
    assert asked_of(path, judge, LEVELS) == list(varied().decide(LEVELS))
    assert judge.asked
    [told] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "set aside as verdicts.sqlite.damaged" in told
    assert path.with_name("verdicts.sqlite.damaged").read_bytes() == damaged
    caplog.clear()
    again = varied()
    asked_of(path, again, LEVELS)
    asked_of(path, again, LEVELS)
    assert len(again.asked) < len(LEVELS)
    assert caplog.records == []


def test_no_flipped_byte_anywhere_makes_another_verdict(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole, expected, draw = path.read_bytes(), list(varied().decide(LEVELS)), random.Random(5)
    aside = 0
    for _ in range(60):
        content = bytearray(whole)
        for place in draw.sample(range(len(whole)), draw.choice([1, 1, 20])):
            content[place] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
        assert asked_of(path, varied(), LEVELS) == expected
        for left in path.parent.glob("verdicts.sqlite*"):
            aside += left.name.endswith(".damaged")
            left.unlink()
    assert aside > 10


def test_another_programs_database_is_left_alone(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    theirs = path.with_name("theirs.sqlite")
    altered("CREATE TABLE accounts (name TEXT); INSERT INTO accounts VALUES ('Ann')")(theirs)
    before = theirs.read_bytes()
    assert asked_of(theirs, varied(), LEVELS) == list(varied().decide(LEVELS))
    assert theirs.read_bytes() == before
    assert [record.getMessage() for record in caplog.records] == [
        f"{str(theirs)!r} is a database of another program. Judging goes on without it."
    ]


def test_a_cache_that_is_damaged_while_two_use_it_is_set_aside_once(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(VerdictCache(path)) as one, closing(VerdictCache(path)) as two:
        altered("UPDATE verdicts SET mark = ''")(path)
        for cache in (one, two):
            assert list(CachedJudge(varied(), cache).decide(LEVELS)) == list(varied().decide(LEVELS))
    assert len(list(path.parent.glob("*.damaged"))) == 1
    judge = varied()
    asked_of(path, judge, LEVELS)
    assert judge.asked == []


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALSCORE_CACHE", raising=False)
    monkeypatch.setenv("LOCALSCORE_HOME", "/home")
    assert cache_path() == Path("/home/verdicts.sqlite")
    monkeypatch.delenv("LOCALSCORE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_path() == tmp_path / "localscore" / "verdicts.sqlite"
    monkeypatch.setenv("LOCALSCORE_CACHE", "/elsewhere/v")
    assert cache_path() == Path("/elsewhere/v")
