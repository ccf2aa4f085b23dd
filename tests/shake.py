"""Do the lessons print the same where arithmetic differs in the last place? `python -m tests.shake SEED [PATTERN ...]`.

All lessons run with their products, softmaxes and cosines disturbed (tests/shaking.py), and their stored outputs must
hold. "today" stands for a seed that is another one each day; with PATTERNs, only the lessons whose names contain one of
them run.
"""

import datetime
import os
import sys
import tempfile
from pathlib import Path

import pytest

from .execute import lessons
from .project import ROOT
from .run import WORKERS, prepare

STARTUP = (
    "import sys\nsys.path.append({root!r})\n"
    "from tests.shaking import disturb\ndisturb({seed})\ndel sys, disturb\n"
)


def disturb_kernels(folder, seed):
    """Have all kernels that start from now on disturbed: IPython first runs the files in this folder."""
    startup = Path(folder, "profile_default", "startup")
    startup.mkdir(parents=True)
    (startup / "00-disturb.py").write_text(
        STARTUP.format(root=str(ROOT), seed=seed), encoding="utf-8"
    )
    os.environ["IPYTHONDIR"] = str(folder)


# seed, patterns: texts, as the command line has them (see above). Returns pytest's exit status.
def main(seed, *patterns):
    seed = datetime.date.today().toordinal() if seed == "today" else int(seed)
    print(f"Shaken with seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        # before the warm process starts, since kernels have its environment
        disturb_kernels(folder, seed)
        prepare()
        return pytest.main(
            ["-n", WORKERS, "--dist", "loadscope", "-q", *map(str, lessons(patterns))]
        )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
