"""A card's name, a folder or a GGUF file → a judge. Nothing is downloaded here."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from localscore import offline
from localscore.calibration import PRIOR, Calibrations
from localscore.errors import JudgeDamaged, JudgeUnusable, OptionError
from localscore.extras import extra
from localscore.judges import Judge, JudgeIdentity, LoadedAs
from localscore.judges.calibrated import CalibratedJudge
from localscore.judges.cards import Card, Tuning, find_card, read_tuning, unknown
from localscore.judges.harmless import check_harmless
from localscore.judges.memory import (
    ITEMSIZE,
    LLAMACPP,
    Shape,
    check_disk,
    check_memory,
    free_memory,
    needed,
    needed_by_llamacpp,
)
from localscore.judges.store import building, check_sums, home, judge_folder, known_sha256, required

if TYPE_CHECKING:
    import torch

    from localscore.judges.arithmetic import Arithmetic, Device, Dtype, Quantize
    from localscore.judges.huggingface import HuggingFaceJudge
    from localscore.judges.llamacpp import LlamaCppJudge

log = logging.getLogger("localscore")

Backend = Literal["auto", "transformers", "llamacpp"]
Verify = Literal["quick", "full"]

MANNERS = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that wait for each other sleep instead of spinning; on a busy machine torch reads twice as fast so.
    "OMP_WAIT_POLICY": "PASSIVE",
}
"""Set before anything heavy is imported, where nobody has set it otherwise."""

OWN_CARD = "localscore.toml"
"""The file next to a judge in which its user says how it is asked and calibrated."""

_SOFTWARE = ("torch", "transformers", "outlines", "llguidance", "tokenizers")


def load_judge(
    name: str | Path,
    *,
    backend: Backend = "auto",
    device: Device = "auto",
    dtype: Dtype = "auto",
    quantize: Quantize = "none",
    batch_tokens: int | None = None,
    calibration: str | Path = "auto",
    verify: Verify = "quick",
) -> Judge:
    """Return the judge of that name, ready to be asked; its weights are read with the first question.

    Args:
        name: a card (`localscore models list`), a folder in the Hugging Face format, or a `.gguf` file.
        backend: what reads: `transformers`, which is what `auto` takes, or `llamacpp` (`localscore[llamacpp]`): on a
            CPU, with the numbers of a GGUF file as they are, in a quarter of the memory.
        device: `auto` takes a GPU when there is one.
        dtype: `auto` is float32 on a CPU; bfloat16 on a GPU that has it, else float16.
        quantize: cheaper arithmetic on a CPU: `fp16-weights` or `int8`.
        batch_tokens: the most tokens read in one pass where prompts are read together (on a GPU, but in float32);
            none is what half of the free memory holds.
        calibration: a file that `localscore calibrate` wrote; `auto` is what `localscore.toml` next to the judge
            says, or else its card, or none where both are silent; `prior` needs no verdicts of people; `none`
            leaves the judge's probabilities as they are.
        verify: `full` computes the sha256 of all files again; `quick` trusts what was computed before where size,
            time of change, beginning and end of a file are the same.

    Raises:
        UnknownJudge: there is no card, folder or file of that name.
        JudgeMissing: the card's files are not on this machine; `localscore models pull` brings them.
        JudgeDamaged: the files are not what the card says.
        JudgeUnusable: no weights in safetensors or GGUF, or no chat template.
        JudgeUnsafe: a file that could run code, or that leads out of the judge's folder.
        TooLarge: memory or disk does not suffice.
        CalibrationError: the calibration cannot be read.
        OptionError: a device that is not there, an unknown dtype, or options that do not go together.
    """
    if backend not in get_args(Backend):
        raise OptionError(f"backend is {backend!r}; expected one of {', '.join(get_args(Backend))}.")
    tuning = _tuning(str(name), calibration)
    judge: HuggingFaceJudge | LlamaCppJudge
    if backend == "llamacpp":
        _refuse_options(device=device, dtype=dtype, quantize=quantize, batch_tokens=batch_tokens)
        judge = load_llamacpp(name, prompts=tuning.prompts, verify=verify)
    else:
        judge = load_model(
            name,
            device=device,
            dtype=dtype,
            quantize=quantize,
            batch_tokens=batch_tokens,
            prompts=tuning.prompts,
            verify=verify,
        )
    found: CalibratedJudge | HuggingFaceJudge | LlamaCppJudge = judge
    if tuning.calibration:
        found = CalibratedJudge(judge, tuning.calibration)
    told = {"device": device, "dtype": dtype, "quantize": quantize, "batch_tokens": batch_tokens}
    found.loaded_as = LoadedAs(
        _from_here(name), told | {"backend": backend, "calibration": _from_here(calibration)}
    )
    return found


def _from_here(name: str | Path) -> str:
    """Return the name of a card, or the whole path of a file or folder."""
    path = Path(name).expanduser()
    try:
        return str(path.resolve()) if find_card(str(name)) is None and path.exists() else str(name)
    except OSError:
        return str(name)


def _refuse_options(**options: object) -> None:
    """Refuse what llama.cpp cannot be told: it computes on a CPU with the numbers of the file, a unit in a pass."""
    for name, value in options.items():
        if value not in (None, "auto", "none", "cpu"):
            raise OptionError(
                f"{name} is {value!r}, which the backend llamacpp cannot do.",
                hint=f"Leave {name} as it is, or use --backend transformers.",
            )


def own_card(name: str) -> Path:
    """Return where the card of a judge's user is, or would be: next to its files."""
    card, path = find_card(name), Path(name).expanduser()
    if card is not None:
        return judge_folder(card) / OWN_CARD
    try:
        return (path if path.is_dir() else path.parent) / OWN_CARD
    except OSError:  # a name that no file can have
        raise unknown(name) from None


