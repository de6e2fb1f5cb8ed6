"""GGUF → a folder in the format of transformers, with the weights unpacked to safetensors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from gguf import GGUFReader
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from localscore.judges.complete import check_complete, readable


def convert(gguf: Path, folder: Path, dtype: torch.dtype) -> None:
    """Unpack a GGUF file into `folder`, in the dtype that will be computed with.

    Raises:
        JudgeUnusable: transformers cannot read the file.
    """
    with _alone(gguf) as source:
        tokenizer = AutoTokenizer.from_pretrained(**source)
        model, loading = AutoModelForCausalLM.from_pretrained(
            **source,
            dtype=dtype,
            quantization_config=GgufConfig(dequantize=True),
            output_loading_info=True,
        )
    check_complete(loading, gguf)
    model.hf_quantizer = None  # its weights are plain numbers now and may be saved
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def convert_tokenizer(gguf: Path, folder: Path) -> None:
    """Write the tokenizer of a GGUF file into `folder`, the same as `convert` does.

    Raises:
        JudgeUnusable: transformers cannot read the file.
    """
    with _alone(gguf) as source:
        AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


@contextmanager
def _alone(gguf: Path) -> Iterator[dict[str, Any]]:
    """Say how transformers opens a GGUF file, by itself: it would also read what lies beside it."""
    with (
        TemporaryDirectory() as alone,
        readable(gguf),
        redirect_stderr(io.StringIO()),  # a progress bar that has no other switch
    ):
        (Path(alone) / "judge.gguf").symlink_to(gguf.resolve())
        yield {
            "pretrained_model_name_or_path": alone,
            "gguf_file": "judge.gguf",
            "local_files_only": True,
            "trust_remote_code": False,
        }


def parameters(gguf: Path) -> int:
    """Return how many numbers a GGUF file holds, from its header.

    Raises:
        JudgeUnusable: it cannot be read.
    """
    with readable(gguf):
        return sum(int(tensor.n_elements) for tensor in GGUFReader(gguf).tensors)
