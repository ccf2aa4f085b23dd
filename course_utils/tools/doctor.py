"""Check that this machine is ready for the course. It needs only the standard library, so it can name what is missing.

Run `course doctor`, or `python -m course_utils.tools.doctor`.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
IN_ENVIRONMENT = sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ
INSTALL = (
    "make setup"
    if not IN_ENVIRONMENT
    else (f'"{sys.executable}" -m pip install -r "{LOCK}" --extra-index-url https://download.pytorch.org/whl/cpu')
)
DISK_GB, MEMORY_GB = 1.0, 3.0


@dataclass(frozen=True)
class Finding:
    """One line of the report. `fix` is the command or step that fixes a failure."""

    ok: bool
    name: str
    detail: str
    fix: str = ""

    def __str__(self):
        line = f"{'OK  ' if self.ok else 'FAIL'}  {self.name}: {self.detail}"
        return line if self.ok else f"{line}. Fix: {self.fix}"


def python_version():
    """The version of Python."""
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        (3, 11) <= sys.version_info[:2] < (3, 15),
        "Python",
        found,
        "install Python 3.11 to 3.14, then: make PYTHON=python3.11 setup",
    )


def locked(lock=LOCK):
    """The packages that the lock requires on this machine: a dictionary from name to version."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        from pip._vendor.packaging.requirements import Requirement
    wanted = {}
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                wanted[requirement.name] = str(requirement.specifier).lstrip("=")
    if not wanted:
        raise ValueError("an empty lock")
    return wanted


def packages(lock=LOCK):
    """Whether the packages have the locked versions."""
    try:
        wanted = locked(lock)
    except (OSError, ValueError, ImportError) as error:
        return Finding(
            False,
            "packages",
            f"{lock} cannot be read ({type(error).__name__})",
            "make it readable, or fetch it again: git checkout requirements.lock",
        )
    wrong = []
    for name, version in wanted.items():
        try:
            found = metadata.version(name).split("+")[0]  # 2.13.0+cpu is 2.13.0
        except metadata.PackageNotFoundError:
            found = "missing"
        if found != version:
            wrong.append(f"{name} {found}, locked {version}")
    if wrong:
        more = f" and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        return Finding(False, "packages", "; ".join(wrong[:4]) + more, INSTALL)
    return Finding(True, "packages", f"{len(wanted)}, as in {lock.name}")


def kernel():
    """Whether Jupyter has a Python kernel for this environment."""
    fix = f'"{sys.executable}" -m ipykernel install --sys-prefix --name python3'
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError:
        return Finding(False, "notebook kernel", "jupyter_client is missing", INSTALL)
    try:
        program = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return Finding(False, "notebook kernel", "no kernel named python3", fix)
    if Path(program).is_absolute():  # a bare "python" means the program that starts it, which is this one
        folders = {folder.resolve() for folder in list(Path(program).parents)[:2]}  # Windows has no bin
        if Path(sys.prefix).resolve() not in folders:
            return Finding(False, "notebook kernel", f"python3 starts a different Python, {program}", fix)
    return Finding(True, "notebook kernel", "python3 is this Python")


def kernel_start():
    """Whether kernels start from the warm process."""
    try:
        from .kernels.provisioner import SOCKET, listens, why_not
    except ImportError as error:
        return Finding(False, "kernel start", f"{error.name or error} is missing", INSTALL)
    if reason := why_not():
        return Finding(True, "kernel start", f"normal, a few seconds ({reason})")
    if os.environ.get(SOCKET) and not listens():
        return Finding(
            True, "kernel start", "normal, a few seconds (the preloaded process has ended; `make lab` starts another)"
        )
    where = "" if os.environ.get(SOCKET) else " in `make lab`"
    return Finding(
        True,
        "kernel start",
        f"instant{where}: kernels start from a process with the packages and the encoder preloaded",
    )


def encoder():
    """Whether the packaged encoder gives the expected vector."""
    from ..models import EncoderError, packaged_encoder

    try:
        packaged_encoder()
    except EncoderError as error:
        reason, _, fix = str(error).partition(". ")
        return Finding(False, "encoder", reason, fix.split(" with: ")[-1] if IN_ENVIRONMENT else INSTALL)
    return Finding(True, "encoder", "all-MiniLM-L6-v2, checksum correct")


def first_embedding():
    """Compute one embedding with the encoder that the lessons will use, and check the other data."""
    try:
        from ..data import load_reviews
        from ..embedding import embed
        from ..models import ENV_VAR, EncoderError, load_glove
    except ImportError as error:
        return Finding(False, "first embedding", f"{error.name or error} is missing", INSTALL)
    fix = INSTALL
    try:
        words, reviews = len(load_glove()[0]), len(load_reviews())
        if os.environ.get(ENV_VAR):
            fix = f"unset {ENV_VAR}"
        size = embed(["Is everything here?"]).shape[1]
    except EncoderError as error:
        return Finding(False, "first embedding", str(error).rstrip("."), fix)
    return Finding(True, "first embedding", f"{size} numbers; {words:,} GloVe words and {reviews:,} review sentences")


def disk(folder="."):
    """Free space on the disk."""
    free = shutil.disk_usage(folder).free / 1e9
    return Finding(free >= DISK_GB, "disk", f"{free:.1f} GB free", f"free at least {DISK_GB:.0f} GB")


def memory():
    """Free memory."""
    try:
        import psutil
    except ImportError:
        return Finding(False, "memory", "cannot be read without psutil", INSTALL)
    free = psutil.virtual_memory().available / 1e9
    return Finding(
        free >= MEMORY_GB,
        "memory",
        f"{free:.1f} GB available",
        f"close other programs until {MEMORY_GB:.0f} GB are available",
    )


def hub():
    """Whether the model hub answers. The course does not need it."""
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        state = "was not checked, because HF_HUB_OFFLINE is set"
    else:
        try:
            from ..models import hub_answers

            state = "answers" if hub_answers() else "does not answer"
        except ImportError:
            state = "was not checked, because packages are missing"
    return Finding(True, "model hub", f"{endpoint} {state}; only models other than the packaged one need it")


CHECKS = (python_version, packages, kernel, kernel_start, encoder, first_embedding, disk, memory, hub)


def examine():
    """Yield all findings in order, each computed on demand. An exception in a check becomes a finding."""
    for check in CHECKS:
        try:
            yield check()
        except Exception as error:
            yield Finding(False, check.__name__.replace("_", " "), f"{type(error).__name__}: {error}", INSTALL)


def main():
    """Print one line per finding. Exit status 0 if everything required is present."""
    healthy = True
    for finding in examine():
        print(finding, flush=True)
        healthy = healthy and finding.ok
    return 0 if healthy else 1


if __name__ == "__main__":
    sys.exit(main())
