"""Print which rooms of kaczmatch import which: between the packages, then within each package that has rooms.

    python docs/rooms.py

The number is how many modules of the first room import a module of the second.
"""

from __future__ import annotations

from collections import Counter

import grimp

ROOT = "kaczmatch"


def room(module: str, package: str) -> str | None:
    """The child of a package in which a module is."""
    return module[len(package) + 1 :].split(".")[0] if module.startswith(f"{package}.") else None


def imports(graph: grimp.ImportGraph, package: str) -> dict[str, Counter[str]]:
    """For each room, which others it imports, and by how many of its modules."""
    folders = {child for child in graph.find_children(package) if graph.find_children(child)}
    rooms: dict[str, Counter[str]] = {child.rsplit(".", 1)[1]: Counter() for child in folders}
    for module in graph.modules:
        own = room(module, package)
        if own in rooms:
            found = {room(other, package) for other in graph.find_modules_directly_imported_by(module)}
            rooms[own].update(other for other in found if other in rooms and other != own)
    return rooms


def main() -> None:
    graph = grimp.build_graph(ROOT)
    packages = [ROOT, *sorted(child for child in graph.find_children(ROOT) if graph.find_children(child))]
    for package in packages:
        rooms = imports(graph, package)
        if len(rooms) < 2:
            continue
        print(package)
        width = max(map(len, rooms))
        for name, others in sorted(rooms.items()):
            print(f"  {name:{width}}  {', '.join(f'{other} {count}' for other, count in sorted(others.items())) or '-'}")
        print()


if __name__ == "__main__":
    main()
