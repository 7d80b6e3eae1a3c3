"""The database of measurements where something else has written to it."""

import sqlite3
from pathlib import Path

import pytest

from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.database import Database, Record, Setting
from dt_mlir.tuning.task import Prediction

SETTING = Setting("f[x] = A[x];", {"x": 8}, "a device", "a compiler")
OTHER = Setting("g[x] = A[x];", {"x": 8}, "a device", "a compiler")


def filled(path: Path) -> Path:
    """Writes two candidates with a time each, and a prediction of one."""
    with Database(path) as database:
        for program, time in (("one", 1.0), ("two", 2.0)):
            record = Record(program, "ok", "", {"f_kernel": {"registers": 32}}, point={"BM": 4})
            database.save(SETTING, record)
            database.add_time(SETTING, program, "graph", time)
            database.add_prediction(SETTING, program, Prediction(1e-3, (1.0, 2.0), "model"))
    return path


def changed(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE candidates SET point = '{bad' WHERE program = 'one'",
        "UPDATE candidates SET point = '[1]' WHERE program = 'one'",
        "UPDATE candidates SET resources = '[1]' WHERE program = 'one'",
        "UPDATE candidates SET resources = '{\"f_kernel\": 3}' WHERE program = 'one'",
        "UPDATE measurements SET milliseconds = 'abc' WHERE candidate = 1",
        "UPDATE measurements SET milliseconds = 0 WHERE candidate = 1",
        "UPDATE measurements SET milliseconds = -1 WHERE candidate = 1",
    ],
)
def test_damaged_rows_are_left_out(tmp_path: Path, change: str) -> None:
    path = filled(tmp_path / "database.sqlite")
    with Database(path) as database:
        assert [record.program for record in database.ranked(SETTING)] == ["one", "two"]
    changed(path, change)
    with Database(path) as database:
        assert [record.program for record in database.ranked(SETTING)] == ["two"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE predictions SET features = '3' WHERE candidate = 1",
        "UPDATE predictions SET features = '[\"a\", \"b\"]' WHERE candidate = 1",
        "UPDATE predictions SET features = '[1.0, null]' WHERE candidate = 1",
        "UPDATE predictions SET seconds = 0 WHERE candidate = 1",
        "UPDATE measurements SET milliseconds = 'abc' WHERE candidate = 1",
    ],
)
def test_nothing_is_learned_from_damaged_rows(tmp_path: Path, change: str) -> None:
    path = filled(tmp_path / "database.sqlite")
    with Database(path) as database:
        assert len(database.ratios(OTHER, "model")) == 2
    changed(path, change)
    with Database(path) as database:
        assert len(database.ratios(OTHER, "model")) == 1


@pytest.mark.parametrize("sizes", ["x", '{"x": 8, "strides of results": 3}'])
def test_settings_of_damaged_sizes_are_left_out(tmp_path: Path, sizes: str) -> None:
    path = filled(tmp_path / "database.sqlite")
    changed(path, f"UPDATE candidates SET sizes = '{sizes}' WHERE program = 'one'")
    with Database(path) as database:
        assert database.settings(SETTING.algorithm) == [SETTING]


def test_other_tables_are_refused(tmp_path: Path) -> None:
    path = filled(tmp_path / "database.sqlite")
    changed(path, "ALTER TABLE candidates RENAME COLUMN program TO text")
    with pytest.raises(CompileError, match="cannot be used as a database: no such column: program"):
        Database(path)
    other = tmp_path / "other.sqlite"
    changed(other, "CREATE TABLE candidates (id)")
    with pytest.raises(CompileError, match="it is one of something else, or of another version"):
        Database(other)
