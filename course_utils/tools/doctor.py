"""Check that this machine is ready for the course. It needs only the standard library, so it can name what is missing.

Run `course doctor`, or `python -m course_utils.tools.doctor`.
"""

import os
import shutil
import sys
import warnings
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .. import PROJECT
from .._support.notebooks import INSTALLED, LOCK, PACKAGE, incomplete
from .workspace.lab import home_is_writable

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
IN_ENVIRONMENT = sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ
INSTALL = (
    f'"{sys.executable}" -m pip install --force-reinstall, with the course\'s wheel'
    if INSTALLED
    else "make setup"
    if not IN_ENVIRONMENT
    else f'"{sys.executable}" -m pip install -r "{LOCK}" --extra-index-url {TORCH_INDEX}'
)
DISK_GB, MEMORY_GB = 1.0, 3.0
BITS = 64 if sys.maxsize > 2**32 else 32
OLDEST_PIP = (20, 3)  # reads the names of PyTorch's packages for Linux
# What lessons in Google Colab do without: the page is Google's, and nobody makes a book or a deck there.
NOT_IN_COLAB = (
    "jupyterlab", "ipywidgets", "sphinx", "myst-nb", "pydata-sphinx-theme", "sphinx-revealjs", "accessible-pygments",
    "math-core", "onnx",
)  # fmt: skip


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
    """The version of Python, and whether it has 64 bits."""
    version = ".".join(map(str, sys.version_info[:3]))
    if BITS == 32:
        fix = "install a 64-bit Python 3.11 to 3.14"
        return Finding(False, "Python", f"{version}, 32-bit, for which there is no PyTorch", fix)
    then = "make PYTHON=python3.11 setup" if not INSTALLED else "install the course's wheel with it"
    supported = (3, 11) <= sys.version_info[:2] < (3, 15)
    return Finding(supported, "Python", version, f"install Python 3.11 to 3.14, then: {then}")


def pip():
    """Whether pip is recent enough to install the packages. uv leaves an environment without pip."""
    try:
        present = metadata.version("pip")
    except metadata.PackageNotFoundError:
        return Finding(True, "pip", "not in this environment (uv installs without it)")
    numbers = tuple(int(part) for part in present.split(".")[:2] if part.isdecimal())
    detail = present if numbers >= OLDEST_PIP else f"{present} is too old to find PyTorch's packages for Linux"
    return Finding(numbers >= OLDEST_PIP, "pip", detail, f'"{sys.executable}" -m pip install --upgrade pip')


def course():
    """Which course this is, and whether there is another one beside it."""
    kind = "installed" if INSTALLED else "a clone"
    if problem := incomplete():
        return Finding(False, "course", f"it is installed only in part: {problem}", INSTALL)
    versions = sorted({one.version for one in metadata.distributions(name=PROJECT)})
    if len(versions) > 1:
        fix = f'"{sys.executable}" -m pip uninstall {PROJECT}, until it says that there is none, and install the newest'
        return Finding(False, "course", f"{len(versions)} versions are installed: {', '.join(versions)}", fix)
    return Finding(True, "course", f"{versions[0] if versions else 'version unknown'}, {kind}, in {PACKAGE}")


def home():
    """Whether the home folder can be written, where Jupyter keeps its own files."""
    if home_is_writable():
        return Finding(True, "home", "can be written")
    return Finding(True, "home", "cannot be written; `course lab` has Jupyter keep its files in the workspace")


def place(folder=None):
    """Where the workspace would be, and what that may break."""
    folder = Path.cwd() if folder is None else Path(folder)
    notes = []
    if not os.access(folder, os.W_OK):
        return Finding(False, "folder", f"{folder} cannot be written", "change to a folder of your own: cd")
    if any(part.lower().startswith(("onedrive", "dropbox", "icloud")) for part in folder.parts):
        notes.append(
            "a program that synchronises it may hold a lesson back while you save: if saving fails, wait, or choose a "
            "folder elsewhere with --workspace"
        )
    if sys.platform == "win32" and len(str(folder)) > 120:
        notes.append(
            "its path is long, and Windows programs stop at 260 characters: choose a shorter one if files miss"
        )
    if not str(folder).isascii() or " " in str(folder):
        notes.append("blanks and letters beyond ASCII are fine for the course; some programs of others stumble on them")
    return Finding(True, "folder", f"{folder}{'; ' * bool(notes)}{'; '.join(notes)}")


