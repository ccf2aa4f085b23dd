"""The tables that the scripts of the long trainings write."""

import pandas as pd
from click.testing import CliRunner


def replace(monkeypatch, module, **values):
    """Give a module other values, until the test ends."""
    for name, value in values.items():
        monkeypatch.setattr(module, name, value)


def written(script, folder, *stored):
    """Run a script, and return the tables that it writes, each with the columns of the stored one."""
    done = CliRunner().invoke(script.main, ["--folder", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0
    tables = [pd.read_csv(folder / file.name) for file in stored]
    for made, file in zip(tables, stored):
        assert list(made.columns) == list(pd.read_csv(file).columns) and len(made), file.name
    return tables
