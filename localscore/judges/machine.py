"""What torch can compute with on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

_DRIVER = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class Machine:
    """The build of torch, and the GPU that it would use."""

    torch: str
    cuda: str | None
    """The CUDA version that torch was built for; none of a build for CPUs."""
    driver: str | None
    gpu: str | None
    gpu_memory: int
    """Bytes that are free on it."""

    @property
    def told(self) -> str:
        """One line: which GPU is used, or why none is."""
        if self.gpu is not None:
            return f"{self.gpu}, {self.gpu_memory / 1e9:.1f} GB free, driver {self.driver or 'unknown'}"
        if self.cuda is None:
            return "no GPU is used: this torch was built for CPUs alone"
        if self.driver is None:
            return "no GPU is used: there is no NVIDIA driver on this machine"
        return f"no GPU is used: torch, built for CUDA {self.cuda}, finds none with the driver {self.driver}"

    @property
    def wrong(self) -> bool:
        """Whether there is a driver that torch cannot use."""
        return self.gpu is None and self.cuda is not None and self.driver is not None


def gpus() -> int:
    """Return how many GPUs torch can use here."""
    return int(torch.cuda.device_count())


def this_machine() -> Machine:
    """Look at this machine."""
    lines = _DRIVER.read_text(errors="replace").splitlines() if _DRIVER.is_file() else []
    there = torch.cuda.is_available()
    return Machine(
        torch=torch.__version__,
        cuda=torch.version.cuda,
        driver=lines[0].removeprefix("NVRM version: ").strip() if lines else None,
        gpu=torch.cuda.get_device_name() if there else None,
        gpu_memory=torch.cuda.mem_get_info()[0] if there else 0,
    )
