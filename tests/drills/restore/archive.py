"""A PostgreSQL that is archived by pgBackRest, with the files of `deploy/backup`, and copies that are restored."""

import shutil
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp

import psycopg

from tests.postgres import Cluster, free_port, start_cluster

DEPLOY = Path(__file__).parents[3] / "deploy" / "backup"
PGBACKREST = Path("/usr/bin")
ARCHIVED_WITHIN = 120.0
# What Patroni writes on a primary. A copy that starts with it waits for a standby that it does not have.
OF_A_CLUSTER = "synchronous_standby_names = 'ANY 1 (standby_1, standby_2)'\n"
OF_A_COPY = "synchronous_standby_names = ''\n"


class ArchivedCluster:
    """Debian's PostgreSQL 15 with a base backup and an archive. Stop it, and its folders are gone."""

    def __init__(self) -> None:
        self.cluster = start_cluster(15)
        self._copies: list[Cluster] = []
        self._folder = self.cluster.folder
        for name in ("archive.conf", "pgbackrest.conf"):
            self._own(shutil.copy(DEPLOY / name, self._folder / name))
        self._pgbackrest = {
            "PGBACKREST_CONFIG": str(self._folder / "pgbackrest.conf"),
            "PGBACKREST_PG1_PATH": str(self._folder / "data"),
            "PGBACKREST_PG1_PORT": str(self.cluster.port),
            "PGBACKREST_PG1_SOCKET_PATH": str(self._folder),
            "PGBACKREST_PG1_USER": "postgres",
            "PGBACKREST_REPO1_PATH": str(self._folder / "repository"),
            "PGBACKREST_REPO1_CIPHER_PASS": token_hex(32),
            "PGBACKREST_LOG_PATH": str(self._folder),
            "PGBACKREST_LOCK_PATH": str(self._folder / "lock"),
            "PGBACKREST_LOG_LEVEL_CONSOLE": "error",
        }
        self.cluster.environment = self._pgbackrest
        with (self._folder / "data" / "postgresql.conf").open("a") as settings:
            settings.write(f"include '{self._folder}/archive.conf'\n")
        self._pg_ctl("stop")
        self.cluster.start()
        self.run("stanza-create")
        self.run("check")

    def run(self, command: str, *options: str, cluster: Cluster | None = None) -> None:
        """A command of pgBackRest, as the user of PostgreSQL."""
        replace(cluster or self.cluster, binaries=PGBACKREST).run("pgbackrest", "--stanza=gatepass", *options, command)

    def back_up(self) -> None:
        """A base backup, with the settings of a primary that has standbys."""
        settings = self._folder / "data" / "postgresql.auto.conf"
        before = settings.read_text()
        settings.write_text(before + OF_A_CLUSTER)
        self.run("backup", "--type=full")
        settings.write_text(before)

    def archive_all(self) -> None:
        """Wait until everything up to now is in the archive, as it is at the latest after archive_timeout."""
        with psycopg.connect(self.cluster.url(), autocommit=True) as db:
            (wanted,) = db.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ("",)
            deadline = time.monotonic() + ARCHIVED_WITHIN
            while (db.execute(LAST_ARCHIVED).fetchone() or ("",))[0] < wanted:
                assert time.monotonic() < deadline, "the archive does not get its segments"
                time.sleep(0.05)

    def restore(self, moment: datetime | None) -> Cluster:
        """A copy of this moment, or of the end of the archive, on another port. It takes writes when this returns."""
        folder = Path(mkdtemp(prefix="gatepass-restored-"))
        self._own(folder)
        environment = {**self._pgbackrest, "PGBACKREST_PG1_PATH": str(folder / "data")}
        copy = replace(self.cluster, folder=folder, port=free_port(), environment=environment)
        self._copies.append(copy)
        target = ["--type=time", f"--target={moment.isoformat(sep=' ')}", "--target-action=promote"] if moment else []
        self.run("restore", "--archive-mode=off", *target, cluster=copy)
        with (folder / "data" / "postgresql.auto.conf").open("a") as settings:
            settings.write(OF_A_COPY)
        copy.start()
        with psycopg.connect(copy.url(), autocommit=True) as db:
            deadline = time.monotonic() + ARCHIVED_WITHIN
            while db.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
                assert time.monotonic() < deadline, "the copy is not promoted"
                time.sleep(0.02)
        return copy

    def destroy(self) -> None:
        """Kill all processes, and lose the disk. The archive is elsewhere."""
        self.cluster.kill()
        shutil.rmtree(self._folder / "data")

    def drop(self, copy: Cluster) -> None:
        self._copies.remove(copy)
        copy.stop()

    def close(self) -> None:
        for copy in self._copies:
            if (copy.folder / "data").exists():
                copy.stop()
        if (self._folder / "data").exists():
            self.cluster.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _pg_ctl(self, *command: str) -> None:
        self.cluster.run("pg_ctl", "-D", str(self._folder / "data"), "-m", "fast", "-w", *command)

    def _own(self, path: str | Path) -> None:
        if self.cluster.user:
            shutil.chown(path, self.cluster.user, self.cluster.user)


def restored_up_to(copy: Cluster) -> datetime:
    """The time of the last transaction that a copy of the end of the archive has."""
    with psycopg.connect(copy.url()) as db:
        (moment,) = db.execute("SELECT pg_last_xact_replay_timestamp()").fetchone() or (None,)
    assert moment is not None
    return moment


LAST_ARCHIVED = "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver"
