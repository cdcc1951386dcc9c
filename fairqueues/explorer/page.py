"""The page of one visitor: a state, its figures, and the exchange with the fields in the browser.

The fields are plain HTML (labels, tab order and keyboard come with them); ``page.js`` sends their texts as
one message and waits for the answer before it sends the next, so a fast slider never queues updates: the
newest wins. A message with wrong fields is answered with one line for each, and figures and link stay as they
were. Rates that take longer than an answer may are asked for by the browser, a few at a time, as long as
nobody changes anything.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import CustomJS
from bokeh.models.widgets import TextInput

from fairness.errors import FairqueuesError
from fairness.model.problem import FloatArray
from fairqueues.explorer.examples import Examples
from fairqueues.explorer.fields import ALL_CLASSES, DISTINCT, SIZES, FieldErrors, field_tables, require_sizes
from fairqueues.explorer.figures import Figure
from fairqueues.explorer.model import POLICIES, SERVER_POLICIES, State, nice_above
from fairqueues.explorer.palette import DAY, NIGHT
from fairqueues.explorer.pictures import drawings_of
from fairqueues.explorer.rates import ACCURACY, Rates

__all__ = ["Page", "open_page"]

LOG = logging.getLogger(__name__)

ANSWER = 0.07
"""Seconds after which an answer begins no further point of the curves of service rates."""

MORE = 0.03
"""The same of an answer to the wish for more; whoever changes something meanwhile waits for it."""


class Page:
    """State and figures of one visitor.

    Parameters
    ----------
    state : State
    notice : str
        Shown at the top, for instance that the link could not be read.
    examples : sequence of (str, str)
        Title and link of each state that is offered to begin with.
    """

    def __init__(self, state: State, notice: str = "", examples: Sequence[tuple[str, str]] = ()) -> None:
        self.state = state
        self.notice = notice
        self.examples = tuple(examples)
        self.figures = [Figure(drawing) for drawing in drawings_of(state)]
        by_name = {figure.name: figure for figure in self.figures}
        self.rates, self.sharing = by_name["rates"], by_name["sharing"]
        self.request, self.answer = TextInput(), TextInput()

    def show(self, state: State, dark: bool = False, seconds: float = ANSWER) -> dict[str, Any]:
        """Show a state of the same size in all figures.

        Parameters
        ----------
        state : State
        dark : bool
            On a dark page.
        seconds : float
            After so long no further point of the curves is begun.

        Returns
        -------
        dict
            What the browser writes around them: tables, legends, notes, link.

        Raises
        ------
        FairqueuesError
            If a figure cannot be computed; those before it may show the new state already, so the caller
            shows the old one again.
        """
        begin = time.perf_counter()
        palette = NIGHT if dark else DAY
        notes = {}
        for figure in self.figures:
            if figure.palette is not palette:
                figure.paint(palette)
            if figure is not self.rates:
                notes[figure.name] = figure.update(state)
        # Last, since it takes what time is left.
        notes[self.rates.name] = self.rates.update(state, until=begin + seconds, light=True)
        self.state = state
        sharing = self.sharing.view
        return {
            "errors": {},
            "query": state.query(),
            "notes": notes,
            "legends": {figure.name: figure.keys for figure in self.figures},
            "policies": [{"name": n, "colour": palette.hue(state, n)} for n in sharing.names],
            "hues": {name: palette.hue(state, name) for name in state.offered},
            "tasks": [[f"{v:.4g}" for v in allocation.tasks] for allocation in sharing.allocations],
            **_evidence(state, sharing.allocations),
            **self._rates_told(self.rates.view),
            "names": {"classes": state.job_classes, "servers": state.servers},
            "section": state.section,
            "milliseconds": round(1e3 * (time.perf_counter() - begin), 1),
        }

    @property
    def dark(self) -> bool:
        """Whether the figures are drawn for a dark page."""
        return self.rates.palette is NIGHT

    def more(self) -> dict[str, Any]:
        """Show more of the curves of service rates than was known in time; what changes around them."""
        note = self.rates.update(self.state, until=time.perf_counter() + MORE)
        around = {"notes": {self.rates.name: note}, "legends": {self.rates.name: self.rates.keys}}
        return {"more": True, **around, **self._rates_told(self.rates.view)}

    def _rates_told(self, rates: Rates) -> dict[str, Any]:
        """Loads, then rates at the current load, one row per method and one column per class; their error."""
        rows = {name: _told(curve.now, curve.error, self.state) for name, curve in rates.curves.items()}
        return {
            "rates": [
                ["load (tasks)", *(f"{v:.4g}" for v in self.state.system.loads)],
                *([name, *row] for name, row in rows.items()),
            ],
            "error": _errors(rates),
            "complete": rates.complete,
        }

    def reply(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Answer to a message of the browser: new pictures, or what is wrong where."""
        old, dark = self.state, bool(message.get("dark", self.dark))
        try:
            if "resize" in message:
                require_sizes(*message["resize"])
                return {"go": old.resized(*message["resize"]).query()}
            if "more" in message:
                return self.more()
            state = State.from_texts(
                message["fields"],
                message["policy"],
                old.job_classes,
                old.resources,
                message.get("shown", old.shown),
                message.get("rated", old.rated),
                old.offered,
                section=message.get("section", old.section),
                servers=old.servers,
                origin=old.origin,
                left_out=old.left_out,
            )
            return self.show(state, dark)
        except FieldErrors as error:
            return {"errors": error.messages}
        except FairqueuesError as error:
            self.show(old, dark)
            return {"errors": {"form": str(error).splitlines()[0]}}
        except Exception as error:
            # The browser waits for an answer, so a defect must not pass in silence there either.
            LOG.exception("the explorer could not answer %s", message)
            self.show(old, dark)
            return {"errors": {"form": f"internal error ({type(error).__name__}); see the log of the server"}}

    def attach(self, document: Document) -> None:
        """Fill a Bokeh document with the page."""
        # Rates come when the page is there: after an installation their kernels are compiled first.
        first = self.show(self.state, seconds=0.0)

        def answered(_attribute: str, _old: str, new: str) -> None:
            message = json.loads(new)
            document.hold("combine")
            try:
                self.answer.value = json.dumps({"n": message["n"], **self.reply(message)})
            finally:
                document.unhold()

        self.request.on_change("value", answered)
        self.answer.value = json.dumps({"n": 0, **first})
        self.answer.js_on_change("value", CustomJS(code="window.explorer.receive(cb_obj.value)"))
        start = CustomJS(
            args={"request": self.request, "answer": self.answer},
            code="window.explorer.begin(request, answer.value)",
        )
        document.js_on_event("document_ready", start)
        document.js_on_event("connection_lost", CustomJS(code="window.explorer.lost()"))
        document.js_on_event("client_reconnected", CustomJS(code="location.reload()"))
        # Only what a root refers to belongs to the document, and is kept the same in browser and server.
        self.figures[0].plot.tags = [self.request, self.answer]
        for figure in self.figures:
            document.add_root(figure.plot)
        document.title = "fairqueues explorer"
        document.template = _resource("page.html")  # text is as good as a template of jinja
        document.template_variables.update(self._variables())

    def _variables(self) -> dict[str, Any]:
        state = self.state
        fields = field_tables(*state.sizes)

        def table(kind: str, names: Sequence[str], told: str = "{}") -> list[tuple[str, str, list[str]]]:
            rows = zip(names, fields[kind], strict=True)
            return [(name, told.format(name), row) for name, row in rows]

        demands = table("demands", state.job_classes, "{} demands")
        tables = [("demands", state.resources, "amounts", demands)]
        if state.servers:
            room = table("capacities", state.servers, "{} capacity")
            runs = table("eligible", state.job_classes, "{} may run on")
            tables += [
                ("capacities", state.resources, "room", room),
                ("runs on", state.servers, "places", runs),
            ]
        else:
            demands += table("capacities", ["capacity"])
        kinds = [("jobs present", "counts"), ("weight", "weights"), ("traffic mix", "mix")]
        per_class = [row for label, kind in kinds for row in table(kind, [label])]
        if state.n_classes <= ALL_CLASSES:
            tables.append(("", state.job_classes, "classes", per_class))
        else:
            # More columns than three would be too narrow for numbers.
            columns = zip(state.job_classes, *(row for *_, row in per_class), strict=True)
            turned = [(name, name, list(row)) for name, *row in columns]
            tables.append(("", tuple(label for label, _ in kinds), "classes", turned))
        ends = {
            name: nice_above(2 * max(1e-9, float(np.max(getattr(state, name)))))
            for name in ("demands", "capacities", "counts", "weights", "mix")
        }
        # What the catalogue has, and of others those that this page began with.
        first = {*state.shown, state.policy}
        return {
            "state": state,
            "texts": state.texts,
            "ends": ends,
            "tables": tables,
            "policies": [name for name in state.offered if name in (*POLICIES, *SERVER_POLICIES, *first)],
            "examples": self.examples,
            "figures": [(figure.name, figure.title) for figure in self.figures],
            "sizes": [
                (what, now, range(least, most + 1))
                for (what, (least, most)), now in zip(SIZES.items(), state.sizes, strict=True)
            ],
            "distinct": DISTINCT,
            "notice": self.notice,
            "style": _resource("page.css"),
            "script": _resource("page.js"),
        }


