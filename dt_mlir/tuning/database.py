"""The database of measurements, in SQLite.

A record is a program with one schedule, at some sizes, on a device and with versions of what
compiles it. It belongs to no space: what a space once measured counts in each that has the
schedule too.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from math import inf, log
from pathlib import Path
from statistics import mean, median
from typing import Any, Self

from dt_mlir.diagnostics import CompileError
from dt_mlir.scheduling.space import Point
from dt_mlir.tuning.task import Prediction

_KIND = 0x44544D02
"""The application id of the database's files; the last digits are the version."""
ROUNDS = 5
"""The default number of rounds in which a candidate is timed."""
MOST_OF_A_PROGRAM = 40
"""The most candidates of a program at its sizes from which others learn."""
MOST_RATIOS = 320
"""The most candidates from which a search learns."""
STRIDES = "strides of results"
"""The name of strides among sizes; those of labels have no spaces."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS candidates (
    id INTEGER PRIMARY KEY,
    algorithm TEXT NOT NULL,
    program TEXT NOT NULL,
    sizes TEXT NOT NULL,
    device TEXT NOT NULL,
    versions TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL,
    resources TEXT NOT NULL,
    point TEXT NOT NULL,
    UNIQUE (program, sizes, device, versions)
);
CREATE TABLE IF NOT EXISTS measurements (
    candidate INTEGER NOT NULL REFERENCES candidates (id),
    method TEXT NOT NULL,
    milliseconds REAL NOT NULL,
    at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS predictions (
    candidate INTEGER PRIMARY KEY REFERENCES candidates (id),
    model TEXT NOT NULL,
    seconds REAL NOT NULL,
    features TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_candidate ON measurements (candidate, method);
"""

_COLUMNS = (
    "SELECT algorithm, program, sizes, device, versions, status, message, resources, point"
    " FROM candidates LIMIT 0",
    "SELECT candidate, method, milliseconds, at FROM measurements LIMIT 0",
    "SELECT candidate, model, seconds, features FROM predictions LIMIT 0",
)
"""Queries that fail where tables of these names are others."""


def default_path() -> Path:
    """`$DT_MLIR_DATABASE`, or a file in the user's cache folder."""
    given = os.environ.get("DT_MLIR_DATABASE")
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "dt-mlir" / "tuning.sqlite"


@dataclass(frozen=True)
class Setting:
    """The setting in which candidates are measured."""

    algorithm: str
    """The program without its schedule, in canonical DT; element types are in it."""
    sizes: Mapping[str, int]
    """A size for each label."""
    device: str
    """The device's name."""
    versions: str
    """The versions of the compilers and libraries that count."""
    strides: tuple[tuple[int, ...], ...] = ()
    """The strides of tensors for the results, if these are not contiguous."""


@dataclass
class Record:
    """The record of a candidate."""

    program: str
    """The program with its schedule, in canonical DT."""
    status: str
    """`ok`, or why there is no time: `refused`, `failed`, `late`, `unfit`, `wrong`."""
    message: str = ""
    """More about the status."""
    resources: dict[str, dict[str, int | None]] = field(
        default_factory=dict[str, dict[str, "int | None"]]
    )
    """The registers, spilled bytes, bytes of shared memory and threads of each kernel."""
    times: list[float] = field(default_factory=list[float])
    """Milliseconds, one mean for each round."""
    point: Point = field(default_factory=dict[str, "int | str"])
    """The choices in the space that it was last met in."""
    rounds: int = ROUNDS
    """The number of rounds that a search counts."""

    @property
    def milliseconds(self) -> float | None:
        """The median of the latest rounds; None if nothing was measured.

        A GPU slows down as it warms up. The fastest candidates of a search are timed side by side
        in its last rounds, some of them also in earlier ones, which say less.
        """
        return median(self.times[-self.rounds :]) if self.times else None