def proxy():
    """Whether the connection goes through a proxy. Only installing needs one, and models of the hub."""
    used = next((f"{name}={os.environ[name]}" for name in PROXIES if os.environ.get(name)), "")
    if not used:
        return Finding(True, "proxy", "none")
    address = used.partition("=")[2].rpartition("@")[2]  # without a password
    spared = os.environ.get("no_proxy", os.environ.get("NO_PROXY", ""))
    if "localhost" in spared or spared.strip() == "*":
        return Finding(True, "proxy", f"{address}, and not for localhost, where JupyterLab runs")
    fix = "if its page does not open, set NO_PROXY=localhost,127.0.0.1"
    return Finding(True, "proxy", f"{address}; JupyterLab runs on localhost: {fix}")


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


def _plain(name):
    return name.strip().lower().replace("_", "-").replace(".", "-")


def packages(lock=LOCK):
    """Whether the packages have the locked versions."""
    try:
        wanted = locked(lock)
    except (OSError, ValueError, ImportError) as error:
        fix = INSTALL if INSTALLED else "make it readable, or fetch it again: git checkout requirements.lock"
        return Finding(False, "packages", f"{lock} cannot be read ({type(error).__name__})", fix)
    if INSTALLED:  # pip chose what those need in turn
        direct = {_plain(line.partition("=")[0]) for line in metadata.requires(PROJECT) or () if "extra ==" not in line}
        if "google.colab" in sys.modules:
            direct -= set(NOT_IN_COLAB)
        wanted = {name: version for name, version in wanted.items() if _plain(name) in direct}
    wrong = []
    for name, version in wanted.items():
        try:
            installed = metadata.version(name).split("+")[0]  # 2.13.0+cpu is 2.13.0
        except metadata.PackageNotFoundError:
            installed = "missing"
        if installed != version:
            wrong.append(f"{name} {installed}, locked {version}")
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # IPython's, about a home folder that cannot be written: see home()
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
        ended = "the preloaded process has ended; `course lab` starts another"
        return Finding(True, "kernel start", f"normal, a few seconds ({ended})")
    where = "" if os.environ.get(SOCKET) else " in `course lab`"
    how = f"instant{where}: kernels start from a process with the packages and the encoder preloaded"
    return Finding(True, "kernel start", how)


def encoder():
    """Whether the packaged encoder is whole, and found by its public name."""
    from huggingface_hub import constants

    from .._support.hub_cache import PUBLIC_NAME, cache_with
    from ..models import EncoderError, packaged_encoder

    try:
        packaged_encoder()
    except EncoderError as error:
        reason, _, fix = str(error).partition(". ")
        return Finding(False, "encoder", reason, fix.split(" with: ")[-1] if IN_ENVIRONMENT else INSTALL)
    place = cache_with(Path(constants.HF_HUB_CACHE))
    return Finding(True, "encoder", f"{PUBLIC_NAME}, checksum correct, laid out in {place}")


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
    fix = f"close other programs until {MEMORY_GB:.0f} GB are available"
    return Finding(free >= MEMORY_GB, "memory", f"{free:.1f} GB available", fix)


def hub():
    """Whether the model hub answers. The course does not need it."""
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        state = "was not checked, because HF_HUB_OFFLINE is set"
    else:
        try:
            from .._support.downloads import hub_answers

            state = "answers" if hub_answers() else "does not answer"
        except ImportError:
            state = "was not checked, because packages are missing"
    return Finding(True, "model hub", f"{endpoint} {state}; only models other than the packaged one need it")


PROXIES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
CHECKS = (
    course, python_version, pip, packages, kernel, kernel_start, encoder, first_embedding, home, place, disk, memory,
    proxy, hub,
)  # fmt: skip


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
