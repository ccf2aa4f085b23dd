"""What pyproject.toml cannot say: a wheel also holds the lessons and the lock, which stay at the top level here."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent


class WithLessons(build_py):
    """The package, and inside it `notebooks/` (lessons, glossary, lectures) and `requirements.lock`."""

    def run(self):
        super().run()
        if self.editable_mode:
            return  # the course is read where it stands
        package = Path(self.build_lib) / "course_utils"
        cores, further, lectures = (
            sorted((HERE / "notebooks").glob(kind)) for kind in ("*.ipynb", "further/*.ipynb", "lectures/*.md")
        )
        for source in (*cores, *further, *lectures, HERE / "requirements.lock"):
            target = package / source.relative_to(HERE)
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))


setup(cmdclass={"build_py": WithLessons})
