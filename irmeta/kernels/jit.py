"""The one door to numba: every kernel is declared with `jit`, and nothing compiles at import.

numba's cache does not notice an edited callee in another file and would return old numbers, so the
cache folder's name is a hash of every kernel file, of numba's version and of the CPU.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
from numba.core import config as numba_config
from numba.core.caching import IndexDataCacheFile
from numba.extending import register_jitable

config: Any = numba_config  # its settings are made at run time
njit: Any = numba.njit  # its types lack options
Function = TypeVar("Function", bound=Callable[..., object])
DAYS_KEPT = 30
"""Days that compiled kernels of another version are kept: another environment may need them."""


@cache
def cache_folder() -> str:
    """Where compiled kernels are kept: `IRMETA_CACHE_DIR`, else the user's cache folder.

    Where that is not writable (a read-only home, a container), a temporary folder of this process.
    """
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    home = os.environ.get("IRMETA_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "irmeta"
    )
    folder = Path(home) / name
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _remove_unused(folder)
        os.utime(folder)  # in use today
    except OSError:
        return _own_folder().name
    return str(folder) if os.access(folder, os.W_OK) else _own_folder().name


def _remove_unused(folder: Path) -> None:
    """Remove caches beside `folder` that no process has used for `DAYS_KEPT` days."""
    oldest = time.time() - DAYS_KEPT * 86_400
    for other in folder.parent.glob("kernels-*"):
        with suppress(OSError):  # another process may remove it too
            if other.stat().st_mtime < oldest:
                shutil.rmtree(other)


@cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    # Never shared: numba unpickles what it finds, so a folder that others can write is unsafe.
    return tempfile.TemporaryDirectory(prefix="irmeta-")


_DIGEST = hashlib.sha256().digest_size


class _CheckedCacheFile(IndexDataCacheFile):
    """The cache files of one kernel, each ended by the SHA-256 of what stands before it.

    A damaged file is as good as none: its kernel is compiled again and the file replaced. numba
    would raise an UnpicklingError at every start, or run machine code that was changed.
    """

    def _load_index(self) -> dict[Any, str]:
        return super()._load_index() if _is_intact(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_intact(path := self._data_path(name)):
            raise OSError(f"{path} is damaged")  # numba compiles what it cannot load
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue())  # unpickling stops before what follows
            file.write(hashlib.sha256(content.getbuffer()).digest())


def _is_intact(path: str) -> bool:
    try:
        content = memoryview(Path(path).read_bytes())
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST]).digest() == content[-_DIGEST:]


def jit(function: Function) -> Function:
    """Compile `function` at its first call, without the GIL, cached on disk.

    The cache folder is chosen when numba declares the function, so it is set for that moment only
    and the caller's own numba code keeps its own.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = cache_folder()
    try:
        # nothing here calls its entry for C, which takes time to compile
        kernel = njit(nogil=True, cache=True, no_cfunc_wrapper=True)(function)
    finally:
        config.CACHE_DIR = before
    if not config.DISABLE_JIT:
        own, impl = kernel._cache, kernel._cache._impl
        own._cache_file = _CheckedCacheFile(
            own.cache_path, impl.filename_base, impl.locator.get_source_stamp()
        )
        own.save_overload = partial(_save, own.save_overload)
    return kernel


def _save(save: Callable[..., None], *compiled: object) -> None:
    """Keep what was compiled, if there is room: a full home is no reason to stop."""
    try:
        save(*compiled)
    except OSError as error:
        said = f"compiled kernels cannot be kept, so each process compiles them again: {error}"
        warnings.warn(f"{said}. IRMETA_CACHE_DIR names another folder.", stacklevel=2)


def inner(function: Function) -> Function:
    """For what kernels alone call: compiled with them, and without an entry from Python.

    Python itself would run it as it stands.
    """
    return register_jitable(no_cfunc_wrapper=True)(function)


def inlined(function: Function) -> Function:
    """As `inner`, for a few lines that kernels run for every byte or token.

    LLVM puts them into their callers: it compiles them once, where numba's own inlining copies
    them before it infers types.
    """
    return register_jitable(no_cfunc_wrapper=True, forceinline=True)(function)
