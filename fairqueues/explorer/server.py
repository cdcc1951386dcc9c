"""Serves the explorer on this machine: bound to 127.0.0.1, all scripts from here, nothing from elsewhere."""

from __future__ import annotations

import socket
import sys
import webbrowser
from typing import Any

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.server.server import Server
from tornado.web import RequestHandler

from fairness.errors import ModelError
from fairness.validation import require_whole
from fairqueues.explorer.drawing import figure_svg
from fairqueues.explorer.fields import FieldErrors
from fairqueues.explorer.model import State
from fairqueues.explorer.page import open_page

__all__ = ["make_server", "serve"]

ADDRESS = "127.0.0.1"


def make_server(default: State, *, port: int = 5006) -> Server:
    """A server that listens already; ``server.io_loop.start()`` answers requests.

    Parameters
    ----------
    default : State
        What a visitor without a link sees.
    port : int
        0 for any free port; ``server.port`` says which.

    Raises
    ------
    ModelError
        If the port is no port, or is in use.
    """
    port = require_whole("port", port, 0, 65535) or _free_port()

    def open_document(document: Document) -> None:
        # Bokeh makes one document for each visit, and its context knows the request.
        context: Any = document.session_context
        open_page(document, context.request.query if context else "", default)

    try:
        server = Server(
            {"/": Application(FunctionHandler(open_document))},
            port=port,
            address=ADDRESS,
            allow_websocket_origin=[f"{ADDRESS}:{port}", f"localhost:{port}"],
            extra_patterns=[
                (r"/figure/([a-z0-9-]+)\.svg", _FigureHandler, {"default": default}),
                (r"/scenario\.toml", _ScenarioHandler, {"default": default}),
            ],
            session_token_expiration=86400,
        )
    except OSError as error:
        raise ModelError(
            f"port {port} cannot be used ({error.strerror or error}); give another port"
        ) from None
    server.start()
    return server


def serve(scenario: Any = None, *, port: int = 5006, open_browser: bool = True) -> None:
    """Serve the explorer until interrupted; one line on standard error says where.

    Parameters
    ----------
    scenario : fairqueues.scenario.Scenario, optional
        Its pool, counts, traffic and first policy are the first state of the page.
    port : int
    open_browser : bool
        Open the page in the browser of this machine.

    Raises
    ------
    ModelError
        If the scenario cannot be shown (see :meth:`State.from_scenario`), or the port is in use.
    """
    default = State() if scenario is None else State.from_scenario(scenario)
    server = make_server(default, port=port)
    address = f"http://{ADDRESS}:{server.port}/"
    if open_browser:
        server.io_loop.add_callback(webbrowser.open, address)
    try:
        # Without this line nobody could find a page on a port that the system chose.
        sys.stderr.write(f"fairqueues explorer: {address} (Ctrl-C ends it)\n")
        sys.stderr.flush()
        server.io_loop.start()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


class _StateHandler(RequestHandler):
    """Answers with a file made from the state of the query."""

    def initialize(self, default: State) -> None:
        self.default = default

    def data_received(self, chunk: bytes) -> None:
        """Requests have no body."""

    def state(self) -> State:
        return State.from_query(self.request.query) if self.request.query else self.default

    def answer(self, text: str, kind: str, name: str) -> None:
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(text)

    def refuse(self, error: Exception) -> None:
        self.set_status(400)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(str(error))


class _FigureHandler(_StateHandler):
    def get(self, name: str) -> None:
        try:
            self.answer(figure_svg(self.state(), name), "image/svg+xml", f"{name}.svg")
        except ModelError as error:
            self.refuse(error)


class _ScenarioHandler(_StateHandler):
    def get(self) -> None:
        try:
            self.answer(self.state().to_toml(), "application/toml", "scenario.toml")
        except FieldErrors as error:
            self.refuse(error)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])
