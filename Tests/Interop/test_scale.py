"""Benchmarks/scale finds its figures in what the benchmarks print, and compares only what has a target."""

import importlib.machinery
import importlib.util
import os
from pathlib import Path

ROOT = Path(os.environ.get("HANDSHAKE_REPOSITORY") or Path(__file__).resolve().parents[2])
LOADER = importlib.machinery.SourceFileLoader("scale", str(ROOT / "Benchmarks" / "scale"))
scale = importlib.util.module_from_spec(importlib.util.spec_from_loader("scale", LOADER))
LOADER.exec_module(scale)

DATABASES = """\
pgbench: begin, select for update, update, commit, 8 connections, prepared       10000
pgbench: begin, select for update, update, commit, 8 connections, extended       8000
SQLiteVault, 8 tasks                                                             5000
PostgresVault, 8 connections, 8 tasks (59 % and 73 % of pgbench)                 5900
PostgresVault, the same with a release of its own                                4000
PostgresVault, 8 connections, 32 tasks (80 % and 100 % of pgbench)               8000
PostgresVault, wait after a release: p50 1.0 ms, worst 5.0 ms of 60
PostgresVault, a fresh token of a warm account: 0.06 µs
"""

LOAD = """\
10000 accounts stored in 2 s (5000 a second); 1493 bytes an account in PostgreSQL
1 processes, 32 tasks each: 10000 requests a second, those without a refresh p50 2.8 ms, p99 8.9 ms; 20 refreshes a second, \
requests with one p50 20.0 ms, p99 32.0 ms; 3 processes killed, 2 restarts; ended 0; failures [:]
1 processes, 1 tasks each: 3 requests a second, those without a refresh p50 0.11 ms, p99 0.11 ms; 2 refreshes a second, \
requests with one p50 11.22 ms, p99 11.22 ms; 0 processes killed, 0 restarts; ended 0; failures [:]
10000 accounts used once more: every one alive
the service: 3095 refreshes, 0 of them second ones of one expiry, 2 answered again, 0 reused; 0 of 100000 requests refused
"""


def test_the_share_of_pgbench_has_a_target_where_all_connections_are_busy() -> None:
    table = scale.Table()
    scale.databases(table, DATABASES)
    rows = {row[0].strip(): row[1:] for row in table.rows}
    assert rows["by pgbench's, 8 tasks"] == ("", "59 %", "")
    assert rows["by pgbench's, 32 tasks"] == ("at least 75 %", "80 %", "met")
    assert table.is_met
    slower = scale.Table()
    scale.databases(slower, DATABASES.replace("8000\nPostgresVault, wait", "7000\nPostgresVault, wait"))
    assert not slower.is_met


def test_what_is_not_measured_misses_its_target() -> None:
    table = scale.Table()
    scale.databases(table, "")
    assert {row[3] for row in table.rows if row[1]} == {"MISSED"}


def test_an_account_costs_what_one_task_alone_measures() -> None:
    table = scale.Table()
    assert scale.load(table, 10_000, 0, LOAD) == (1493, 0.11, 11.22)
    assert table.is_met
