"""Check that this machine is ready for the course.

To start, it needs only the standard library of a Python from 3.8 on, so it can name what is missing:
each check imports what it examines, and `examine` reports what cannot be imported.

Run `course doctor`, or `python -m course_utils.tools.doctor`.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .. import PROJECT, __version__
from .._support.installation import INSTALLED, LOCK, PACKAGE, incomplete
from . import environment

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
PYTHON = f'"{sys.executable}" -m'
PIP = f"{PYTHON} pip"
# whether this Python is the one of `.venv`, which set-up makes in a clone
IN_VENV = not INSTALLED and os.path.realpath(sys.prefix) == os.path.realpath(environment.VENV)
# or of another environment, which a clone keeps
IN_ANOTHER = not IN_VENV and (sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ)
# Free space after the set-up, for what learners save, and free memory for the lesson that needs
# most (notebooks/README.md).
DISK_GB, MEMORY_GB = 1.0, 3.0
MOST_NAMED = 4  # packages with a wrong version in the one line of the report
BITS = 64 if sys.maxsize > 2**32 else 32  # of this Python, whatever the machine has
# What lessons in Google Colab do without: the page is Google's, and nobody makes a book or a deck
# there.
NOT_IN_COLAB = (
    "jupyterlab", "ipywidgets", "sphinx", "myst-nb", "pydata-sphinx-theme", "sphinx-revealjs", "accessible-pygments",
    "math-core", "onnx",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    fix: the command or step that fixes it; "" if lessons have what they need.
    note: whether something is missing that lessons do not need; the detail says what for.
    """

    name: str
    detail: str
    fix: str = ""
    note: bool = False

    def __str__(self) -> str:
        if self.fix:
            return f"FAIL  {self.name}: {self.detail}. Fix: {self.fix}"
        return f"{'NOTE' if self.note else 'OK  '}  {self.name}: {self.detail}"


def venv_problem() -> str:
    """What is wrong with a clone's `.venv`, as a clause; "" if nothing, or if it does not matter."""
    if INSTALLED or IN_ANOTHER:
        return ""
    if not os.path.lexists(environment.VENV):
        return "it is not there, so the course is not set up yet"
    return environment.problem()


def install() -> str:
    """The command after which all packages are there. A clone in an environment of its own keeps
    that environment; any other clone has, or gets, one in `.venv`.
    """
    if INSTALLED:
        return f"{PIP} install --force-reinstall, with the course's wheel"
    if venv_problem():
        return "make setup"
    if IN_VENV or IN_ANOTHER:
        return f'{PIP} install -r "{LOCK}" --extra-index-url {TORCH_INDEX}'
    return "make doctor, which asks the Python of .venv"


def python_version() -> Finding:
    """The version of Python, and whether it has 64 bits: there is no PyTorch for 32."""
    version = f"{'.'.join(map(str, sys.version_info[:3]))}, {BITS}-bit"
    # the versions that pyproject.toml allows
    if BITS == 64 and (3, 11) <= sys.version_info[:2] < (3, 15):
        return Finding("Python", version)
    if not (INSTALLED or IN_VENV or IN_ANOTHER or venv_problem()):
        return Finding("Python", version, install())
    setup = "install the course's wheel with it" if INSTALLED else "make PYTHON=python3.11 setup"
    return Finding("Python", version, f"install a 64-bit Python 3.11 to 3.14, then: {setup}")


def course() -> Finding:
    """Which course this is, and whether it is whole."""
    problem = incomplete()
    if problem:
        return Finding("course", f"it is installed only in part: {problem}", install())
    kind = "installed" if INSTALLED else "a clone"
    return Finding("course", f"{__version__}, {kind}, in {PACKAGE}")


def python_environment() -> Finding:
    """Whether a clone's `.venv` is whole, where the clone was set up, and runs this."""
    if problem := venv_problem():
        return Finding("environment", f"{environment.VENV}: {problem}", install())
    if INSTALLED or IN_VENV or IN_ANOTHER:
        return Finding("environment", sys.prefix)
    detail = f"the course is set up in {environment.VENV}, and this is {sys.executable}"
    return Finding("environment", detail, install())


def wanted(lock: Path = LOCK) -> dict[str, str]:
    """The packages that this machine needs: a dictionary from name to version.

    In a clone these are all of the lock; for an installed course, those that its wheel names, since
    pip chose what they need in turn. Colab does without some of them.

    Raises OSError if the lock cannot be read, ValueError if it names no packages or holds a line
    that is none.
    """
    # `packaging` is not in the standard library, but pip always brings a copy
    try:
        from packaging.requirements import Requirement
    except ImportError:
        from pip._vendor.packaging.requirements import Requirement
    lines = metadata.requires(PROJECT) if INSTALLED else lock.read_text("utf-8").splitlines()
    # a notebook in Colab has this module, a command in its terminal only this variable
    in_colab = "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ
    versions = {}
    for line in lines or ():
        if line.strip() and not line.lstrip().startswith("#"):
            need = Requirement(line)
            # without an extra: packages that only an extra asks for do not apply
            applies = need.marker is None or need.marker.evaluate({"extra": ""})
            if applies and not (in_colab and need.name.lower() in NOT_IN_COLAB):
                versions[need.name] = str(need.specifier).removeprefix("==")
    if not versions:
        raise ValueError("no packages are named")
    return versions


