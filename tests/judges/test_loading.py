from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from localscore import offline
from localscore.errors import JudgeDamaged, JudgeMissing, JudgeUnusable, OptionError, UnknownJudge
from localscore.judges import loading
from localscore.judges.cards import CardFile, card_named
from localscore.judges.loading import load_judge

WHOLE = ("config.json", "model.safetensors", "tokenizer.json")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    for name in offline.SWITCHES:
        monkeypatch.setenv(name, "")
    return tmp_path / "home"


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ((), r"no config\.json"),
        (("model.safetensors", "tokenizer.json"), r"no config\.json"),
        (("config.json", "tokenizer.json"), r"no weights in safetensors\."),
        (
            ("config.json", "tokenizer.json", "pytorch_model.bin"),
            r"no weights in safetensors; pytorch_model\.bin .*refused",
        ),
        (
            ("config.json", "tokenizer.json", "a.pt", "b.ckpt"),
            r"no weights in safetensors; a\.pt, b\.ckpt .*refused",
        ),
        (("config.json", "model.safetensors"), r"no tokenizer\.json"),
        (("config.json", "model.safetensors", "tokenizer.model"), r"no tokenizer\.json"),
    ],
)
def test_a_folder_that_is_no_judge_is_refused(files: tuple[str, ...], told: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeUnusable, match=told) as caught:
        load_judge(folder_with(tmp_path, *files))
    assert str(tmp_path) in caught.value.message
    assert "config.json, tokenizer.json and *.safetensors" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("judge.gguf", b"", "not a GGUF file"),
        ("judge.gguf", b"GGU", "not a GGUF file"),
        ("judge.gguf", b"PK\x03\x04GGUF", "not a GGUF file"),
        ("judge.bin", b"GGUF", "is no judge"),
        ("model.safetensors", b"{}", "is no judge"),
    ],
)
def test_a_file_that_is_no_judge_is_refused(name: str, content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(JudgeUnusable, match=told) as caught:
        load_judge(path)
    assert str(path) in caught.value.message


@pytest.mark.parametrize(
    ("name", "hint"), [("startr", "'starter'"), ("./absent.gguf", "models list"), ("", "Cards")]
)
def test_a_name_of_nothing_is_unknown(
    name: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownJudge) as caught:
        load_judge(name)
    assert hint in caught.value.hint


def test_a_card_whose_files_are_not_here_is_missing_and_nothing_is_downloaded(home: Path) -> None:
    with pytest.raises(JudgeMissing) as caught:
        load_judge("starter")
    assert "localscore models pull qwen2.5-coder-1.5b" in caught.value.hint
    assert not home.exists()


def test_a_card_whose_file_has_another_sha256_is_damaged(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = CardFile(path="a.gguf", bytes=5, sha256=hashlib.sha256(b"GGUF1").hexdigest())
    card = card_named("starter").model_copy(update={"name": "fake", "files": (file,)})
    monkeypatch.setattr(loading, "find_card", lambda name: card)
    path = home / "judges" / "fake" / "a.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF2")
    with pytest.raises(JudgeDamaged, match=r"a\.gguf .*'fake'") as caught:
        load_judge("fake")
    assert "models verify fake" in caught.value.hint


def test_a_file_that_is_not_on_the_card_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = hashlib.sha256(b"{}").hexdigest()
    files = tuple(CardFile(path=name, bytes=2, sha256=sha256) for name in WHOLE)
    card = card_named("starter").model_copy(update={"name": "fake", "files": files})
    monkeypatch.setattr(loading, "find_card", lambda name: card)
    folder = home / "judges" / "fake"
    folder.mkdir(parents=True)
    folder_with(folder, *WHOLE, "chat_template.jinja")
    with pytest.raises(JudgeDamaged, match=r"chat_template\.jinja is not one of the card's files"):
        load_judge("fake", device="cpu")


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ({"device": "gpu"}, "device is 'gpu'; expected one of auto, cpu, cuda"),
        ({"device": ""}, "device is ''; expected one of auto, cpu, cuda"),
        ({"dtype": "int8"}, "dtype is 'int8'; expected one of auto, float32, bfloat16, float16"),
        ({"dtype": "torch.float32"}, "expected one of auto, float32, bfloat16, float16"),
        ({"quantize": "int4"}, "quantize is 'int4'; expected one of none, fp16-weights, int8"),
        ({"quantize": "int8", "dtype": "bfloat16"}, "computes in float32 on a CPU; got device 'auto', dtype"),
        ({"verify": "never"}, "verify is 'never'; expected one of quick, full"),
        ({"backend": "vllm"}, "backend is 'vllm'; expected one of auto, transformers, llamacpp"),
        ({"batch_tokens": 0}, "batch_tokens is 0; expected at least 1"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_with_those_there_are(
    option: dict[str, Any], expected: str
) -> None:
    with pytest.raises(OptionError, match=expected):
        load_judge("starter", **option)


def test_a_backend_that_is_not_installed_is_refused_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(OptionError, match="backend llamacpp needs llama_cpp") as caught:
        load_judge("starter", backend="llamacpp")
    assert "pip install 'localscore[llamacpp]'" in caught.value.hint


def test_a_device_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(OptionError, match="no CUDA device") as caught:
        load_judge(folder_with(tmp_path, *WHOLE), device="cuda")
    assert "--device cpu" in caught.value.hint
    # By now the libraries are imported, and were told before that there is no network.
    assert {name: os.environ[name] for name in offline.SWITCHES} == offline.SWITCHES
    assert offline.SWITCHES["HF_HUB_OFFLINE"] == offline.SWITCHES["TRANSFORMERS_OFFLINE"] == "1"


@pytest.mark.parametrize("where", ["file", "folder"])
def test_every_file_with_a_say_in_the_verdicts_is_hashed(where: str, tmp_path: Path) -> None:
    names = {
        "a.safetensors",
        "b.safetensors",
        "config.json",
        "tokenizer.json",
        "chat_template.jinja",
        "spiece.model",
    }
    folder_with(tmp_path, *names, "README.md", "pytorch_model.bin")
    expected = names if where == "folder" else {"config.json"}
    found = loading._hashes(tmp_path if where == "folder" else tmp_path / "config.json")
    assert found == dict.fromkeys(expected, hashlib.sha256(b"{}").hexdigest())


@pytest.mark.parametrize(
    "module",
    [
        "localscore",
        "localscore.cli.app",
        "localscore.cli.score",
        "localscore.cli.models",
        "localscore.cli.explain",
    ],
)
def test_importing_does_not_import_what_is_heavy(module: str) -> None:
    heavy = ("torch", "transformers", "outlines", "llguidance", "tokenizers", "huggingface_hub")
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
