"""The server of the explorer answers this machine and nobody else, whatever a link says."""

from __future__ import annotations

import base64
import http.client
from urllib.parse import parse_qsl, urlencode

import pytest

from fairqueues.explorer.model import State
from tests.processes import PATIENCE


def ask(port: int, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers={"Host": f"127.0.0.1:{port}", **named})
        answer = connection.getresponse()
        # What follows on a websocket has no end.
        return answer.status, answer.headers, "" if answer.status == 101 else answer.read().decode()
    finally:
        connection.close()


def websocket(port: int, host: str, origin: str) -> int:
    """Status of the answer to a handshake; 101 is a yes."""
    key = base64.b64encode(b"0123456789abcdef").decode()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    said = {"Sec_WebSocket_Key": key, "Sec_WebSocket_Protocol": "bokeh", **upgrade}
    return ask(port, "/ws", Host=host, Origin=origin, **said)[0]


pytestmark = pytest.mark.long

PATHS = ("/", "/scenario.toml", "/figure/rates.svg", "/static/js/bokeh.min.js", "/autoload.js", "/nowhere")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.0.1", "[::2]"])
def test_a_foreign_host_gets_nothing(port: int, path: str, host: str) -> None:
    for name in (host, f"{host}:{port}", f"{host}:80"):
        status, _, text = ask(port, path, Host=name)
        assert status == 421
        assert text == "the explorer answers to 127.0.0.1, localhost, [::1] only"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_this_machine_is_answered_by_each_of_its_names(port: int, name: str) -> None:
    status, _, text = ask(port, "/", Host=f"{name}:{port}")
    assert status == 200
    assert "fairqueues explorer" in text
    own = f"{name.lower()}:{port}"
    assert websocket(port, own, f"http://{own}") == 101


def test_foreign_pages_open_no_websocket(port: int) -> None:
    own, foreign = f"127.0.0.1:{port}", f"evil.example:{port}"
    assert websocket(port, foreign, f"http://{foreign}") == 421
    assert websocket(port, foreign, f"http://{own}") == 421
    assert websocket(port, own, f"http://{foreign}") == 403
    assert websocket(port, own, "null") == 403


@pytest.mark.parametrize("path", PATHS)
def test_what_browsers_may_do_is_said_with_every_answer(port: int, path: str) -> None:
    _, headers, _ = ask(port, path)
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == f"'self' ws://127.0.0.1:{port}"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "load", ["0.9999999999999999", "0.99999999999", pytest.param("1e-300", marks=pytest.mark.long)]
)
def test_a_load_next_to_the_ends_is_no_internal_error(port: int, load: str) -> None:
    query = urlencode([(k, load if k == "load" else v) for k, v in parse_qsl(State().query())], safe=",;")
    assert f"load={load}" in query
    status, _, text = ask(port, f"/?{query}")
    assert status == 200
    if load == "0.9999999999999999":
        assert "This link could not be shown" in text
    for figure in ("sharing", "drift", "region", "rates"):
        status, _, text = ask(port, f"/figure/{figure}.svg?{query}")
        assert status in (200, 400)
        assert status == 200 or text.count("\n") == 0


@pytest.mark.parametrize(
    "path", ["/scenario.toml?demands=-1", "/figure/rates.svg?demands=x", "/figure/nothing.svg"]
)
def test_wrong_exports_are_refused(port: int, path: str) -> None:
    status, _, text = ask(port, path)
    assert status == 400
    assert len(text.splitlines()) == 1
