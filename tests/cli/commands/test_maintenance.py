from tests.cli.command import Command, line_with
from tests.postgres import free_port


def test_maintenance_once_says_what_it_did(on_database: Command) -> None:
    told = on_database.cold("maintenance")
    assert (told.returncode, told.stdout) == (0, "Maintenance is done (nothing was due).\n")


def test_maintenance_goes_on_when_asked(on_database: Command) -> None:
    with on_database.started("maintenance", "--every", "1") as process:
        for _ in range(2):
            line_with(process, "Maintenance is done")
        process.terminate()
        assert process.wait(60) == 0


def test_maintenance_of_an_unmigrated_database_says_what_to_run(on_empty_database: Command) -> None:
    told = on_empty_database("maintenance")
    assert told.returncode == 1
    assert "Run `gatepass migrate`." in told.stderr


def test_maintenance_of_a_database_that_is_down_is_one_line(gatepass: Command) -> None:
    told = gatepass.having(GATEPASS_DATABASE_URL=f"postgresql://127.0.0.1:{free_port()}/x")("maintenance")
    assert told.returncode == 1
    assert told.stderr.count("\n") == 1