def open_page(document: Document, query: str, examples: Examples) -> Page:
    """Fill a document with the page of a link; with the default state if it is empty, wrong or too hard."""
    notice = ""
    if query:
        try:
            page = Page(examples.state(query), "", examples.menu)
            page.attach(document)
            return page
        except FieldErrors as error:
            notice = f"This link could not be read ({error}); here is the first state instead."
        except FairqueuesError as error:
            told = str(error).splitlines()[0]
            notice = f"This link could not be shown ({told}); here is the first state instead."
    page = Page(examples.default, notice, examples.menu)
    page.attach(document)
    return page


def _told(rates: FloatArray | None, error: float, state: State) -> list[str]:
    """Rates of the classes in a table; "…" where they are still to come."""
    if rates is None:
        return ["…"] * state.n_classes
    digits = 4 if error <= ACCURACY else 2
    return ["–" if np.isnan(v) else f"{v:.{digits}g}" for v in rates]


def _errors(rates: Rates) -> str:
    """How well the rates of the policies at the current load are known."""
    known = {name: curve for name, curve in rates.curves.items() if curve.error}
    laws = [curve.error for curve in known.values() if not curve.known]
    told = [f"{name} ± {100 * c.error:.1g} % ({c.known})" for name, c in known.items() if c.known]
    if laws:
        error = f"{100 * max(laws):.1g}"
        told.append(f"Policies: stationary laws for exponential sizes, means to about {error} % (estimated)")
    return "; ".join(told) + ("." if told else "")


def _evidence(state: State, allocations: Sequence[Any]) -> dict[str, Any]:
    """By policy, what stops the classes of a pool; of a cluster placement, what is full, certificate."""
    if not state.servers:
        return {"bottlenecks": [list(map(list, one.bottlenecks)) for one in allocations]}
    runs = state.problem.eligible
    return {
        "placements": [
            [
                [f"{v:.4g}" if can else "–" for v, can in zip(*row, strict=True)]
                for row in zip(one.placement, runs, strict=True)
            ]
            for one in allocations
        ],
        "full": [
            [
                ", ".join(r for r, full in zip(state.resources, row, strict=True) if full) or "–"
                for row in one.saturated & (state.problem.capacities > 0)
            ]
            for one in allocations
        ],
        "certificates": [str(one.certificate) for one in allocations],
    }


def _resource(name: str) -> str:
    return files("fairqueues.explorer").joinpath("assets", name).read_text(encoding="utf-8")
