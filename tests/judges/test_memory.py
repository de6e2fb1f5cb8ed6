from __future__ import annotations

import json
from pathlib import Path

import pytest

from localscore.errors import TooLarge
from localscore.judges import arithmetic, memory, store
from localscore.judges.cards import card_named
from localscore.judges.loading import load_judge
from localscore.judges.memory import Shape, check_memory, largest_fitting, needed
from tests.judges.test_store import HUB, WHOLE, card, file_of

SHAPES = {
    "qwen2.5-coder-0.5b": (896, 4864, 24, 14, 2, 630_167_424),
    "qwen2.5-coder-1.5b": (1536, 8960, 28, 12, 2, 1_777_088_000),
}


def folder_of(
    folder: Path, hidden: int, inner: int, layers: int, heads: int, kept: int, parameters: int
) -> Path:
    """A folder with a config, and the header of a safetensors file without any numbers behind it."""
    config = {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kept,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    header = {"w": {"dtype": "F32", "shape": [parameters], "data_offsets": [0, 0]}, "__metadata__": {}}
    content = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(content).to_bytes(8, "little") + content)
    return folder


@pytest.mark.parametrize("name", SHAPES)
def test_the_estimate_is_near_to_what_the_card_has_measured(name: str, tmp_path: Path) -> None:
    shape = Shape.of(folder_of(tmp_path, *SHAPES[name]))
    assert shape.need("float32") == pytest.approx(card_named(name).memory["float32"] * 1e9, rel=0.15)


def test_parameters_keys_values_and_a_pass_are_counted(tmp_path: Path) -> None:
    shape = Shape.of(folder_of(tmp_path, 8, 16, 2, 4, 2, 1000))
    assert shape == Shape(1000, layers=2, cached_width=2 * 2 * 2, pass_width=12 * 8 + 3 * 16)
    assert shape.need("float32", 10) - 500_000_000 == 4 * (1000 + 10 * (2 * 8 + 144))


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0[]", b"\x02\0\0\0\0\0\0\0{"])
def test_a_damaged_folder_has_no_shape_and_is_left_to_its_reader(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": "?"}')
    (tmp_path / "model.safetensors").write_bytes(content)
    assert Shape.of(tmp_path) == Shape(0)


def test_what_a_card_has_measured_goes_before_the_estimate() -> None:
    starter = card_named("starter")
    assert needed(Shape(10**12), starter, "float32") == 8_000_000_000
    assert needed(Shape(10**9), starter, "float16") == Shape(10**9).need("float16")


@pytest.mark.parametrize(
    ("free", "hint"),
    [
        (9e9, "it fits with --dtype bfloat16."),
        (8.5e9, "it fits with --dtype bfloat16."),
        (7e9, "--judge qwen2.5-coder-1.5b --dtype bfloat16 (4 GB)."),
        (3.5e9, "--judge qwen2.5-coder-0.5b --dtype float32 (3 GB)."),
        (1e8, "No judge with a card fits"),
    ],
)
def test_what_is_too_large_is_said_with_what_fits(free: float, hint: str) -> None:
    with pytest.raises(TooLarge, match=r"it needs about 16\.0 GB of memory in float32") as caught:
        check_memory("it", {"float32": 16 * 10**9, "bfloat16": 8 * 10**9}, "float32", int(free))
    assert hint in caught.value.hint


def test_a_gguf_file_may_fit_as_it_is() -> None:
    with pytest.raises(TooLarge, match=r"in float32") as caught:
        check_memory("it", {"float32": 8 * 10**9, "llamacpp": 2 * 10**9}, "float32", 3 * 10**9)
    assert caught.value.hint == "it fits with --backend llamacpp."


def test_what_fits_is_not_refused() -> None:
    check_memory("it", {"float32": 100}, "float32", 100)


def test_the_largest_judge_that_fits_is_a_measured_one() -> None:
    found = largest_fitting(20 * 10**9, "bfloat16")
    assert found is not None
    assert (found[0].name, found[1]) == ("llama-3.1-8b-instruct", "bfloat16")


def test_a_container_with_less_than_its_machine_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "max").write_text("5000\n")
    (tmp_path / "current").write_text("2000\n")
    monkeypatch.setattr(memory, "_CGROUPS", ((str(tmp_path / "max"), str(tmp_path / "current")),))
    assert memory.free_memory() == 3000
    (tmp_path / "max").write_text("max\n")
    assert memory.free_memory() > 10**6


def test_a_judge_that_does_not_fit_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(arithmetic, "free_memory", lambda: 10**9)
    folder = tmp_path / "large"
    folder.mkdir()
    folder_of(folder, *SHAPES["qwen2.5-coder-1.5b"])
    with pytest.raises(
        TooLarge, match=r"Judge large needs about 8\.1 GB of memory in float32; 1\.0 GB are free"
    ) as caught:
        load_judge(folder, device="cpu")
    assert "--judge smollm2-135m" in caught.value.hint


def test_a_download_that_the_disk_cannot_hold_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(memory, "free_disk", lambda folder: 10)
    monkeypatch.setattr(store, "_from_hub", lambda *_: pytest.fail("nothing may be downloaded"))
    with pytest.raises(TooLarge, match="Downloading fake needs"):
        store.pull(card(file_of(WHOLE), hub=HUB))