class Database:
    """The database; several processes may use one at once.

    Args:
        path: the file, which is made where there is none; `:memory:` for none.

    Raises:
        CompileError: if the file is not a database of this kind.
    """

    def __init__(self, path: Path | str) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(path, timeout=60)
            known = self._connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            kind = self._connection.execute("PRAGMA application_id").fetchone()[0]
            if known and kind != _KIND:
                raise sqlite3.DatabaseError("it is one of something else, or of another version")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute(f"PRAGMA application_id = {_KIND}")
            self._connection.executescript(_SCHEMA)
            for query in _COLUMNS:
                self._connection.execute(query)
        except sqlite3.Error as error:
            raise CompileError(f"{path} cannot be used as a database: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def save(self, setting: Setting, record: Record) -> None:
        """Remembers a candidate's status and resources; its times are added by `add_time`."""
        with self._connection as connection:
            connection.execute(
                "INSERT INTO candidates (algorithm, program, sizes, device, versions, status,"
                " message, resources, point) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (program, sizes, device, versions) DO UPDATE SET"
                " status = excluded.status, message = excluded.message,"
                " resources = excluded.resources, point = excluded.point",
                (
                    setting.algorithm, record.program, _key(setting), setting.device,
                    setting.versions, record.status, record.message, json.dumps(record.resources),
                    json.dumps(record.point),
                ),
            )  # fmt: skip

    def add_time(self, setting: Setting, program: str, method: str, milliseconds: float) -> None:
        """Remembers one round's mean time of a candidate that has been saved."""
        with self._connection as connection:
            connection.execute(
                "INSERT INTO measurements (candidate, method, milliseconds)"
                " SELECT id, ?, ? FROM candidates"
                " WHERE program = ? AND sizes = ? AND device = ? AND versions = ?",
                (
                    method, milliseconds, program, _key(setting), setting.device,
                    setting.versions,
                ),
            )  # fmt: skip

    def add_prediction(self, setting: Setting, program: str, prediction: Prediction) -> None:
        """Remembers what was predicted about a candidate that has been saved."""
        with self._connection as connection:
            connection.execute(
                "INSERT OR REPLACE INTO predictions (candidate, model, seconds, features)"
                " SELECT id, ?, ?, ? FROM candidates"
                " WHERE program = ? AND sizes = ? AND device = ? AND versions = ?",
                (
                    prediction.model, prediction.seconds, json.dumps(prediction.features), program,
                    _key(setting), setting.device, setting.versions,
                ),
            )  # fmt: skip

    def ratios(self, setting: Setting, model: str) -> list[tuple[tuple[float, ...], float]]:
        """Returns by how much times on a device differ from predictions, in other settings.

        They are the features of each candidate, with the logarithm of its measured over its
        predicted time, less the mean of those of its program at its sizes.

        Args:
            setting: what is searched: the device counts, and its own candidates do not.
            model: the version of the model of costs.
        """
        rows = self._connection.execute(
            "SELECT algorithm, sizes, method, features, seconds, MIN(milliseconds)"
            " FROM predictions JOIN candidates ON predictions.candidate = id"
            " JOIN measurements ON measurements.candidate = id"
            " WHERE device = ? AND model = ? AND status = 'ok' AND milliseconds > 0 AND seconds > 0"
            " AND NOT (algorithm = ? AND sizes = ?)"
            " GROUP BY id, method ORDER BY id DESC",
            (setting.device, model, setting.algorithm, _key(setting)),
        )
        groups: dict[tuple[str, str, str], list[tuple[tuple[float, ...], float]]] = {}
        for algorithm, sizes, method, features, seconds, milliseconds in rows.fetchall():
            numbers = _decoded(features, list)
            if not _are_numbers(numbers) or not _is_time(milliseconds) or not _is_time(seconds):
                continue
            group = groups.setdefault((algorithm, sizes, method), [])
            group.append((tuple(numbers), log(milliseconds / 1000 / seconds)))
        found: list[tuple[tuple[float, ...], float]] = []
        for group in groups.values():
            middle = mean(ratio for _, ratio in group)
            found += [(features, ratio - middle) for features, ratio in group[:MOST_OF_A_PROGRAM]]
        return found[:MOST_RATIOS]

    def load(self, setting: Setting, method: str) -> dict[str, Record]:
        """Returns the records of a program's candidates in a setting, by the text of each.

        Rows that something else has damaged are left out, as if they had not been measured.
        """
        found: dict[str, Record] = {}
        ids: dict[int, Record] = {}
        with closing(self._connection.cursor()) as cursor:
            rows = cursor.execute(
                "SELECT id, program, status, message, resources, point FROM candidates"
                " WHERE algorithm = ? AND sizes = ? AND device = ? AND versions = ?",
                (setting.algorithm, _key(setting), setting.device, setting.versions),
            )
            for number, program, status, message, resources, point in rows.fetchall():
                used, chosen = _decoded(resources, dict), _decoded(point, dict)
                if chosen is None or used is None or not _are_mappings(used.values()):
                    continue
                record = Record(program, status, message, used, point=chosen)
                found[program] = ids[number] = record
            for number, record in ids.items():
                times = cursor.execute(
                    "SELECT milliseconds FROM measurements WHERE candidate = ? AND method = ?"
                    " ORDER BY rowid",
                    (number, method),
                )
                record.times = [row[0] for row in times.fetchall() if _is_time(row[0])]
        return found

    def settings(self, algorithm: str) -> list[Setting]:
        """Returns the settings in which a program's candidates were measured, latest first."""
        rows = self._connection.execute(
            "SELECT sizes, device, versions FROM candidates WHERE algorithm = ?"
            " GROUP BY sizes, device, versions ORDER BY MAX(id) DESC",
            (algorithm,),
        )
        found: list[Setting] = []
        for key, device, versions in rows.fetchall():
            sizes = _decoded(key, dict)
            if sizes is None:
                continue
            strides = sizes.pop(STRIDES, [])
            if not isinstance(strides, list) or not all(isinstance(x, list) for x in strides):
                continue
            strides = tuple(map(tuple, strides))
            found.append(Setting(algorithm, sizes, device, versions, strides))
        return found

    def methods(self, setting: Setting) -> list[str]:
        """The methods by which candidates were measured in a setting, the most used first."""
        rows = self._connection.execute(
            "SELECT method FROM measurements JOIN candidates ON candidate = id"
            " WHERE algorithm = ? AND sizes = ? AND device = ? AND versions = ?"
            " GROUP BY method ORDER BY COUNT(*) DESC",
            (setting.algorithm, _key(setting), setting.device, setting.versions),
        )
        return [row[0] for row in rows.fetchall()]

    def ranked(self, setting: Setting) -> list[Record]:
        """The candidates that have a time in a setting, the fastest first.

        Only those count that were timed by the method that most were.
        """
        for method in self.methods(setting):
            known = self.load(setting, method).values()
            timed = ranked(known)
            if timed:
                return timed
        return []


def ranked(records: Iterable[Record]) -> list[Record]:
    """The records with times, the fastest first; those with few rounds come last.

    The first look at a candidate is one short round, of which a lucky one would win. What has
    less than half of the rounds that another one's time comes from is behind all that have more.
    """
    timed = [record for record in records if record.status == "ok" and record.times]
    most = max((min(len(record.times), record.rounds) for record in timed), default=0)
    return sorted(timed, key=lambda r: (2 * len(r.times) < most, r.milliseconds or 0.0))


def _key(setting: Setting) -> str:
    found: dict[str, Any] = dict(sorted(setting.sizes.items()))
    if setting.strides:
        found[STRIDES] = setting.strides
    return json.dumps(found)


def _decoded(text: object, kind: type) -> Any:
    """Returns the value that JSON says; None where it is not one of a kind."""
    try:
        found = json.loads(str(text))
    except ValueError:
        return None
    return found if isinstance(found, kind) else None


def _are_mappings(values: Iterable[object]) -> bool:
    return all(isinstance(value, dict) for value in values)


def _are_numbers(values: Any) -> bool:
    return values is not None and all(
        isinstance(value, int | float) and -inf < value < inf for value in values
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < inf
