"""The command that takes safeguards away still finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from planted import FAULTS, PAGE, ROOT, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_safeguard_is_where_the_command_looks_for_it(fault: Fault) -> None:
    text = (ROOT / "src" / "kaczmatch" / fault.file).read_text()
    assert text.count(fault.safeguard) == 1
    assert all(Path(ROOT / part).exists() for part in fault.tests.split() if part.startswith("tests/"))
    assert f"| {fault.name} | `" in PAGE.read_text()
