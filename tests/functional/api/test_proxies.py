"""The configuration on the page about proxies, with the real nginx; and whose address counts."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from worlds.ports import free_port
from worlds.served import Service

from .conftest import Opened

PAGE = Path(__file__).parents[3] / "docs" / "proxies.md"
SHARE = 2


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed: `make test` tries to, or: apt-get install {name}")
    return found


def configuration(folder: Path, port: int, service: str) -> str:
    """The one of the page, with a certificate and ports of the test."""
    found = re.search(r"^```nginx\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    text = found[1]
    for before, after in (
        ("server 127.0.0.1:8000;", f"server {urlsplit(service).netloc};"),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("/etc/ssl/api.example.com.pem", f"{folder}/cert.pem"),
        ("/etc/ssl/api.example.com.key", f"{folder}/key.pem"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = f"user {getpass.getuser()};\n" if os.getuid() == 0 else ""
    return f"{user}daemon off;\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{text}}}\n"


@contextmanager
def nginx(folder: Path, service: str) -> Iterator[tuple[str, ssl.SSLContext]]:
    """A running nginx: its address, and how to trust its certificate."""
    port, nginx, openssl = free_port(), program("nginx"), program("openssl")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(made, check=True, capture_output=True)  # noqa: S603
    (folder / "nginx.conf").write_text(configuration(folder, port, service))
    command = [nginx, "-p", str(folder), "-c", f"{folder}/nginx.conf", "-e", f"{folder}/errors"]
    with subprocess.Popen(command) as process:  # noqa: S603
        try:
            trusting, address = ssl.create_default_context(cafile=f"{folder}/cert.pem"), f"https://127.0.0.1:{port}/v1"
            for _ in range(100):
                try:
                    httpx.get(f"{address}/health/live", verify=trusting)
                    break
                except httpx.TransportError:
                    assert process.poll() is None, (folder / "errors").read_text()
                    time.sleep(0.1)
            yield address, trusting
        finally:
            process.terminate()
    assert "[emerg]" not in (folder / "errors").read_text()


@pytest.fixture
def held(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Service, Event]]:
    """A service that trusts 127.0.0.1 and has two requests for each address. Decks take until the event is set."""
    service, free = opened("memory", trusted_proxies=("127.0.0.1",), waiting_limit=2 * SHARE, address_share=0.5), Event()
    usual = type(service.system.use_cases.decks).begin

    def slow(*values: Any, **named: Any) -> Any:
        free.wait(30)
        return usual(*values, **named)

    service.couple()
    monkeypatch.setattr(type(service.system.use_cases.decks), "begin", slow)
    yield service, free
    free.set()


def decks(clients: list[Callable[[], httpx.Response]], refused: int, free: Event) -> list[int]:
    """All ask at once: the statuses of those that are refused while others are worked on, and then of the others."""
    with ThreadPoolExecutor(len(clients)) as pool:
        waiting: set[Future[httpx.Response]] = {pool.submit(client) for client in clients}
        early: list[int] = []
        while len(early) < refused and waiting:
            done, waiting = wait(waiting, timeout=20, return_when=FIRST_COMPLETED)
            assert done, "nobody was refused"
            early += [answer.result().status_code for answer in done]
        free.set()
        return early + [answer.result().status_code for answer in waiting]


def asking(service: Service, address: str, source: str, **options: Any) -> Callable[[], httpx.Response]:
    user, numbers = service.couple()[0], count(1)

    def ask() -> httpx.Response:
        headers = {"Authorization": f"Bearer {service.key}"}
        if options.get("forged"):
            headers["X-Forwarded-For"] = f"198.51.100.{next(numbers)}"
        transport = httpx.HTTPTransport(local_address=source, verify=options.get("verify", True))
        with httpx.Client(transport=transport, timeout=30) as client:
            return client.post(f"{address}/people/{user}/deck", headers=headers)

    return ask


def test_each_client_of_the_proxy_has_its_share(held: tuple[Service, Event], tmp_path: Path) -> None:
    service, free = held
    with nginx(tmp_path, service.address) as (address, trusting):
        many = asking(service, address, "127.0.0.2", verify=trusting, forged=True)  # nginx says whose they are all the same
        other = asking(service, address, "127.0.0.3", verify=trusting)
        assert decks([*[many] * 5, other], 3, free) == [429] * 3 + [200] * 3
        live = httpx.get(f"{address}/health/live", verify=trusting)
        assert (live.status_code, live.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
        headers = {"Authorization": f"Bearer {service.key}"}
        assert httpx.get(f"{address}/people/ada%2Fevents", headers=headers, verify=trusting).json()["code"] == "not-found"
        assert httpx.get(f"{address}/metrics", headers=headers, verify=trusting).status_code == 403


@pytest.mark.parametrize(("source", "statuses"), [("127.0.0.1", [200] * 4), ("127.0.0.2", [429] * 2 + [200] * 2)])
def test_only_a_trusted_peer_may_name_its_client(held: tuple[Service, Event], source: str, statuses: list[int]) -> None:
    service, free = held
    forging = asking(service, f"{service.address}/v1", source, forged=True)
    assert decks([forging] * 4, statuses.count(429), free) == statuses
