"""The page of one visitor: a state, its figures, and the exchange with the fields in the browser.

The fields are plain HTML (labels, tab order and keyboard come with them); ``page.js`` sends their texts as
one message and waits for the answer before it sends the next, so a fast slider never queues updates: the
newest wins. A message with wrong fields is answered with one line for each, and figures and link stay as they
were.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import CustomJS
from bokeh.models.widgets import TextInput

from fairness.errors import FairqueuesError
from fairqueues.explorer.fields import FieldErrors
from fairqueues.explorer.figures import figures_of, legible
from fairqueues.explorer.model import CLASSES, POLICIES, RESOURCES, State, nice_above
from fairqueues.explorer.views import Rates, Sharing

__all__ = ["Page", "open_page"]

LOG = logging.getLogger(__name__)


class Page:
    """State and figures of one visitor.

    Parameters
    ----------
    state : State
    notice : str
        Shown at the top, for instance that the link could not be read.
    """

    def __init__(self, state: State, notice: str = "") -> None:
        self.state = state
        self.notice = notice
        self.figures = figures_of(state)
        self.request, self.answer = TextInput(), TextInput()

    def show(self, state: State) -> dict[str, Any]:
        """Show a state of the same size in all figures.

        Returns
        -------
        dict
            What the browser writes around them: tables, notes, link.

        Raises
        ------
        FairqueuesError
            If a figure cannot be computed; those before it may show the new state already, so the caller
            shows the old one again.
        """
        begin = time.perf_counter()
        views = [figure.update(state) for figure in self.figures]
        self.state = state
        sharing: Sharing = views[0][0]
        rates: Rates = views[-1][0]
        return {
            "errors": {},
            "query": state.query(),
            "notes": {figure.name: note for figure, (_, note) in zip(self.figures, views, strict=True)},
            "policies": [
                {"name": n, "colour": legible(c)} for n, c in zip(sharing.names, sharing.colours, strict=True)
            ],
            "tasks": [[f"{v:.4g}" for v in allocation.tasks] for allocation in sharing.allocations],
            "bottlenecks": [list(map(list, allocation.bottlenecks)) for allocation in sharing.allocations],
            "rates": [
                ["–" if np.isnan(v) else f"{v:.4g}" for v in row]
                for row in zip(state.system.loads, rates.balanced, rates.bound, strict=True)
            ],
            "milliseconds": round(1e3 * (time.perf_counter() - begin), 1),
        }

    def reply(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Answer to a message of the browser: new pictures, or what is wrong where."""
        old = self.state
        try:
            if "resize" in message:
                n, m = message["resize"]
                if not (CLASSES[0] <= n <= CLASSES[1] and RESOURCES[0] <= m <= RESOURCES[1]):
                    raise FieldErrors({"form": f"the explorer does not show {n} classes and {m} resources"})
                return {"go": old.resized(n, m).query()}
            state = State.from_texts(message["fields"], message["policy"], old.job_classes, old.resources)
            return self.show(state)
        except FieldErrors as error:
            return {"errors": error.messages}
        except FairqueuesError as error:
            self.show(old)
            return {"errors": {"form": str(error).splitlines()[0]}}
        except Exception as error:
            # The browser waits for an answer, so a defect must not pass in silence there either.
            LOG.exception("the explorer could not answer %s", message)
            self.show(old)
            return {"errors": {"form": f"internal error ({type(error).__name__}); see the log of the server"}}

    def attach(self, document: Document) -> None:
        """Fill a Bokeh document with the page."""
        first = self.show(self.state)

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
        # Only what a root refers to belongs to the document, and is kept the same in browser and server.
        self.figures[0].plot.tags = [self.request, self.answer]
        for figure in self.figures:
            document.add_root(figure.plot)
        document.title = "fairqueues explorer"
        document.template = _resource("page.html")  # type: ignore[assignment]  # Bokeh takes text, too
        document.template_variables.update(self._variables())

    def _variables(self) -> dict[str, Any]:
        state = self.state
        rows = [
            (f"{name} demands", "demands", [f"demands-{i}-{j}" for j in range(state.n_resources)])
            for i, name in enumerate(state.job_classes)
        ]
        rows.append(("capacity", "capacities", [f"capacities-{j}" for j in range(state.n_resources)]))
        per_class = [
            (label, name, [f"{name}-{i}" for i in range(state.n_classes)])
            for label, name in (("jobs present", "counts"), ("weight", "weights"), ("traffic mix", "mix"))
        ]
        texts = state.texts
        ends = {
            name: nice_above(2 * max([1e-9, *(float(v) for k, v in texts.items() if k.startswith(name))]))
            for name in ("demands", "capacities", "counts", "weights", "mix")
        }
        return {
            "state": state,
            "texts": texts,
            "ends": ends,
            "tables": [(state.resources, "amounts", rows), (state.job_classes, "classes", per_class)],
            "policies": list(POLICIES),
            "figures": [(figure.name, figure.title) for figure in self.figures],
            "classes_choice": list(range(CLASSES[0], CLASSES[1] + 1)),
            "resources_choice": list(range(RESOURCES[0], RESOURCES[1] + 1)),
            "notice": self.notice,
            "style": _resource("page.css"),
            "script": _resource("page.js"),
        }


def open_page(document: Document, query: str, default: State) -> Page:
    """Fill a document with the page of a link; with the default state if it is empty, wrong or too hard."""
    notice = ""
    if query:
        try:
            page = Page(State.from_query(query))
            page.attach(document)
            return page
        except FieldErrors as error:
            notice = f"This link could not be read ({error}); here is the first state instead."
        except FairqueuesError as error:
            told = str(error).splitlines()[0]
            notice = f"This link could not be shown ({told}); here is the first state instead."
    page = Page(default, notice)
    page.attach(document)
    return page


def _resource(name: str) -> str:
    return files("fairqueues.explorer").joinpath(name).read_text(encoding="utf-8")
