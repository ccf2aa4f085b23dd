"""Work in a learner's folder with the learner's rights, where root runs the command."""

import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


@contextmanager
def as_owner_of(folder: str | Path) -> Generator[None]:
    """Run a `with` block as the owner of a folder, if this process is root's and the folder is in
    somebody else's home.

    What a hub's hook writes then belongs to the student, and a link that the student has laid there
    leads root nowhere that the student may not go. Where the system does not let root change its
    user, as in some containers, the block runs as root.

    The block should import nothing: root's Python may be hidden from the owner.
    """
    owner = _owner(Path(folder)) if hasattr(os, "geteuid") and os.geteuid() == 0 else None
    with ExitStack() as undo:
        if owner is not None:
            with suppress(OSError):
                _become(owner, undo)
        yield


def _become(owner: tuple[int, int, list[int]], undo: ExitStack) -> None:
    """Take the groups, the group and the user of an owner, as `_owner` returns it.

    undo: gets what takes each step back. Raises OSError where the system does not allow it.
    """
    user, group, groups = owner
    groups_before, group_before = os.getgroups(), os.getegid()
    os.setgroups(groups)
    undo.callback(os.setgroups, groups_before)
    os.setegid(group)
    undo.callback(os.setegid, group_before)
    # last, since only root may take the two others, and taken back first
    os.seteuid(user)
    undo.callback(os.seteuid, 0)


def _owner(folder: Path) -> tuple[int, int, list[int]] | None:
    """(user, group, all groups) of the owner of a folder, or of the nearest one above it that
    exists and is not root's; None if all are.

    The folder may be missing, or a link: then it is the owner of the link.
    """
    path = Path(os.path.abspath(folder))
    for part in (path, *path.parents):
        try:
            status = part.lstat()
        except OSError:  # it is missing, or on a share that lets root not in
            continue
        if status.st_uid != 0:
            return _groups_of(status)
    return None


def _groups_of(status: os.stat_result) -> tuple[int, int, list[int]]:
    """(user, group, all groups) of the user whom a folder belongs to."""
    import pwd  # which Windows lacks

    try:
        user = pwd.getpwuid(status.st_uid)
    except KeyError:  # a user of another machine, as on a share
        return status.st_uid, status.st_gid, [status.st_gid]
    return user.pw_uid, user.pw_gid, os.getgrouplist(user.pw_name, user.pw_gid)
