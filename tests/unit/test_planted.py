"""The command that takes safeguards away still finds them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from planted import PAGE, ROOT
from safeguards import FAULTS
from safeguards.fault import Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_safeguard_is_where_the_command_looks_for_it(fault: Fault) -> None:
    text = (ROOT / "src" / "kaczmatch" / fault.file).read_text()
    assert text.count(fault.safeguard) == 1
    assert all(Path(ROOT / part).exists() for part in fault.tests.split() if part.startswith("tests/"))
    assert f"| {fault.name} | `" in PAGE.read_text()


def test_what_is_planted_is_the_fault_and_no_misspelt_name(tmp_path: Path) -> None:
    """An undefined name would fail any test, whether or not that test knows the safeguard."""
    for place, fault in enumerate(FAULTS):
        text = (ROOT / "src" / "kaczmatch" / fault.file).read_text()
        (tmp_path / f"fault_{place}.py").write_text(text.replace(fault.safeguard, fault.without))
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821,F823", str(tmp_path)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert checked.returncode == 0, checked.stdout
