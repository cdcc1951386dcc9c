"""Serves the explorer on this machine: bound to 127.0.0.1, all scripts from here, nothing from elsewhere.

A page of another site in the same browser must not reach it. The name of that site may be made to lead to
this machine (DNS rebinding), but the browser goes on sending that name: a request whose Host is no name of
this machine is refused, websockets included, and so is a websocket whose Origin is another page. Nobody may
put the page into a frame, and the page itself loads nothing from elsewhere (Content-Security-Policy).
"""

from __future__ import annotations

import gc
import logging
import sys
import warnings
import webbrowser
from typing import Any

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import bind_sockets
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.web import OutputTransform, RequestHandler

from fairness.arguments.validation import require_whole
from fairness.errors import FairqueuesError, ModelError
from fairqueues.explorer.drawing import FORMATS, figure_file
from fairqueues.explorer.examples import Examples
from fairqueues.explorer.model import State
from fairqueues.explorer.page import Page, open_page
from fairqueues.explorer.rates import compute_first

__all__ = ["ExplorerServer", "make_server", "serve"]

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost", "[::1]")
"""By which a browser on this machine calls it."""

# Bokeh writes its data into the page and compiles the callbacks that it is given.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'; connect-src 'self'"
)
"""What the page may load; the last part goes on with its websocket."""


class ExplorerServer(BaseServer):
    """A server that listens on a port of this machine, 0 for any free one."""

    def __init__(self, default: State, port: int) -> None:
        with warnings.catch_warnings():
            # Python 3.12 warns where a thread gets its first loop in this way.
            warnings.simplefilter("ignore", DeprecationWarning)
            loop = IOLoop.current()
        sockets, self._port = bind_sockets(ADDRESS, port)

        examples = Examples(default)

        def open_document(document: Document) -> None:
            # Bokeh makes one document for each visit, and its context knows the request.
            context: Any = document.session_context
            open_page(document, context.request.query if context else "", examples)

        tornado = _Guarded(
            {"/": Application(FunctionHandler(open_document))},
            extra_websocket_origins=[f"{name}:{self._port}" for name in NAMES],
            absolute_url=f"http://{ADDRESS}:{self._port}/",
            extra_patterns=[
                (pattern, _FileHandler, {"examples": examples})
                for pattern in (rf"/figure/([a-z0-9-]+)\.({'|'.join(FORMATS)})", r"/(scenario)\.(toml)")
            ],
            session_token_expiration=86400,
            transforms=[_Headers],
        )
        http = HTTPServer(tornado)
        http.add_sockets(sockets)
        super().__init__(loop, tornado, http)

    def run(self) -> None:
        """Answer requests until interrupted."""
        # Bokeh collects garbage for each visitor who has left: not among the modules, which stay.
        gc.freeze()
        try:
            self.io_loop.start()
        finally:
            gc.unfreeze()

    @property
    def port(self) -> int:
        """Port that it listens on."""
        return self._port

    @property
    def address(self) -> str:
        """Address that it listens on."""
        return ADDRESS


def make_server(default: State, *, port: int = 5006) -> ExplorerServer:
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
    try:
        server = ExplorerServer(default, require_whole("port", port, 0, 65535))
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
    # Kernels that are compiled now need not be waited for before an empty page.
    Page(default).show(default)
    compute_first(default)
    # It warns of each visitor who leaves while an answer is under way.
    logging.getLogger("bokeh.server.views.ws").setLevel(logging.ERROR)
    address = f"http://{ADDRESS}:{server.port}/"
    if open_browser:
        server.io_loop.add_callback(webbrowser.open, address)
    try:
        # Without this line nobody could find a page on a port that the system chose.
        sys.stderr.write(f"fairqueues explorer: {address} (Ctrl-C ends it)\n")
        sys.stderr.flush()
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()


class _Guarded(BokehTornado):
    """Answers those who call this machine by its own name."""

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> Any:
        if request.host_name in NAMES:
            return super().find_handler(request, **kwargs)
        return self.get_handler_delegate(request, _Refusal)


class _Refusal(RequestHandler):
    """Tells a request for another machine that it is wrong here."""

    def data_received(self, chunk: bytes) -> None:
        """Nothing is read."""

    def prepare(self) -> None:
        self.set_status(421)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"the explorer answers to {', '.join(NAMES)} only")


class _Headers(OutputTransform):
    """What browsers may do with every answer."""

    def __init__(self, request: HTTPServerRequest) -> None:
        # Not every browser counts a websocket of the same host among "self".
        websocket = f" ws://{request.host}" if request.host_name in NAMES else ""
        self.policy = POLICY + websocket

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Add them to the headers of the answer."""
        headers["Content-Security-Policy"] = self.policy
        headers["X-Frame-Options"] = "DENY"
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Referrer-Policy"] = "no-referrer"
        # Bokeh invites other pages to embed its documents; this one is for nobody else.
        headers.pop("Access-Control-Allow-Origin", None)
        return status_code, headers, chunk


class _FileHandler(RequestHandler):
    """Answers with a figure or the scenario of the state that the query says."""

    def initialize(self, examples: Examples) -> None:
        self.examples = examples

    def data_received(self, chunk: bytes) -> None:
        """Requests have no body."""

    def get(self, name: str, suffix: str) -> None:
        try:
            state = self.examples.state(self.request.query)
            held = figure_file(state, name, suffix) if suffix in FORMATS else state.to_toml()
        except FairqueuesError as error:
            self.set_status(400)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(str(error))
        else:
            self.set_header("Content-Type", FORMATS.get(suffix, "application/toml; charset=utf-8"))
            self.set_header("Content-Disposition", f'attachment; filename="{name}.{suffix}"')
            self.finish(held)
