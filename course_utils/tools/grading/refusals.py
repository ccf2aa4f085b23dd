"""Why a machine refuses bubblewrap its namespaces, and what its administrator can do about it."""

import os
from pathlib import Path

PROFILE = Path(__file__).with_name("bwrap.apparmor")
SETTINGS = Path("/proc/sys")  # of the kernel
# what Docker and Podman put into their containers
CONTAINER_FILES = (Path("/.dockerenv"), Path("/run/.containerenv"))
KUBERNETES = "KUBERNETES_SERVICE_HOST"  # a variable that Kubernetes sets in its containers
OPTIONS = " ".join(
    f"--security-opt {name}=unconfined" for name in ("seccomp", "apparmor", "systempaths")
)
# {a setting that can forbid user namespaces: (its value then, the value that allows them)}
USER_NAMESPACES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_user_namespaces": ("0", "10000"),
}


def explain(message: str) -> str:
    """A clause that says who refuses, and a sentence with what to do, without its full stop.

    message: bubblewrap's, or the sandbox's own, when it failed.
    """
    for name, (forbidden, allowed) in USER_NAMESPACES.items():
        if setting(name) == forbidden:
            return (
                f"the kernel's setting {name} forbids the namespaces that bubblewrap needs "
                f"({message}). `sudo sysctl -w {name}={allowed}` allows them until the next start"
            )
    # before AppArmor, whose setting a container shows as its host has it
    if any(map(Path.exists, CONTAINER_FILES)) or KUBERNETES in os.environ:
        return (
            "this looks like a container, whose engine does not let bubblewrap create namespaces "
            f"({message}). Mark outside of it, or as an ordinary user in one started with {OPTIONS}"
        )
    if setting("kernel.apparmor_restrict_unprivileged_userns") == "1":
        return (
            f"AppArmor does not let bubblewrap create namespaces ({message}). The course has a "
            f'profile that allows it: `sudo install -m 644 "{PROFILE}" /etc/apparmor.d/bwrap && '
            "sudo apparmor_parser -r /etc/apparmor.d/bwrap` installs it"
        )
    return f"this machine does not let bubblewrap create namespaces ({message})"


def setting(name: str) -> str:
    """The value of one of the kernel's settings, as sysctl names it; "" if it has none."""
    try:
        return SETTINGS.joinpath(*name.split(".")).read_text().strip()
    except OSError:
        return ""