def tuning_of(name: str) -> Tuning:
    """Return how a judge is asked and calibrated: what its user's card says, and where it is silent, its card."""
    card, own = find_card(name), own_card(name)
    tuning: Tuning = card or Tuning()
    if not own.is_file():
        return tuning
    told = read_tuning(own)
    return Tuning(
        prompts={**tuning.prompts, **told.prompts},
        calibration={**tuning.calibration, **told.calibration},
        agreement={**tuning.agreement, **told.agreement},
    )


def _tuning(name: str, calibration: str | Path) -> Tuning:
    tuning = tuning_of(name)
    if calibration == "auto":
        return tuning
    chosen: Calibrations = {}
    if calibration == "prior":
        chosen = PRIOR
    elif calibration != "none":
        chosen = read_tuning(Path(calibration).expanduser()).calibration
    return Tuning(prompts=tuning.prompts, calibration=dict(chosen))


def load_model(
    name: str | Path,
    *,
    device: Device = "auto",
    dtype: Dtype = "auto",
    quantize: Quantize = "none",
    batch_tokens: int | None = None,
    prompts: Mapping[str, str] | None = None,
    verify: Verify = "quick",
) -> HuggingFaceJudge:
    """Return the judge of that name, read by transformers, without a calibration; see `load_judge`."""
    if batch_tokens is not None and batch_tokens < 1:
        raise OptionError(f"batch_tokens is {batch_tokens}; expected at least 1.")
    _begin(verify)
    from localscore.judges.arithmetic import chosen
    from localscore.judges.huggingface import HuggingFaceJudge

    arithmetic = chosen(device, dtype, quantize)
    files = _Files.of(str(name), full=verify == "full")
    folder = files.converted(arithmetic.dtype_name) if files.where.is_file() else files.where
    check_size(files.called, files.where, folder, files.card, arithmetic, batch_tokens)
    if files.where.is_file():
        _convert(files.where, folder, arithmetic.dtype)
        check_sums(folder, full=files.full)
        check_harmless(folder)
    details = {
        "device": arithmetic.device,
        "dtype": arithmetic.dtype_name,
        "quantize": arithmetic.quantize,
        "prompts": dict(prompts or {}),
        "software": {package: version(package) for package in _SOFTWARE},
    }
    identity = files.identity(details, exact=arithmetic.exact, noise=arithmetic.noise)
    judge = HuggingFaceJudge(folder, identity, arithmetic, batch_tokens=batch_tokens, prompts=prompts or {})
    identity.details["chat"] = {"before": judge.chat.frame.before, "after": judge.chat.frame.after}
    return judge


