"""The package: its contents, its names, its types seen from outside, and the size of what a browser loads."""

import gzip
import json
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import gatepass_sdk
from tests.markdown_page import ROOT
from tests.sdk.javascript.node import HERE, SDK, Project, tool

MANIFEST: Final[dict[str, Any]] = json.loads((SDK / "package.json").read_text())
CONSUMER: Final = (HERE / "consumer.ts.txt").read_text()
MISTAKES: Final = (HERE / "mistakes.ts.txt").read_text()
# What a page may load for the client, and for a gate, compressed. The aim is 25 kB.
LARGEST: Final = {
    "@gatepass/sdk": 17_000,
    "@gatepass/sdk/webhooks": 3_500,
    "@gatepass/sdk/queue": 13_000,
    "@gatepass/sdk/gate": 27_000,
}
# Names of Python that JavaScript has no use for, or has in another entry point.
ELSEWHERE: Final = {"AsyncGatepass", "AsyncPage", "AsyncPages", "__version__", "resend_scans"}
OF_QUEUES: Final = {"Drained", "Resent", "ScanQueue", "Verdict"}
OF_GATES: Final = {"Gate", "GateStatus", "Shown", "Uploaded"}
OF_PYTHON: Final = set(gatepass_sdk.__all__) - ELSEWHERE - OF_QUEUES - OF_GATES


def test_the_tarball_has_what_is_built_its_licence_and_nothing_else(project: Project) -> None:
    with tarfile.open(project.tarball) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
        built = {name for name in names if name.startswith("dist/")}
        assert names - built == {"LICENSE", "README.md", "package.json"}
        assert all(name.endswith((".js", ".d.ts")) for name in built)
        text = b"".join(archive.extractfile(one).read() for one in archive if one.isfile())  # type: ignore[union-attr]
    assert str(ROOT).encode() not in text
    assert (SDK / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_nothing_comes_with_it(project: Project) -> None:
    assert not {"dependencies", "peerDependencies", "optionalDependencies", "bundleDependencies"} & MANIFEST.keys()
    installed = {path.parent.name for path in (project.folder / "node_modules").glob("*/*/package.json")}
    assert installed == {"sdk"}
    assert MANIFEST["sideEffects"] is False


ENTRY_POINTS: Final = [
    "@gatepass/sdk" + name[1:] for name, target in MANIFEST["exports"].items() if isinstance(target, Mapping)
]


def test_every_entry_point_is_imported_and_their_errors_are_the_same(project: Project) -> None:
    names = ENTRY_POINTS
    lines = [f"import * as m{n} from {json.dumps(name)};" for n, name in enumerate(names)]
    lines += [f"all.push(m{n});" for n in range(len(names))]
    program = "\n".join([*lines[: len(names)], "const all = [];", *lines[len(names) :], SAME])
    assert project.run("entries.mjs", program) == "true\n"
    required = 'console.log(typeof require("@gatepass/sdk").Gatepass)'
    assert project.run("required.cjs", required) == "function\n"


SAME = """
const kinds = all.map((one) => one.GatepassError).filter(Boolean);
console.log(kinds.length > 0 && kinds.every((kind) => kind === kinds[0]));
"""


def test_the_names_are_those_of_python(project: Project) -> None:
    program = "import * as sdk from '@gatepass/sdk'; console.log(JSON.stringify(Object.keys(sdk)));"
    found = set(json.loads(project.run("names.mjs", program)))
    at_run_time = {
        name
        for name in OF_PYTHON
        if isinstance(kind := getattr(gatepass_sdk, name), type)
        and issubclass(kind, (gatepass_sdk.GatepassError, gatepass_sdk.OtherEvent.__mro__[1]))
    }
    assert at_run_time <= found
    assert {"Gatepass", "CardKeys", "Pages", "SANDBOX_EVENT_ID", "VERSION"} <= found


BROWSER: Final = {
    "lib": ["ES2022", "DOM", "DOM.Iterable"],
    "types": [],
    "module": "ESNext",
    "moduleResolution": "Bundler",
}
NODE: Final = {
    "lib": ["ES2022"],
    "types": ["node"],
    "typeRoots": [str(SDK / "node_modules" / "@types")],
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
}


def checked(project: Project, files: Mapping[str, str], options: Mapping[str, Any]) -> str:
    """What TypeScript says of these files of the project."""
    for name, text in files.items():
        (project.folder / name).write_text(text)
    strict = {"strict": True, "exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True, "noEmit": True}
    compiled = {"target": "ES2022", "skipLibCheck": False, "moduleDetection": "force", **strict, **options}
    settings = {"compilerOptions": compiled, "files": list(files)}
    (project.folder / "tsconfig.json").write_text(json.dumps(settings))
    return tool("tsc", "-p", ".", cwd=project.folder).stdout


# Many names are of types only: the compiler must find each.
IN_A_PAGE: Final = {"@gatepass/sdk": OF_PYTHON, "@gatepass/sdk/queue": OF_QUEUES, "@gatepass/sdk/gate": OF_GATES}
IN_NODE: Final = {"@gatepass/sdk": OF_PYTHON, "@gatepass/sdk/queue/node": OF_QUEUES}


@pytest.mark.parametrize(("options", "names"), [(BROWSER, IN_A_PAGE), (NODE, IN_NODE)], ids=["a page", "Node"])
def test_typescript_knows_every_type_and_finds_every_mistake(
    project: Project, options: dict[str, Any], names: dict[str, set[str]]
) -> None:
    all_names = "".join(f'export type {{ {", ".join(found)} }} from "{name}";\n' for name, found in names.items())
    output = checked(project, {"consumer.ts": CONSUMER, "mistakes.ts": MISTAKES, "names.ts": all_names}, options)
    found = {(name, int(line)) for name, line in re.findall(r"^(\S+)\((\d+),\d+\): error", output, re.MULTILINE)}
    wrong = {n for n, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("// wrong")}
    assert found == {("mistakes.ts", n) for n in wrong}, output


def test_a_page_loads_little(project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, largest in LARGEST.items():
        (project.folder / "page.mjs").write_text(f'export * from "{name}";\n')
        out = tmp_path / "page.js"
        # For a browser: an import of Node's modules would be an error here.
        options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--platform=browser", f"--outfile={out}"]
        done = tool("esbuild", "page.mjs", *options, "--log-level=warning", cwd=project.folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"\bBuffer\b|\brequire\(", out.read_text()) is None
        size = len(gzip.compress(out.read_bytes(), 9, mtime=0))
        with capsys.disabled():
            print(f"\n{name} for a browser: {out.stat().st_size:,} bytes, {size:,} compressed")
        assert size <= largest
