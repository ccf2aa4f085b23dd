"""The tables that the scripts of the long trainings write."""

import pandas as pd

# columns whose values are the same in each run, however small
NAMES = {"classifier", "recipe", "measure", "loss", "trained", "training", "kind", "way", "vectors"}


def replace(monkeypatch, module, **values):
    """Give a module other values, until the test ends."""
    for name, value in values.items():
        monkeypatch.setattr(module, name, value)


def written(script, folder, *stored):
    """Run a script, and return its tables. They have the columns of the stored ones, and its names."""
    script.main(folder)
    made = [pd.read_csv(folder / file.name) for file in stored]
    for table, file in zip(made, stored):
        before = pd.read_csv(file)
        assert list(table.columns) == list(before.columns) and len(table), file.name
        for column in NAMES & set(before.select_dtypes(exclude="number")):
            assert set(table[column]) == set(before[column]), (file.name, column)
    return made
