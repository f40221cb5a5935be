"""Declaration of kernels: all use of numba is here, and nothing compiles at import.

numba's cache does not notice an edited callee in another file and would return stale results, so
the cache folder's name is a hash of all kernel files, of numba's version and of the CPU.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
import numpy as np
from numba.core import config as numba_config
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys
from numba.extending import register_jitable

from irmeta.progress import compiling

config: Any = numba_config  # settings are attributes made at run time
njit: Any = numba.njit  # its types lack options
# numba has no public list of the environments that compiled functions refer to.
environments: Any = Environment._memo  # pyright: ignore[reportPrivateUsage]
Function = TypeVar("Function", bound=Callable[..., object])
Array = np.ndarray
Int = Any  # of any width: an int in Python, an element of an array in a kernel
DAYS_KEPT = 30
"""Days before unused kernels of another version are removed; another environment may need them."""


@cache
def cache_folder() -> str:
    """Return the folder of cached kernels: `IRMETA_CACHE_DIR`, else the user's cache folder.

    numba unpickles cached files, which may run any code, so only this user may write the folder. If
    it cannot be written (a read-only home, a container), or belongs to another user, return a
    temporary folder.
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
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            _remove_unused(folder)
        if (problem := _unsafe(folder)) is not None:
            warnings.warn(
                f"{folder} {problem}, so compiled kernels are cached for this process only: "
                "remove it, or set IRMETA_CACHE_DIR to a folder of your own.",
                stacklevel=2,
            )
            return _temporary_folder().name
        os.utime(folder)  # in use today
    except OSError:
        return _temporary_folder().name
    return str(folder) if os.access(folder, os.W_OK) else _temporary_folder().name


def _unsafe(folder: Path) -> str | None:
    """Withdraw the right to write a folder from others; return the reason if that fails."""
    if os.name != "posix":  # folders of a user are closed to others by default
        return None
    found = folder.lstat()  # a link could lead to any folder of this user
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return "belongs to another user" if found.st_uid != os.geteuid() else "is a link"
    if found.st_mode & _OTHERS_WRITE:
        folder.chmod(0o700)
        if folder.stat().st_mode & _OTHERS_WRITE:  # a file system without permissions
            return "can be written by other users"
    return None


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
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _CheckedCacheFile(IndexDataCacheFile):
    """Cache files of one kernel, each followed by the SHA-256 of its content.

    A damaged file, or one that others may have written, counts as missing: the kernel is compiled
    again and the file replaced. Plain numba would raise an UnpicklingError at every start, run
    changed machine code, or run the code of another user.
    """

    def _load_index(self) -> dict[Any, str]:
        if (content := _trusted(self._index_path)) is None:
            return {}
        file = io.BytesIO(content)
        if pickle.load(file) != self._version:
            return {}
        stamp, overloads = pickle.load(file)
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        if (content := _trusted(path := self._data_path(name))) is None:
            raise OSError(f"{path} is damaged")  # numba compiles what it cannot load
        return _CacheUnpickler(io.BytesIO(content)).load()

    @contextmanager
    def _open_for_write(self, filepath: str) -> Generator[Any]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            if os.name == "posix":  # the umask may let others write
                os.fchmod(file.fileno(), 0o600)
            file.write(content.getvalue())
            file.write(hashlib.sha256(content.getbuffer()).digest())


class _CacheUnpickler(pickle.Unpickler):
    """Unpickler of compiled kernels that imports no module only for its globals.

    numba would import the module of each of its own functions that a kernel calls, such as array
    functions, and half of numba with it. Compiled code reads only the constants of an environment.
    """

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return partial(_environment, found) if name == "_rebuild_env" else found


def _environment(
    rebuild: Callable[..., Any], module: str, constants: Sequence[object], name: str
) -> Any:
    """Return the environment of a compiled function; of a function of numba, without globals."""
    if constants or module in sys.modules or not module.startswith("numba."):
        return rebuild(module, constants, name)
    if (environment := lookup_environment(name)) is None:
        environment = Environment({"__name__": module})
        environment.env_name = name
        environments[name] = environment
    return environment


def _trusted(path: str) -> bytes | None:
    """Return the content of a cache file; None if it is damaged, or others may write it.

    Permissions are those of the open file, so that it cannot be exchanged after the check.
    """
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            content = file.read()
    except OSError:
        return None
    if os.name == "posix" and (found.st_uid != os.geteuid() or found.st_mode & _OTHERS_WRITE):
        return None
    kernel, digest = content[:-_DIGEST], content[-_DIGEST:]
    return kernel if hashlib.sha256(kernel).digest() == digest else None


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
        impl.rebuild = _rebuild
        disk_cache.load_overload = partial(_load, disk_cache)
        disk_cache.save_overload = partial(_save, disk_cache.save_overload)
        kernel._compilation_chain_init_hook = int  # kernels need no types of numba's extensions
    return kernel


class _LoadedLibrary(JITCodeLibrary):
    """Machine code of a cached kernel; its bitcode is parsed when a kernel that calls it compiles.

    numba would parse it at once, and look up all names in it, half of the time of loading a kernel.
    """

    bitcode: bytes
    linked: Any

    def _get_module_for_linking(self) -> Any:
        if self.linked is None:
            self.linked = llvmlite.binding.parse_bitcode(self.bitcode)
            codegen: Any = self.codegen
            codegen._engine._load_defined_symbols(self.linked)
        return self.linked


def _rebuild(target: Any, payload: Sequence[Any]) -> Any:
    """Return a kernel from its cached parts."""
    (name, kind, (code, bitcode)), function, *further = payload
    symbols = {function.llvm_func_name, function.llvm_cpython_wrapper_name}
    target.codegen()._engine._defined_symbols |= symbols
    unlinked = llvmlite.binding.parse_assembly("").as_bitcode()
    loaded: Any = CompileResult
    result = loaded._rebuild(target, (name, kind, (code, unlinked)), function, *further)
    result.library.__class__ = _LoadedLibrary
    result.library.bitcode, result.library.linked = bitcode, None
    return result


def _load(disk_cache: Any, signature: Any, target: Any) -> Any:
    """Load a compiled kernel, or return None."""
    # numba would first import all that it can compile, linear algebra with scipy's included, which
    # takes a fifth of a second. Compiled code needs numba's runtime only; the compiler imports the
    # rest itself.
    rtsys.initialize(target)
    loaded = None
    with disk_cache._guard_against_spurious_io_errors():
        loaded = disk_cache._load_overload(signature, target)
    compiling(loaded is None)
    return loaded


def _save(save: Callable[..., None], *compiled: object) -> None:
    """Save a compiled kernel if possible: a full disk is only a warning."""
    compiling(False)
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
