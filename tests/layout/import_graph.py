"""The import graph of a package, read from its source, and the circles in it.

Imports inside functions and under TYPE_CHECKING count. An import of `a.b.c` is an edge to `a.b.c` alone, not to the
packages above it: a package that exports what its modules define is no circle.
"""

import ast
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path


def circles(root: Path, package: str) -> list[list[str]]:
    """The groups of modules that import each other, directly or through others. `root` holds the package's folder."""
    graph = import_graph(root, package)
    reached = {module: _reachable(graph, module) for module in graph}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
        if module in reached[module]
    }
    return [list(group) for group in sorted(groups)]


def import_graph(root: Path, package: str) -> dict[str, set[str]]:
    """For each module of the package, the other modules of the package that it imports."""
    files = {_name(path.relative_to(root)): path for path in sorted(_sources(root / package))}
    return {module: set(_imports(module, path, files)) - {module} for module, path in files.items()}


def _sources(folder: Path) -> Iterator[Path]:
    """Its Python files, without those of a venv inside, such as pretix's in bench/results."""
    for name, folders, files in os.walk(folder):
        folders[:] = [] if "pyvenv.cfg" in files else folders
        yield from (Path(name, file) for file in files if file.endswith(".py"))


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(module: str, path: Path, files: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, module, is_package=path.name == "__init__.py")
            for alias in node.names:
                # `from a import b` imports the module a.b, or else something that a defines.
                yield from [name for name in (f"{base}.{alias.name}", base) if name in files][:1]


def _base(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    """The absolute name of the module that is imported from."""
    if node.level == 0:
        return str(node.module)
    parents = module.split(".")
    above = parents[: len(parents) - node.level + is_package]
    return ".".join([*above, node.module] if node.module else above)


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += graph[module]
    return found


# What a test may import, by the folder in which the package lies.
PACKAGES = (("", "gatepass"), ("sdk", "gatepass_sdk"), ("", "tests"), ("", "bench"), ("", "tools"), ("", "examples"))


def sources_of(root: Path, starts: list[str], through: Callable[[str], bool]) -> set[str]:
    """The files that these import, and those that they reach through a file that `through` accepts."""
    graph = _graph_of_files(root)
    found: set[str] = set()
    waiting = [*starts]
    while waiting:
        for imported in graph[waiting.pop()] - found:
            found.add(imported)
            waiting += [imported] if through(imported) else []
    return found


@cache
def _graph_of_files(root: Path) -> dict[str, set[str]]:
    files = {
        _name(path.relative_to(root / folder)): path
        for folder, package in PACKAGES
        for path in _sources(root / folder / package)
    }
    return {
        str(path.relative_to(root)): {str(files[name].relative_to(root)) for name in _imports(module, path, files)}
        for module, path in files.items()
    }
