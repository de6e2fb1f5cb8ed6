"""How a judge computes: device, number format, and the kernels that its matrices are multiplied with.

Quantized and packed kernels are called by the names of torch's operators, some of which torch may take away one
day; nothing outside this module knows them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch.nn import functional

from localscore.errors import OptionError
from localscore.judges.memory import free_memory

Device = Literal["auto", "cpu", "cuda"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Quantize = Literal["none", "fp16-weights", "int8"]

_NOISE = {"float32": 0.0001, "fp16-weights": 0.0005, "float16": 0.005, "int8": 0.12, "bfloat16": 0.06}
"""How far a probability may be from float32's; the largest seen with qwen2.5-coder-0.5b, rounded up (`scripts/bench
--task arithmetic`). float16 could not be measured here. The tiny test judge differs more in int8, by up to 0.21."""

_LARGEST_PASS = 8192
"""Tokens in a pass beyond which a GPU gains nothing, while the mask grows with their square."""


@dataclass(frozen=True)
class Arithmetic:
    """How a judge computes."""

    device: str
    dtype: torch.dtype
    quantize: Quantize = "none"

    @property
    def name(self) -> str:
        """The number format, or the quantization where there is one."""
        return self.dtype_name if self.quantize == "none" else self.quantize

    @property
    def dtype_name(self) -> str:
        """The number format that weights are read in."""
        return str(self.dtype).removeprefix("torch.")

    @property
    def exact(self) -> bool:
        """Whether every unit is computed by itself, so that no verdict depends on what else is in the run.

        On a CPU this costs next to nothing. On a GPU it leaves most of it idle, so there it is kept for float32.
        """
        return self.device == "cpu" or self.dtype == torch.float32

    @property
    def noise(self) -> float:
        """The distance between two values' probabilities below which this arithmetic cannot tell them apart."""
        return _NOISE[self.name]

    def free_memory(self) -> int:
        """Return the bytes that are free where the judge would be."""
        return free_memory() if self.device == "cpu" else int(torch.cuda.mem_get_info()[0])

    def batch_tokens(self, model: Any) -> int:
        """Return how many tokens several units may have in one pass: what half of the free memory holds."""
        if self.device == "cpu":
            return 1
        config = model.config.get_text_config()
        widths = 12 * config.hidden_size + 3 * config.intermediate_size
        free, _ = torch.cuda.mem_get_info()
        affordable: int = free // 2 // (widths * self.dtype.itemsize)
        return max(256, min(_LARGEST_PASS, affordable))

    def prepare(self, model: Any) -> None:
        """Give a model the kernels of this arithmetic, in place, and a head of which single rows can be asked."""
        kernel: Callable[[nn.Linear], nn.Module] | None = None
        if self.quantize != "none":
            kernel = _KERNELS[self.quantize]
        elif self.device == "cpu" and self.dtype == torch.float32 and torch._C._has_mkldnn:
            kernel = PackedLinear
        head = model.get_output_embeddings()
        whole = head if kernel is None or kernel is PackedLinear else kernel(head)
        model.set_output_embeddings(Head(head, whole))
        if kernel is not None:
            _replace_linears(model.base_model, kernel)


def chosen(device: Device, dtype: Dtype, quantize: Quantize) -> Arithmetic:
    """Return the arithmetic of these options.

    Raises:
        OptionError: an unknown value, a device that is not there, or values that do not go together.
    """
    for name, value, allowed in (
        ("device", device, Device),
        ("dtype", dtype, Dtype),
        ("quantize", quantize, Quantize),
    ):
        if value not in get_args(allowed):
            raise OptionError(f"{name} is {value!r}; expected one of {', '.join(get_args(allowed))}.")
    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise OptionError("There is no CUDA device here.", hint="Use --device cpu, or auto.")
    where = "cuda" if there and device != "cpu" and (device == "cuda" or quantize == "none") else "cpu"
    if quantize != "none":
        if where != "cpu" or dtype not in ("auto", "float32"):
            raise OptionError(
                f"quantize={quantize!r} computes in float32 on a CPU; got device {device!r}, dtype {dtype!r}.",
                hint="Leave device and dtype at auto.",
            )
        if not _has_kernels():
            raise OptionError(
                f"quantize={quantize!r} needs kernels that this build of torch ({torch.__version__}) does not have.",
                hint="Builds for x86 processors have them (FBGEMM).",
            )
        return Arithmetic(where, torch.float32, quantize)
    if dtype != "auto":
        return Arithmetic(where, getattr(torch, dtype))
    if where == "cpu":
        return Arithmetic(where, torch.float32)
    return Arithmetic(where, torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16)


def _has_kernels() -> bool:
    names = ("linear_prepack_fp16", "linear_prepack", "linear_with_input_q_dq_qweight_dq_output_fp32")
    there = all(hasattr(torch.ops.quantized, name) for name in names)
    return there and "fbgemm" in torch.backends.quantized.supported_engines


class Head(nn.Module):
    """A vocabulary head of which single rows can be asked: a closed verdict wants a few of 150,000."""

    def __init__(self, head: nn.Linear, whole: nn.Module) -> None:
        super().__init__()
        self.whole = whole
        self.weight, self.bias = head.weight, head.bias
        self._rows: torch.Tensor | None = None

    @contextmanager
    def only(self, rows: torch.Tensor | None) -> Iterator[None]:
        """Compute the scores of these tokens alone, in this order; all where none are named."""
        self._rows = rows
        try:
            yield
        finally:
            self._rows = None

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the scores of all tokens, or of the only ones that are wanted."""
        if self._rows is None:
            scores: torch.Tensor = self.whole(hidden)
            return scores
        bias = None if self.bias is None else self.bias[self._rows]
        return functional.linear(hidden, self.weight[self._rows], bias)


class PackedLinear(nn.Module):
    """A float32 matrix in oneDNN's layout: as fast as torch's own for many rows, twice as fast for a few."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.bias = linear.bias
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x` times the matrix, and the bias."""
        y: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], "")
        return y


class HalfWeights(nn.Module):
    """A matrix with its weights in float16; it computes in float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self._packed = torch.ops.quantized.linear_prepack_fp16(linear.weight.detach(), linear.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x` times the matrix, and the bias."""
        y: torch.Tensor = torch.ops.quantized.linear_dynamic_fp16(x, self._packed)
        return y


class RowwiseInt8(nn.Module):
    """A matrix in int8, with one scale per output, times int8 inputs with one scale per row.

    Each row of the input is scaled to [-1, 1] first, so that torch's kernel can use one fixed scale and a row's
    result depends on that row alone. Weights keep to ±63: on processors without VNNI the kernel adds pairs of
    products in 16 bits, which ±127 would overflow.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().float()
        largest = torch.maximum(weight.amax(1, keepdim=True), -weight.amin(1, keepdim=True))
        scale = (largest / 63).clamp_min(torch.finfo(torch.float32).tiny)
        rounded = torch.div(weight, scale).round_().to(torch.int8)
        zeros = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():  # torch is going to part with quantized tensors, not with this kernel
            warnings.simplefilter("ignore")
            quantized = torch._make_per_channel_quantized_tensor(rounded, scale[:, 0].double(), zeros, 0)
        self.bias = linear.bias
        self._packed = torch.ops.quantized.linear_prepack(quantized, None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x` times the matrix, and the bias."""
        top = x.abs().amax(-1, keepdim=True).clamp_min_(torch.finfo(torch.float32).tiny)
        multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        y: torch.Tensor = multiply(x / top, 1 / 127, 128, self._packed)
        return y.mul_(top) if self.bias is None else torch.addcmul(self.bias, y, top, out=y)


_KERNELS: dict[str, Callable[[nn.Linear], nn.Module]] = {"fp16-weights": HalfWeights, "int8": RowwiseInt8}


def _replace_linears(model: nn.Module, kernel: Callable[[nn.Linear], nn.Module]) -> None:
    linears = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    with ThreadPoolExecutor(torch.get_num_threads()) as threads:  # packing a matrix keeps one core busy
        packed = threads.map(lambda found: kernel(found[1]), linears)
        for (name, _), module in zip(linears, packed, strict=True):
            model.set_submodule(name, module)