def load_llamacpp(
    name: str | Path, *, prompts: Mapping[str, str] | None = None, verify: Verify = "quick"
) -> LlamaCppJudge:
    """Return the judge of that name, read by llama.cpp, without a calibration; see `load_judge`."""
    _begin(verify)
    llama_cpp = extra("llama_cpp", of="llamacpp", what="The backend llamacpp")
    from localscore.judges.llamacpp import NOISE, LlamaCppJudge

    files = _Files.of(str(name), full=verify == "full")
    if not files.where.is_file():
        raise JudgeUnusable(
            f"{files.where} is no GGUF file, which is all that llama.cpp reads.",
            hint="Use --backend transformers, or a .gguf file.",
        )
    check_memory(files.called, {LLAMACPP: needed_by_llamacpp(files.where)}, LLAMACPP, free_memory())
    folder = files.converted("tokenizer")
    with building(folder) as partial:
        if partial is not None:
            from localscore.judges.gguf import convert_tokenizer

            convert_tokenizer(files.where, partial)
    check_sums(folder, full=files.full)
    check_harmless(folder)
    details = {
        "backend": LLAMACPP,
        "device": "cpu",
        "dtype": "gguf",
        "quantize": "none",
        "prompts": dict(prompts or {}),
        "software": {package: version(package) for package in (*_SOFTWARE, "llama-cpp-python")},
        "kernels": llama_cpp.llama_print_system_info().decode().strip(" |"),
    }
    identity = files.identity(details, exact=True, noise=NOISE)
    judge = LlamaCppJudge(files.where, folder, identity, prompts=prompts)
    identity.details["chat"] = {"before": judge.chat.frame.before, "after": judge.chat.frame.after}
    return judge


def _begin(verify: Verify) -> None:
    if verify not in get_args(Verify):
        raise OptionError(f"verify is {verify!r}; expected one of {', '.join(get_args(Verify))}.")
    offline.enforce()
    os.environ.update(MANNERS | os.environ)


class _Files(NamedTuple):
    """The files of a judge, looked at."""

    where: Path
    """A folder, or a GGUF file."""
    card: Card | None
    hashes: dict[str, str]
    full: bool
    """Whether all of them are read again."""

    @classmethod
    def of(cls, name: str, *, full: bool) -> _Files:
        """Find a judge's files, and compare them with its card."""
        where, card = _located(name)
        hashes = _hashes(where, full=full)
        if card is not None:
            _check_card_hashes(hashes, card)
        return cls(where, card, hashes, full)

    @property
    def called(self) -> str:
        """The judge's name."""
        return self.card.name if self.card else self.where.name

    def converted(self, kind: str) -> Path:
        """Return the folder for what is made of a GGUF file."""
        return home() / "converted" / f"{self.hashes[self.where.name][:16]}-{kind}"

    def identity(self, details: Mapping[str, Any], *, exact: bool, noise: float) -> JudgeIdentity:
        """Say who judges: these files, and how they are computed with."""
        made_of = json.dumps({"files": self.hashes, **details}, sort_keys=True)
        fingerprint = hashlib.sha256(made_of.encode()).hexdigest()
        told = {"card": self.card.name if self.card else None, "files": self.hashes, **details}
        return JudgeIdentity(self.called, fingerprint, told, exact=exact, noise=noise)


