from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from localscore import inquiries
from localscore.errors import JudgeUnusable
from localscore.judges.loading import load_judge
from localscore.results import Judgment

if TYPE_CHECKING:
    from localscore.judges.huggingface import HuggingFaceJudge

pytestmark = pytest.mark.judge


@pytest.fixture
def tiny(small_judge: HuggingFaceJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model of a few random weights and the small judge's tokenizer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    small_judge._tokenizer.save_pretrained(tmp_path / "tiny")
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


def asked(folder: Path) -> Judgment:
    [answer] = load_judge(folder, device="cpu").decide([inquiries.relevance("Who ran?", "Ann ran.")])
    assert isinstance(answer, Judgment)
    return answer


def test_a_whole_folder_is_a_judge(tiny: Path) -> None:
    assert asked(tiny) == asked(tiny)


def test_a_model_that_lacks_weights_is_refused_and_never_filled_with_random_ones(tiny: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(tiny / "model.safetensors")
    lacking = {name: weight for name, weight in weights.items() if "layers.1.mlp" not in name}
    assert len(lacking) < len(weights)
    save_file(lacking, tiny / "model.safetensors", {"format": "pt"})
    with pytest.raises(JudgeUnusable, match=r"incomplete.*layers\.1\.mlp"):
        asked(tiny)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b'{"model_type": "nonsense"}'),
        ("tokenizer.json", b"{}"),
        ("model.safetensors", b"not weights"),
        ("model.safetensors", b""),
    ],
)
def test_a_damaged_file_is_one_error_that_names_the_judge(tiny: Path, name: str, content: bytes) -> None:
    (tiny / name).write_bytes(content)
    with pytest.raises(JudgeUnusable, match="tiny cannot be read"):
        asked(tiny)


def test_a_missing_shard_is_one_error_that_names_the_judge(tiny: Path) -> None:
    index = {"metadata": {}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors"}}
    (tiny / "model.safetensors").rename(tiny / "model-00001-of-00002.safetensors")
    (tiny / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(JudgeUnusable, match="tiny cannot be read"):
        asked(tiny)


def test_a_damaged_gguf_leaves_nothing_behind(small_judge: HuggingFaceJudge, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
        with pytest.raises(JudgeUnusable, match=r"x\.gguf cannot be read"):
            load_judge(tmp_path / "x.gguf", device="cpu")
    assert not list((tmp_path / "home").rglob("*.safetensors"))
    assert not list((tmp_path / "home").rglob("config.json"))
