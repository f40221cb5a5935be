"""Declaration of kernels: all use of numba is here, and nothing compiles at import.

numba's cache does not notice an edited callee in another file and would return stale results, so
the cache folder's name is a hash of all kernel files, of numba's version and of the CPU.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
from numba.core import config as numba_config
from numba.core.caching import IndexDataCacheFile
from numba.core.runtime.nrt import rtsys
from numba.extending import register_jitable

config: Any = numba_config  # settings are attributes made at run time
njit: Any = numba.njit  # its types lack options
Function = TypeVar("Function", bound=Callable[..., object])
DAYS_KEPT = 30
"""Days before unused kernels of another version are removed; another environment may need them."""


@cache
def cache_folder() -> str:
    """Return the folder of cached kernels: `IRMETA_CACHE_DIR`, else the user's cache folder.

    If that folder is not writable (a read-only home, a container), return a temporary folder.
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
        return _temporary_folder().name
    return str(folder) if os.access(folder, os.W_OK) else _temporary_folder().name


def _remove_unused(folder: Path) -> None:
    """Remove caches beside `folder` that no process has used for `DAYS_KEPT` days."""
    oldest = time.time() - DAYS_KEPT * 86_400
    for sibling in folder.parent.glob("kernels-*"):
        with suppress(OSError):  # another process may remove it too
            if sibling.stat().st_mtime < oldest:
                shutil.rmtree(sibling)


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    # Private, because numba unpickles cached files: a folder writable by others is unsafe.
    return tempfile.TemporaryDirectory(prefix="irmeta-")


_DIGEST = hashlib.sha256().digest_size


class _CheckedCacheFile(IndexDataCacheFile):
    """Cache files of one kernel, each followed by the SHA-256 of its content.

    A damaged file counts as missing: the kernel is compiled again and the file replaced. Plain
    numba would raise an UnpicklingError at every start, or run changed machine code.
    """

    def _load_index(self) -> dict[Any, str]:
        return super()._load_index() if _is_intact(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not _is_intact(path := self._data_path(name)):
            raise OSError(f"{path} is damaged")  # numba compiles what it cannot load
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Generator[Any]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue())  # unpickling ignores the checksum that follows
            file.write(hashlib.sha256(content.getbuffer()).digest())


def _is_intact(path: str) -> bool:
    try:
        content = memoryview(Path(path).read_bytes())
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST]).digest() == bytes(content[-_DIGEST:])


def jit(function: Function) -> Function:
    """Compile `function` at its first call, without the GIL, cached on disk.

    The cache folder is set only while numba declares the function, so that numba code of the caller
    keeps its own folder.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = cache_folder()
    try:
        # The unused wrapper for C would take time to compile.
        kernel = njit(nogil=True, cache=True, no_cfunc_wrapper=True)(function)
    finally:
        config.CACHE_DIR = before
    if not config.DISABLE_JIT:
        disk_cache, impl = kernel._cache, kernel._cache._impl
        disk_cache._cache_file = _CheckedCacheFile(
            disk_cache.cache_path, impl.filename_base, impl.locator.get_source_stamp()
        )
        disk_cache.load_overload = partial(_load, disk_cache)
        disk_cache.save_overload = partial(_save, disk_cache.save_overload)
    return kernel


def _load(disk_cache: Any, signature: Any, target: Any) -> Any:
    """Load a compiled kernel, or return None.

    numba would first import all that it can compile, linear algebra with scipy's included, which
    takes a fifth of a second. Compiled code needs numba's runtime only; the compiler imports the
    rest itself.
    """
    rtsys.initialize(target)
    with disk_cache._guard_against_spurious_io_errors():
        return disk_cache._load_overload(signature, target)


def _save(save: Callable[..., None], *compiled: object) -> None:
    """Save a compiled kernel if possible: a full disk is only a warning."""
    try:
        save(*compiled)
    except OSError as error:
        problem = f"compiled kernels cannot be cached, so each process compiles them again: {error}"
        warnings.warn(f"{problem}. IRMETA_CACHE_DIR names another folder.", stacklevel=2)


def inner(function: Function) -> Function:
    """Declare a function that only kernels call, compiled with them and without a Python wrapper.

    Called from Python, the function runs uncompiled.
    """
    return register_jitable(no_cfunc_wrapper=True)(function)


def inlined(function: Function) -> Function:
    """Declare a function like `inner` to be inlined by LLVM, for short code per byte or token.

    numba's inlining would copy the function before type inference.
    """
    return register_jitable(no_cfunc_wrapper=True, forceinline=True)(function)