def _located(name: str) -> tuple[Path, Card | None]:
    """Return the folder or GGUF file of a judge, and its card if it has one."""
    if not name.strip():
        raise unknown(name)
    card = find_card(name)
    if card is not None:
        folder = required(card)
        if card.gguf:
            return folder / card.gguf, card
        check_harmless(folder)
        return folder, card
    path = Path(name).expanduser()
    try:
        path.exists()
    except OSError:  # a name that no file can have
        raise unknown(name) from None
    if path.is_dir():
        _check_folder(path)
        check_harmless(path)
    elif not path.is_file():
        raise unknown(name)
    elif path.suffix != ".gguf":
        raise JudgeUnusable(f"{path} is no judge.", hint="Give a card's name, a folder, or a .gguf file.")
    elif not _begins_with(path, b"GGUF"):
        raise JudgeUnusable(f"{path} is not a GGUF file: it does not begin with 'GGUF'.")
    return path, None


def _begins_with(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(start)) == start


def _check_folder(folder: Path) -> None:
    hint = "Give a folder with config.json, tokenizer.json and *.safetensors, as transformers saves it."
    if not (folder / "config.json").is_file():
        raise JudgeUnusable(f"{folder} has no config.json.", hint=hint)
    if not list(folder.glob("*.safetensors")):
        others = sorted(
            p.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for p in folder.glob(pattern)
        )
        found = f"; {', '.join(others)} may run code when read and is refused" if others else ""
        raise JudgeUnusable(f"{folder} has no weights in safetensors{found}.", hint=hint)
    if not (folder / "tokenizer.json").is_file():
        raise JudgeUnusable(f"{folder} has no tokenizer.json.", hint=hint)


def _check_card_hashes(hashes: Mapping[str, str], card: Card) -> None:
    expected = {file.path: file.sha256 for file in card.files}
    hint = f"See: localscore models verify {card.name}"
    for name, found in hashes.items():
        if name not in expected:
            raise JudgeDamaged(f"{judge_folder(card) / name} is not one of the card's files.", hint=hint)
        if expected[name] not in (None, found):
            raise JudgeDamaged(
                f"{name} is not the file of the card {card.name!r}: its sha256 is {found}, expected {expected[name]}.",
                hint=hint,
            )


def _hashes(where: Path, *, full: bool = False) -> dict[str, str]:
    """Return the sha256 of every file that has a say in a judge's verdicts, by name."""
    if where.is_file():
        return {where.name: known_sha256(where, full=full)}
    kinds = ("*.safetensors", "*.json", "*.jinja", "*.model", "additional_chat_templates/*.jinja")
    paths = sorted(path for kind in kinds for path in where.glob(kind))
    return {str(path.relative_to(where)): known_sha256(path, full=full) for path in paths}


def check_size(
    name: str, where: Path, folder: Path, card: Card | None, arithmetic: Arithmetic, tokens: int | None = None
) -> None:
    """Refuse a judge that does not fit into memory, or does not fit onto the disk where it has yet to be converted.

    Raises:
        TooLarge: it does not fit.
    """
    if (folder / "config.json").is_file():
        shape = Shape.of(folder)
    elif card is not None:
        shape = Shape(card.parameters)
    else:
        from localscore.judges.gguf import parameters

        shape = Shape(parameters(where))
    dtypes = [arithmetic.dtype_name] if arithmetic.quantize != "none" else list(ITEMSIZE)
    needs = {dtype: needed(shape, card, dtype, tokens) for dtype in dtypes}
    if where.is_file() and arithmetic.device == "cpu":
        needs[LLAMACPP] = needed_by_llamacpp(where)
    check_memory(name, needs, arithmetic.dtype_name, arithmetic.free_memory())
    if where.is_file() and not folder.is_dir():
        size = shape.parameters * ITEMSIZE[arithmetic.dtype_name]
        check_disk(folder, size, f"Converting {where.name} to safetensors")


def _convert(gguf: Path, folder: Path, dtype: torch.dtype) -> None:
    """Unpack a GGUF file's model to safetensors, the first time."""
    from localscore.judges.gguf import convert

    with building(folder) as partial:
        if partial is not None:
            log.info(
                "Converting %s to safetensors, once; this takes a minute or so for 1.5B parameters.",
                gguf.name,
            )
            convert(gguf, partial, dtype)