def packages(lock: Path = LOCK) -> Finding:
    """Whether the packages have the locked versions."""
    try:
        versions = wanted(lock)
    except (OSError, ValueError, ImportError) as error:
        fetch = "make it readable, or fetch it again: git checkout requirements.lock"
        return Finding(
            "packages",
            f"{'what the wheel needs' if INSTALLED else lock} cannot be read "
            f"({type(error).__name__})",
            install() if INSTALLED else fetch,
        )
    wrong = []
    for name, version in versions.items():
        try:
            installed = metadata.version(name).split("+")[0]  # 2.13.0+cpu is 2.13.0
        except metadata.PackageNotFoundError:
            installed = "missing"
        if installed != version:
            wrong.append(f"{name} {installed}, locked {version}")
    if wrong:
        more = f" and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
        return Finding("packages", "; ".join(wrong[:MOST_NAMED]) + more, install())
    return Finding("packages", f"{len(versions)}, as in {lock.name}")


def kernel() -> Finding:
    """Whether Jupyter has a Python kernel for this environment."""
    fix = f"{PYTHON} ipykernel install --sys-prefix --name python3"
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # IPython's, about a home folder that cannot be written
            program = Path(KernelSpecManager().get_kernel_spec("python3").argv[0])
    except NoSuchKernel:
        return Finding("notebook kernel", "no kernel named python3", fix)
    if program.is_absolute():  # a bare "python" means the program that starts it, which is this one
        # the environment is the folder above bin or Scripts; with Conda on Windows, the program's
        folders = {folder.resolve() for folder in list(program.parents)[:2]}
        if Path(sys.prefix).resolve() not in folders:
            return Finding("notebook kernel", f"python3 starts a different Python, {program}", fix)
    return Finding("notebook kernel", "python3 is this Python")


def encoder() -> Finding:
    """Whether the packaged encoder is whole, and found by its public name."""
    from huggingface_hub import constants

    from .._support.hub_cache import PUBLIC_NAME, cache_with
    from ..models import packaged_encoder

    packaged_encoder()  # raises what `examine` reports if it is not whole
    folder = cache_with(Path(constants.HF_HUB_CACHE))
    return Finding("encoder", f"{PUBLIC_NAME}, checksum correct, laid out in {folder}")


def first_embedding() -> Finding:
    """Compute one embedding with the encoder of the lessons, and check the other data."""
    from ..data import load_reviews
    from ..embedding import embed
    from ..models import ENV_VAR, EncoderError, load_glove

    words, reviews = len(load_glove()[0]), len(load_reviews())
    try:
        vector = embed(["Is everything here?"])[0]
    except EncoderError as error:
        return Finding(
            "first embedding",
            str(error).rstrip("."),
            f"unset {ENV_VAR}" if os.environ.get(ENV_VAR) else install(),
        )
    return Finding(
        "first embedding",
        f"{len(vector)} numbers; {words:,} GloVe words and {reviews:,} review sentences",
    )


def disk() -> Finding:
    """Free space on the disk of the current folder."""
    free = shutil.disk_usage(".").free / 1e9
    fix = f"free at least {DISK_GB:.0f} GB" if free < DISK_GB else ""
    return Finding("disk", f"{free:.1f} GB free", fix)


def memory() -> Finding:
    """Free memory."""
    import psutil

    free = psutil.virtual_memory().available / 1e9
    fix = f"close other programs until {MEMORY_GB:.0f} GB are available" if free < MEMORY_GB else ""
    return Finding("memory", f"{free:.1f} GB available", fix)


def hub() -> Finding:
    """Whether the model hub answers. The course does not need it, so this never fails."""
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    needed_for = "only models other than the packaged one need it"
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        state = f"{endpoint} was not checked, because HF_HUB_OFFLINE is set"
        return Finding("model hub", f"{state}; {needed_for}")
    from .._support.downloads import hub_failure

    failure = hub_failure()
    if failure:
        detail = f"{failure.what}; {needed_for}. {failure.advice}".rstrip(". ")
        return Finding("model hub", detail, note=True)
    return Finding("model hub", f"{endpoint} answers; {needed_for}")


def isolation() -> Finding:
    """Whether hand-ins can be isolated, as `course grade` does it. Lessons do not need it."""
    from .grading.sandbox import isolation_problem

    problem = isolation_problem()
    if not problem:
        return Finding("grader", "bubblewrap isolates hand-ins")
    detail = f"only `course grade` needs it, and cannot isolate hand-ins: {problem}"
    return Finding("grader", detail, note=True)


# the names are those of the checks' own findings, for a check that raises instead
CHECKS = {
    "course": course,
    "Python": python_version,
    "environment": python_environment,
    "packages": packages,
    "notebook kernel": kernel,
    "encoder": encoder,
    "first embedding": first_embedding,
    "disk": disk,
    "memory": memory,
    "grader": isolation,
    "model hub": hub,
}
WITH_ANY_PYTHON = (
    "course",
    "Python",
    "environment",
    "disk",
)  # what the others import may need more


def examine() -> Iterator[Finding]:
    """Yield all findings in order, each computed on demand.

    What a check cannot import or do becomes a finding. With a Python that the course cannot use,
    only the checks in WITH_ANY_PYTHON are made.
    """
    fitting = not python_version().fix
    for name, check in CHECKS.items():
        if not fitting and name not in WITH_ANY_PYTHON:
            continue
        try:
            yield check()
        except ModuleNotFoundError as error:
            yield Finding(name, f"{error.name} is missing", install())
        except Exception as error:
            yield Finding(name, f"{type(error).__name__}: {str(error).rstrip('.')}", install())


def main() -> int:
    """Print one line per finding. Exit status 0 if everything required is present."""
    healthy = True
    for finding in examine():
        print(finding, flush=True)
        healthy = healthy and not finding.fix
    return 0 if healthy else 1


if __name__ == "__main__":
    sys.exit(main())
