"""Kernels that one of several test processes compiles for all, through the cache on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from irmeta.kernels import jit

LOAD, SAVE = jit._load, jit._save
LONGEST_COMPILATION = 60
"""Seconds after which a process compiles a kernel itself."""
LOCKS: dict[Path, FileLock] = {}


def compile_once() -> None:
    """Let a process wait for a kernel that another compiles, as of kernels not yet declared."""
    jit._load, jit._save = load, save


def load(disk_cache: Any, signature: Any, target: Any) -> Any:
    """Load a compiled kernel; if there is none, return None and lock it until it is saved."""
    kernel = LOAD(disk_cache, signature, target)
    path = lock_of(disk_cache)
    if kernel is not None or path in LOCKS:
        return kernel
    lock = FileLock(path)
    try:
        lock.acquire(timeout=LONGEST_COMPILATION)
    except Timeout:
        return None
    kernel = LOAD(disk_cache, signature, target)
    if kernel is None:
        LOCKS[path] = lock
    else:
        lock.release()
    return kernel


def save(save_overload: Any, *compiled: object) -> None:
    """Save a compiled kernel and unlock it."""
    try:
        SAVE(save_overload, *compiled)
    finally:
        if (lock := LOCKS.pop(lock_of(save_overload.__self__), None)) is not None:
            lock.release()


def lock_of(disk_cache: Any) -> Path:
    """Return the lock of all signatures of a kernel."""
    return Path(disk_cache.cache_path) / f"{disk_cache._impl.filename_base}.lock"
