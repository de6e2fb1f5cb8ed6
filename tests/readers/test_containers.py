"""The same rows in every kind of file, packed or not, in folders, on standard input, and in frames."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localscore.datasets import read
from localscore.errors import DataError, OptionError

pyarrow = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
ipc = pytest.importorskip("pyarrow.ipc")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS: list[dict[str, Any]] = [
    {"id": f"q{n}", "question": f"Où est {n} ?\nLà?", "contexts": [f"“{n}”, là;\tet", "b"], "answer": "Là."}
    for n in range(600)
]


def _jsonl(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    lines = csv.writer(text, delimiter=delimiter)
    lines.writerow(rows[0])
    lines.writerows([json.dumps(v) if isinstance(v, list) else v for v in row.values()] for row in rows)
    return text.getvalue().encode()


def _written(write: Callable[[Any, Any], None]) -> Callable[[list[dict[str, Any]]], bytes]:
    def content(rows: list[dict[str, Any]]) -> bytes:
        sink = pyarrow.BufferOutputStream()
        write(pyarrow.Table.from_pylist(rows), sink)
        return bytes(sink.getvalue().to_pybytes())

    return content


def _ipc(open_: Any) -> Callable[[Any, Any], None]:
    def write(table: Any, sink: Any) -> None:
        with open_(sink, table.schema) as writer:
            writer.write_table(table, 100)

    return write


WRITERS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": lambda rows: json.dumps(rows).encode(),
    ".pretty.json": lambda rows: json.dumps({"meta": {"rows": []}, "rows": rows}, indent=1).encode(),
    ".lines.json": _jsonl,
    ".csv": _csv,
    ".semicolon.csv": lambda rows: b"\xef\xbb\xbf" + _csv(rows, ";"),
    ".tsv": lambda rows: _csv(rows, "\t").replace(b"\n", b"\r\n"),
    ".parquet": _written(parquet.write_table),
    ".arrow": _written(_ipc(ipc.new_file)),
    ".arrows": _written(_ipc(ipc.new_stream)),
    ".feather": _written(feather.write_feather),
}

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".zst": lambda content: bytes(pyarrow.compress(content, "zstd", asbytes=True)),
}


def same(rows: Any) -> bool:
    expected = read(ROWS)
    found = read(rows)
    return (found.samples, found.sha256) == (expected.samples, expected.sha256)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("suffix", [name for name in WRITERS if name != ".tsv"])
def test_every_kind_of_file_holds_the_same_samples(suffix: str, packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"rag{suffix}{packing}"
    path.write_bytes(PACKINGS[packing](WRITERS[suffix](ROWS)))
    assert same(path)


def test_line_ends_within_a_quoted_cell_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rag.tsv"
    path.write_bytes(WRITERS[".tsv"](ROWS))
    assert read(path).samples[0].query == "Où est 0 ?\r\nLà?"


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet", ".arrow", ".arrows"])
def test_what_is_piped_is_known_by_its_beginning(
    suffix: str, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = PACKINGS[packing](WRITERS[suffix](ROWS))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert same("-")


def test_a_folder_is_read_in_the_order_of_its_files_names(tmp_path: Path) -> None:
    suffixes = [name for name in WRITERS if name != ".tsv"]
    (tmp_path / "deeper").mkdir()
    for number, suffix in enumerate(suffixes):
        part = ROWS[number * 50 : number * 50 + 50 if number < len(suffixes) - 1 else None]
        inside = "deeper/" if number >= 5 else ""
        (tmp_path / f"{inside}part-{number:02}{suffix}").write_bytes(WRITERS[suffix](part))
    for name in ("README.md", ".hidden.jsonl", "_SUCCESS.json", "state.json", "dataset_info.json"):
        (tmp_path / name).write_text("not rows")
    found = read(tmp_path).samples
    assert sorted(found, key=lambda sample: int(sample.id[1:])) == list(read(ROWS).samples)


def test_rows_of_a_folder_without_ids_are_named_by_their_file(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.csv"):
        (tmp_path / name).write_bytes(WRITERS[Path(name).suffix]([{"question": "Who?", "contexts": []}]))
    assert [sample.id for sample in read(tmp_path).samples] == ["a.csv:2", "b.jsonl:1"]


def test_a_bad_row_in_a_folder_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(_jsonl(ROWS[:1]))
    (tmp_path / "b.jsonl").write_bytes(_jsonl(ROWS[1:2]) + b"{")
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert caught.value.complaints[0].startswith(f"{tmp_path / 'b.jsonl'}:2: not JSON")


CUT = [name + packing for name in (".jsonl", ".csv", ".parquet", ".arrow", ".arrows") for packing in PACKINGS]


@pytest.mark.parametrize("name", [name for name in CUT if name not in (".jsonl", ".csv")])
def test_a_file_that_was_cut_is_one_complaint(name: str, tmp_path: Path) -> None:
    suffix, packing = next((name.removesuffix(p), p) for p in (".gz", ".zst", "") if name.endswith(p))
    content = PACKINGS[packing](WRITERS[suffix](ROWS))
    path = tmp_path / f"rag{name}"
    path.write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(DataError) as caught:
        read(path)
    [complaint] = caught.value.complaints
    assert complaint.startswith(f"{path}:")


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_a_bad_row_of_a_parquet_file_is_told_with_its_number(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"rag.{name}"
    path.write_bytes(WRITERS[f".{name}"]([*ROWS[:300], ROWS[300] | {"question": " "}, *ROWS[301:]]))
    with pytest.raises(DataError) as caught:
        read(path)
    assert caught.value.complaints == (f"{path}: row 301: 'question' is blank; expected a text",)


def test_a_row_of_parquet_without_an_id_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "rag.parquet"
    path.write_bytes(WRITERS[".parquet"]([{"question": "Who?", "contexts": ["Ann."]}] * 2))
    assert [sample.id for sample in read(path).samples] == ["1", "2"]


def test_dates_and_bytes_of_parquet_are_kept_as_json_can_say_them(tmp_path: Path) -> None:
    import datetime

    row = {"question": "Who?", "contexts": [], "at": datetime.date(2026, 1, 2), "raw": b"abc"}
    path = tmp_path / "rag.parquet"
    path.write_bytes(WRITERS[".parquet"]([row]))
    assert read(path).samples[0].metadata == {"at": "2026-01-02", "raw": "abc"}


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".jsonl.zst"])
def test_without_pyarrow_it_is_told_what_to_install(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"rag{suffix}"
    name = Path(suffix)
    content = WRITERS[name.stem if name.suffix else suffix](ROWS[:1])
    path.write_bytes(PACKINGS[name.suffix](content))
    for module in ("pyarrow", "pyarrow.ipc", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OptionError, match="needs pyarrow") as caught:
        read(path)
    assert "localscore[parquet]" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"BZh91AY&SY", "is bzip2"),
        (b"\xfd7zXZ\x00", "is xz"),
        (b"PK\x03\x04", "is a ZIP archive or a spreadsheet"),
        (b"SQLite format 3\x00", "is SQLite"),
    ],
)
def test_what_is_not_read_is_told_with_what_to_do(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl"
    path.write_bytes(content * 3)
    with pytest.raises(DataError, match=told) as caught:
        read(path)
    assert caught.value.hint


def _pandas() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(ROWS)


def _polars() -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(ROWS)


def _hugging_face() -> Any:
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_list(ROWS)


FRAMES: dict[str, Callable[[], Any]] = {
    "an iterable": lambda: iter(ROWS),
    "pyarrow": lambda: pyarrow.Table.from_pylist(ROWS),
    "pandas": _pandas,
    "polars": _polars,
    "datasets": _hugging_face,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_hold_the_same_samples(frame: Callable[[], Any]) -> None:
    assert same(frame())


def test_a_value_that_a_pandas_frame_lacks_is_missing_and_not_nan() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([ROWS[0], {**ROWS[1], "answer": float("nan")}])
    assert read(frame).samples[1].answer is None


def test_splits_are_not_rows() -> None:
    splits: Any = {"train": ROWS, "test": ROWS}
    with pytest.raises(DataError, match="train, test") as caught:
        read(splits)
    assert "one split" in caught.value.hint


def test_rows_after_the_limit_are_not_asked_for() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield from ROWS[:2]
        raise AssertionError("a third row was asked for")

    assert len(read(rows(), limit=2).samples) == 2
