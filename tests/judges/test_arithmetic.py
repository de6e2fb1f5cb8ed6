from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from localscore import inquiries
from localscore.errors import OptionError
from localscore.judges import arithmetic
from localscore.judges.arithmetic import Arithmetic, Head, chosen

if TYPE_CHECKING:
    from localscore.judges.arithmetic import Device, Dtype, Quantize

needs_kernels = pytest.mark.skipif(not arithmetic._has_kernels(), reason="torch was built without FBGEMM")


@pytest.mark.parametrize(
    ("asked", "gpu", "expected"),
    [
        (("auto", "auto", "none"), "none", Arithmetic("cpu", torch.float32)),
        (("auto", "auto", "none"), "with bfloat16", Arithmetic("cuda", torch.bfloat16)),
        (("auto", "auto", "none"), "without bfloat16", Arithmetic("cuda", torch.float16)),
        (("cpu", "auto", "none"), "with bfloat16", Arithmetic("cpu", torch.float32)),
        (("cuda", "float32", "none"), "with bfloat16", Arithmetic("cuda", torch.float32)),
        (("cpu", "bfloat16", "none"), "none", Arithmetic("cpu", torch.bfloat16)),
        (("auto", "auto", "int8"), "with bfloat16", Arithmetic("cpu", torch.float32, "int8")),
    ],
)
def test_auto_takes_what_the_machine_has(
    asked: tuple[Device, Dtype, Quantize], gpu: str, expected: Arithmetic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu != "none")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: gpu == "with bfloat16")
    monkeypatch.setattr(arithmetic, "_has_kernels", lambda: True)
    assert chosen(*asked) == expected


def test_a_quantization_that_this_torch_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "_has_kernels", lambda: False)
    with pytest.raises(OptionError, match="needs kernels that this build of torch"):
        chosen("cpu", "auto", "int8")


@pytest.mark.parametrize(
    ("how", "exact"),
    [
        (Arithmetic("cpu", torch.float32), True),
        (Arithmetic("cpu", torch.float32, "int8"), True),
        (Arithmetic("cpu", torch.bfloat16), True),
        (Arithmetic("cuda", torch.float32), True),
        (Arithmetic("cuda", torch.bfloat16), False),
    ],
)
def test_a_gpu_reads_units_together_but_in_float32(how: Arithmetic, exact: bool) -> None:
    assert how.exact is exact
    assert how.noise > 0


@needs_kernels
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("kernel", "error"),
    [(arithmetic.PackedLinear, 1e-5), (arithmetic.HalfWeights, 1e-3), (arithmetic.RowwiseInt8, 0.02)],
)
def test_a_kernel_computes_what_the_matrix_says(kernel: type[nn.Module], error: float, bias: bool) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(384, 320, bias=bias)
    x = torch.randn(1, 40, 384) * torch.logspace(-2, 2, 40)[:, None]
    with torch.inference_mode():
        expected = linear(x)
        found = kernel(linear)(x)
    size = expected.norm(dim=-1)
    assert float(((found - expected).norm(dim=-1) / size).max()) < error


@needs_kernels
def test_a_row_in_int8_depends_on_that_row_alone() -> None:
    torch.manual_seed(0)
    quantized = arithmetic.RowwiseInt8(nn.Linear(384, 320))
    x = torch.randn(50, 384)
    x[7] *= 1000
    with torch.inference_mode():
        together = quantized(x)
        assert torch.equal(quantized(torch.zeros(1, 384)), quantized.bias[None])
        for row in range(50):
            assert torch.equal(quantized(x[row : row + 1])[0], together[row])


@needs_kernels
def test_int8_does_not_overflow_where_products_are_added_in_16_bits() -> None:
    # The largest weights and inputs there are: two products of 255 and 63 are less than 2**15.
    linear = nn.Linear(256, 16, bias=False)
    linear.weight = nn.Parameter(torch.ones(16, 256))
    with torch.inference_mode():
        found = arithmetic.RowwiseInt8(linear)(torch.ones(1, 256))
    assert found[0].tolist() == pytest.approx([256.0] * 16)


def test_a_head_can_be_asked_for_single_rows() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(8, 100)
    head, x = Head(linear, linear), torch.randn(3, 8)
    rows = torch.tensor([7, 90, 2])
    with torch.inference_mode():
        with head.only(rows):
            some = head(x)
        assert torch.allclose(some, head(x)[:, rows], atol=1e-6)
        assert torch.equal(head(x), linear(x))


@needs_kernels
@pytest.mark.judge
@pytest.mark.parametrize("quantize", ["fp16-weights", "int8"])
def test_a_quantized_judge_is_another_judge_that_agrees(quantize: Quantize) -> None:
    from localscore.judges.loading import load_model
    from localscore.results import Judgment
    from tests.conftest import SMALL

    asked = [
        inquiries.relevance("Who ran?", text) for text in ("Ann ran.", "Bananas are yellow.", "It rained.")
    ]
    plain, cheap = load_model(SMALL, device="cpu"), load_model(SMALL, quantize=quantize)
    assert plain.identity.fingerprint != cheap.identity.fingerprint
    for exact, near in zip(plain.decide(asked), cheap.decide(asked), strict=True):
        assert isinstance(exact, Judgment)
        assert isinstance(near, Judgment)
        assert exact.probabilities is not None
        # A judge of this size is shaken the most; the larger ones' differences are in their cards.
        limit = 0.25 if quantize == "int8" else 0.01
        assert near.probabilities == pytest.approx(exact.probabilities, abs=limit)
