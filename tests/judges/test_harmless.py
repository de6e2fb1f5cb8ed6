"""Small malicious folders, each of which leaves a trace if anything of it runs; none may."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localscore.errors import JudgeUnsafe
from localscore.judges.harmless import check_harmless, check_template
from localscore.judges.loading import load_judge

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m['content'] | trim }}{% endfor %}"
REACHING = "{{ cycler.__init__.__globals__.os.system('touch ran') }}"


class Payload:
    """Unpickled, it leaves a trace."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("ran",)


def weights(content: bytes = b"{}      ") -> bytes:
    return len(content).to_bytes(8, "little") + content


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A harmless folder that looks like a judge; the current folder is where a trace would be."""
    monkeypatch.setenv("LOCALSCORE_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    judge = tmp_path / "judge"
    judge.mkdir()
    written(judge, "config.json", CONFIG)
    written(judge, "tokenizer.json", {})
    written(judge, "tokenizer_config.json", {"chat_template": TEMPLATE})
    (judge / "model.safetensors").write_bytes(weights())
    (judge / "README.md").write_text("# A judge")
    return judge


def written(folder: Path, name: str, content: Any) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def archived(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Payload()))


def linked_out(path: Path) -> None:
    path.symlink_to(path.rename(path.parent.parent / "elsewhere"))


PROGRAM = "import os; os.mkdir('ran')\n"
ATTACKS: dict[str, Callable[[Path], Any]] = {
    "a pickle beside the weights": lambda f: (f / "pytorch_model.bin").write_bytes(pickle.dumps(Payload())),
    "torch's archive of a pickle": lambda f: archived(f / "training_args.pt"),
    "a pickle in a folder": lambda f: written(f, "original/consolidated.00.pth", "x"),
    "a pickle that is called safetensors": lambda f: (f / "model.safetensors").write_bytes(
        pickle.dumps(Payload())
    ),
    "an archive that is called safetensors": lambda f: archived(f / "model.safetensors"),
    "a pickle under a harmless name": lambda f: (f / "notes.txt").write_bytes(pickle.dumps(Payload())),
    "an index that names a pickle": lambda f: written(
        f, "model.safetensors.index.json", {"weight_map": {"a": "weights.dat"}}
    ),
    "an index that leads out": lambda f: written(
        f, "model.safetensors.index.json", {"weight_map": {"a": "../other/model.safetensors"}}
    ),
    "weights named in the config": lambda f: written(
        f, "config.json", CONFIG | {"transformers_weights": "weights.dat"}
    ),
    "remote code of the model": lambda f: written(
        f, "config.json", CONFIG | {"auto_map": {"AutoConfig": "theirs.Config"}}
    ),
    "remote code in a part of the config": lambda f: written(
        f,
        "config.json",
        CONFIG | {"text_config": {"auto_map": {"AutoModelForCausalLM": "org/repo--theirs.Model"}}},
    ),
    "remote code of the tokenizer": lambda f: written(
        f, "tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["theirs.Tokenizer", None]}}
    ),
    "a module": lambda f: written(f, "modeling_theirs.py", PROGRAM),
    "a way to generate": lambda f: written(f, "custom_generate/generate.py", PROGRAM),
    "a library": lambda f: (f / "kernel").write_bytes(b"\x7fELF" + bytes(60)),
    "a script": lambda f: written(f, "setup", "#!/bin/sh\nmkdir ran\n"),
    "kernels of a hub": lambda f: written(f, "config.json", CONFIG | {"attn_implementation": "org/kernel"}),
    "a link to a file elsewhere": lambda f: (f / "vocab.txt").symlink_to("/etc/passwd"),
    "weights that are a link": lambda f: linked_out(f / "model.safetensors"),
    "a link to a folder elsewhere": lambda f: (f / "more").symlink_to("/usr"),
    "a pipe": lambda f: os.mkfifo(f / "generation_config.json"),
    "a template that reaches": lambda f: written(f, "chat_template.jinja", REACHING),
    "a template in the tokenizer's config": lambda f: written(
        f, "tokenizer_config.json", {"chat_template": REACHING}
    ),
    "one template of several": lambda f: written(
        f,
        "tokenizer_config.json",
        {"chat_template": [{"name": "default", "template": TEMPLATE}, {"name": "b", "template": REACHING}]},
    ),
    "a template in a folder": lambda f: written(f, "additional_chat_templates/b.jinja", REACHING),
    "a template file of old": lambda f: written(f, "chat_template.json", {"chat_template": REACHING}),
    "settings that are too deep": lambda f: written(f, "config.json", "[" * 200_000),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_malicious_folder_is_refused_before_anything_of_it_runs(attack: str, folder: Path) -> None:
    ATTACKS[attack](folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(JudgeUnsafe) as caught:
        load_judge(folder, device="cpu")
    assert str(folder) in caught.value.message
    assert caught.value.hint
    assert list(Path.cwd().iterdir()) == []
    assert sorted(folder.rglob("*")) == before


def test_a_harmless_folder_is_not_refused(folder: Path) -> None:
    written(folder, "LICENSE", "MIT")
    written(folder, "chat_template.jinja", TEMPLATE)
    written(folder, "model.safetensors.index.json", {"weight_map": {"a": "model.safetensors"}})
    (folder / "merges.txt").symlink_to("README.md")
    check_harmless(folder)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ ''['__class__'] }}",
        "{{ '' | attr('__cl' ~ 'ass__') }}",
        "{% include '/etc/passwd' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{{ 'a' * 100000000000 }}",
        "{{ 9 ** 9 ** 9 ** 9 }}",
        "{{ self._TemplateReference__context }}",
        "{% for",
        " " * 300_000,
    ],
)
def test_a_template_that_does_what_no_chat_needs_is_refused(template: str) -> None:
    with pytest.raises(JudgeUnsafe, match=r"a\.jinja: its chat template"):
        check_template(template, Path("a.jinja"))


@pytest.mark.parametrize(
    "template",
    [
        TEMPLATE,
        "{% generation %}{{ messages[-1]['content'] }}{% endgeneration %}",
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{% endfor %}",
        "{{ raise_exception('no') if tools is defined else bos_token }}{{ tools | tojson(indent=4) }}",
        "{% macro show(x) %}{{ x.items() | list }}{% endmacro %}{{ show({'a': 1}) }}{{ '-' * 80 }}",
    ],
)
def test_an_ordinary_template_is_not_refused(template: str) -> None:
    check_template(template, Path("a.jinja"))
