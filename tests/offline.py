"""Cut this process off from every network except a loopback of its own (Linux only).

Processes that it starts afterwards share that loopback. The functions below serve tests of servers
on this machine.
"""

import os
import socket
import struct
import sys
import time
import urllib.request

from course_utils._support.namespaces import NEW_NETWORK, call_libc, own_users

SET_FLAGS, UP = 0x8914, 0x1  # Linux's SIOCSIFFLAGS and IFF_UP


def block_network():
    """Move this process into a new network namespace, in which only loopback is up.

    Returns "", or the reason why that is not possible.
    """
    if not sys.platform.startswith("linux"):
        return f"network namespaces are a Linux thing; this is {sys.platform}"
    import fcntl  # not available on Windows

    try:
        call_libc("unshare", NEW_NETWORK)
    except OSError:  # without root, this needs a user namespace too
        try:
            own_users(NEW_NETWORK)
        except OSError as error:
            return f"the kernel refuses a network namespace ({os.strerror(error.errno)})"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        # C's struct ifreq: 16 bytes for the interface's name, a short for its flags, 14 unused
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
    return ""


def free_port():
    """A loopback port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def interfaces():
    """Names of the network interfaces visible to this process."""
    return [name for _, name in socket.if_nameindex()]


def open_when_ready(address, seconds=60):
    """The answer of a server on this machine, which may still be starting; the caller closes it.

    An error status counts as no answer, as does a connection that breaks off. Fails if there is no
    answer in that time.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return urllib.request.urlopen(address, timeout=seconds)
        except OSError:  # urllib's errors, and those of the connection
            assert time.monotonic() < until, f"{address} does not answer"
            time.sleep(0.2)
