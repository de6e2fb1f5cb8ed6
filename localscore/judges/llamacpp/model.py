"""A GGUF file in llama.cpp: what is called of its C interface, and nowhere else."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import finalize

import llama_cpp
import numpy as np

from localscore.errors import JudgeUnusable

BATCH = 512
"""The most tokens that go through the model at once; more take memory and are no faster."""
OUTPUTS = 128
"""The most of them whose scores may be wanted: those of one are as many as the vocabulary has tokens."""

_NO_ROOM, _NO_MEMORY = 1, -2
"""What `llama_decode` returns where a batch does not fit."""
_ERROR = 4
"""The level of a line of its log that says why something failed."""

_complaints: deque[str] = deque(maxlen=4)


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _listen(level: int, text: bytes, _: Any) -> None:
    """Keep why something failed; llama.cpp writes its log to stderr where nobody listens."""
    if level == _ERROR:
        _complaints.append(text.decode(errors="replace").strip())


class Token(NamedTuple):
    """What goes through the model."""

    id: int
    position: int
    """Where it stands in its sequences."""
    sequences: tuple[int, ...] = (0,)
    """To which its cell will belong."""
    wanted: bool = False
    """Whether the scores after it are."""


class Llama:
    """A model on a CPU, with cells for the keys and values of tokens.

    A cell belongs to one sequence or several; a token sees those of its own. It is put into the first empty one.
    """

    def __init__(self, gguf: Path, threads: int, *, cells: int = 2048, sequences: int = 16) -> None:
        """Load a file, with room for so many cells and sequences at first.

        Raises:
            JudgeUnusable: llama.cpp cannot read it, or its past cannot be shared.
        """
        llama_cpp.llama_log_set(_listen, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        _complaints.clear()
        none = (ctypes.c_void_p * 1)()
        options = llama_cpp.llama_model_default_params()
        options.devices = ctypes.cast(none, ctypes.c_void_p)
        options.n_gpu_layers = 0
        # Copies in other layouts: half as much memory again, no faster here, and a crash where GCC 12 built AMX in.
        options.use_extra_bufts = False
        self._model = llama_cpp.llama_model_load_from_file(str(gguf).encode(), options)
        if not self._model:
            raise JudgeUnusable(
                f"llama.cpp cannot read {gguf}: {'; '.join(_complaints)}",
                hint="The file may be damaged, or of a kind that this version of llama.cpp does not know.",
            )
        finalize(self, llama_cpp.llama_model_free, self._model)
        for kind in ("recurrent", "hybrid", "diffusion"):
            if getattr(llama_cpp, f"llama_model_is_{kind}")(self._model):
                raise JudgeUnusable(
                    f"{gguf} holds a {kind} model, of which llama.cpp keeps no past that can be shared.",
                    hint="Use --backend transformers.",
                )
        vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self.window = int(llama_cpp.llama_model_n_ctx_train(self._model))
        self.vocabulary = int(llama_cpp.llama_vocab_n_tokens(vocabulary))
        self.most_sequences = int(llama_cpp.llama_max_parallel_sequences())
        self._threads = threads
        self._used = 0
        self._open(cells, sequences)

    def trim(self, cells: int) -> None:
        """Empty all cells but the first so many, and let those belong to sequence 0 alone."""
        if cells:
            llama_cpp.llama_memory_seq_keep(self._memory, 0)
            llama_cpp.llama_memory_seq_rm(self._memory, 0, cells, -1)
        else:
            llama_cpp.llama_memory_clear(self._memory, False)
        self._used = cells

    def fork(self, sequences: int, more: int) -> None:
        """Let all cells, which belong to sequence 0, belong to the first so many sequences, before more cells come.

        Raises:
            MemoryError: there is not enough.
        """
        self._make_room(self._used + more, sequences)
        for other in range(1, sequences):
            llama_cpp.llama_memory_seq_cp(self._memory, 0, other, -1, -1)

    def state(self) -> Any:
        """Return the keys and values in the cells of sequence 0."""
        state = (ctypes.c_uint8 * llama_cpp.llama_state_seq_get_size(self._context, 0))()
        llama_cpp.llama_state_seq_get_data(self._context, state, len(state), 0)
        return state

    def restore(self, state: Any, cells: int) -> None:
        """Fill the first cells, which are empty, with what `state` returned of so many.

        Raises:
            MemoryError: there is not enough.
        """
        self._make_room(cells, 1)
        if llama_cpp.llama_state_seq_set_data(self._context, state, len(state), 0) != len(state):
            raise MemoryError("llama.cpp did not take back the keys and values that it gave.")
        self._used = cells

    def decode(self, tokens: Sequence[Token]) -> None:
        """Put at most `BATCH` tokens through the model, with at most `OUTPUTS` wanted ones among them.

        Raises:
            MemoryError: there is not enough.
        """
        self._make_room(self._used + len(tokens), 1)
        batch = self._batch
        batch.n_tokens = len(tokens)
        for n, token in enumerate(tokens):
            batch.token[n], batch.pos[n], batch.logits[n] = token.id, token.position, token.wanted
            batch.n_seq_id[n] = len(token.sequences)
            for place, sequence in enumerate(token.sequences):
                batch.seq_id[n][place] = sequence
        _complaints.clear()
        done = llama_cpp.llama_decode(self._context, batch)
        if done in (_NO_ROOM, _NO_MEMORY):
            raise MemoryError(f"llama.cpp has no room for {len(tokens)} tokens: {'; '.join(_complaints)}")
        if done != 0:
            raise RuntimeError(f"llama.cpp failed ({done}): {'; '.join(_complaints)}")
        self._used += len(tokens)

    def scores(self, place: int) -> Any:
        """Return the scores of all tokens after one that was wanted, in memory that the next `decode` overwrites."""
        row = llama_cpp.llama_get_logits_ith(self._context, place)
        return np.ctypeslib.as_array(row, (self.vocabulary,))

    @property
    def _memory(self) -> Any:
        return llama_cpp.llama_get_memory(self._context)

    def _make_room(self, cells: int, sequences: int) -> None:
        """Open a larger context where the present one does not suffice, and take what is in sequence 0 along."""
        if cells <= self._cells and sequences <= self._sequences:
            return
        state, used = (self.state(), self._used) if self._used else (None, 0)
        close = self._close
        self._open(_doubled(self._cells, cells), _doubled(self._sequences, sequences))
        close()
        if used:
            self.restore(state, used)

    def _open(self, cells: int, sequences: int) -> None:
        options = llama_cpp.llama_context_default_params()
        options.n_ctx, options.n_seq_max, options.kv_unified = cells, sequences, True
        options.n_batch = options.n_ubatch = BATCH
        options.n_outputs_max = OUTPUTS
        options.n_threads = options.n_threads_batch = self._threads
        # Flash attention adds in half precision on a CPU.
        options.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        options.swa_full = True
        options.offload_kqv = options.op_offload = False
        _complaints.clear()
        context = llama_cpp.llama_init_from_model(self._model, options)
        if not context:
            raise MemoryError(f"llama.cpp has no room for {cells} cells: {'; '.join(_complaints)}")
        self._context, self._batch = context, llama_cpp.llama_batch_init(BATCH, 0, sequences)
        self._cells, self._sequences, self._used = cells, sequences, 0
        self._close = finalize(self, _freed, self._context, self._batch)


def _freed(context: Any, batch: Any) -> None:
    llama_cpp.llama_batch_free(batch)
    llama_cpp.llama_free(context)


def _doubled(there: int, needed: int) -> int:
    """Return what there is, doubled until it suffices.

    >>> _doubled(2048, 5000)
    8192
    """
    while there < needed:
        there *= 2
    return there
