"""Linux namespaces of this process. This module must start no thread: `unshare` works only without
other threads.
"""

import ctypes
import os
from typing import Any

# CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWIPC and CLONE_NEWNET of linux/sched.h
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
    """Move this process to a new user namespace, where it keeps its user and has all capabilities.

    new: flags of further namespaces to create, such as NEW_IPC | NEW_NETWORK. NEW_PROCESSES holds
    for children of this process only. Raises OSError where the system does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    call_libc("unshare", NEW_USER | new)
    for file, text in (
        ("setgroups", "deny"),  # first: without it, Linux refuses a gid_map
        ("uid_map", f"{user} {user} 1"),  # id inside, id outside, how many ids
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(text)
