"""GGUF → a folder in the format of transformers, with the weights unpacked to safetensors."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from gguf import GGUFReader
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from localscore.judges.complete import check_complete, readable


def convert(gguf: Path, folder: Path, dtype: torch.dtype) -> None:
    """Unpack a GGUF file into `folder`, in the dtype that will be computed with.

    Raises:
        JudgeUnusable: transformers cannot read the file.
    """
    with (
        TemporaryDirectory() as alone,  # transformers would also read what lies beside the file
        readable(gguf),
        redirect_stderr(io.StringIO()),  # a progress bar that has no other switch
    ):
        (Path(alone) / "judge.gguf").symlink_to(gguf.resolve())
        tokenizer = AutoTokenizer.from_pretrained(
            alone, gguf_file="judge.gguf", local_files_only=True, trust_remote_code=False
        )
        model, loading = AutoModelForCausalLM.from_pretrained(
            alone,
            gguf_file="judge.gguf",
            dtype=dtype,
            quantization_config=GgufConfig(dequantize=True),
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    check_complete(loading, gguf)
    model.hf_quantizer = None  # its weights are plain numbers now and may be saved
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def parameters(gguf: Path) -> int:
    """Return how many numbers a GGUF file holds, from its header.

    Raises:
        JudgeUnusable: it cannot be read.
    """
    with readable(gguf):
        return sum(int(tensor.n_elements) for tensor in GGUFReader(gguf).tensors)
