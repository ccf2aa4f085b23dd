"""Linux namespaces of this process. This module must start no thread: `unshare` works only without
other threads.
"""

import ctypes
import os
from typing import Any

NEW_USER, NEW_MOUNTS, NEW_PROCESSES, NEW_IPC, NEW_NETWORK = (
    0x10000000,
    0x00020000,
    0x20000000,
    0x08000000,
    0x40000000,
)


def call_libc(name: str, *args: Any) -> None:
    """Call a function of the C library. Raises OSError if it does not return 0."""
    if ctypes.CDLL(None, use_errno=True)[name](*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def own_users(new: int = 0) -> None:
    """Create a user namespace for this process, which keeps its user and gets all capabilities, and
    other namespaces.

    new: flags of the other namespaces.
    """
    user, group = os.getuid(), os.getgid()
    call_libc("unshare", NEW_USER | new)
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(text)
