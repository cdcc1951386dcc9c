"use strict";
// One message at a time: while the server computes, changes are remembered and the newest goes next.
window.explorer = (() => {
  let request = null, sent = 0, busy = false, pending = false, shown = null;
  const by = (id) => document.getElementById(id);
  const fields = () => Object.fromEntries([...document.querySelectorAll("input.number")].map((e) => [e.id, e.value]));

  const send = (message) => {
    if (request === null) return;
    if (busy && message === undefined) { pending = true; return; }
    busy = true;
    document.body.dataset.busy = "yes";
    request.value = JSON.stringify({ n: ++sent, ...(message ?? { fields: fields(), policy: by("policy").value }) });
  };

  const tell = (errors) => {
    for (const place of document.querySelectorAll(".error")) {
      const name = place.id.slice("error-".length), text = errors[name] ?? "";
      const label = place.dataset.label;
      place.textContent = text && label ? `${label}: ${text}` : text;
      by(name)?.setAttribute("aria-invalid", text ? "true" : "false");
    }
  };

  const chip = (policy) => {
    const span = document.createElement("span");
    span.className = "policy";
    span.textContent = policy.name;
    span.style.setProperty("--hue", policy.colour);
    return span;
  };

  const tabulate = (answer) => {
    by("tasks").tBodies[0].replaceChildren(...answer.policies.map((policy, k) => {
      const row = document.createElement("tr"), head = document.createElement("th");
      head.scope = "row";
      head.append(chip(policy));
      row.append(head, ...answer.tasks[k].map((text) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        return cell;
      }));
      return row;
    }));
    answer.rates.forEach((row, k) => {
      const cells = by("rates").tBodies[0].rows[k].cells;
      row.forEach((text, j) => { cells[j + 1].textContent = text; });
    });
    for (const cell of document.querySelectorAll("#bottlenecks td")) {
      const stopped = answer.policies.filter((_, k) => answer.bottlenecks[k][cell.dataset.class].includes(cell.dataset.resource));
      const every = stopped.length > 1 && stopped.length === answer.policies.length;
      cell.replaceChildren(...(every ? ["all policies"] : stopped.length ? stopped.map(chip) : ["–"]));
    }
  };

  const receive = (text) => {
    const answer = JSON.parse(text);
    if (answer.go !== undefined) { location.search = answer.go; return; }
    busy = false;
    tell(answer.errors);
    if (answer.query !== undefined) {
      tabulate(answer);
      for (const [name, note] of Object.entries(answer.notes)) by(`note-${name}`).textContent = note;
      by("link").href = `?${answer.query}`;
      by("scenario").href = `scenario.toml?${answer.query}`;
      for (const a of document.querySelectorAll("a.svg")) a.href = `figure/${a.dataset.figure}.svg?${answer.query}`;
      // The address of an unchanged first page stays short.
      if (answer.n > 0) history.replaceState(null, "", `?${answer.query}`);
      document.body.dataset.milliseconds = answer.milliseconds;
    }
    document.body.dataset.answered = answer.n;
    if (pending) { pending = false; send(); } else document.body.dataset.busy = "no";
  };

  const nice = (value) => {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((k) => k * power).find((v) => v >= value * (1 - 1e-12));
  };

  const follow = (number) => {
    const slider = by(`slide-${number.id}`), value = Number(number.value);
    if (!slider || number.value.trim() === "" || !Number.isFinite(value)) return;
    if (value > Number(slider.max) && number.id !== "load") {
      slider.max = nice(2 * value);
      slider.step = slider.max / 100;
    }
    slider.value = value;
  };

  const drag = (x, y) => {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const reach = Number(by("reach").value);
    [x, y].forEach((v, k) => { by(`start-${k}`).value = String(Number(Math.min(Math.max(v, 0), reach).toPrecision(3))); });
    send();
  };

  const begin = (model, first) => {
    request = model;
    const notice = by("error-form").textContent;
    receive(first);
    by("error-form").textContent = notice;
    document.querySelectorAll("input.number").forEach((number) => {
      number.addEventListener("input", () => { follow(number); send(); });
    });
    document.querySelectorAll("input.slider").forEach((slider) => {
      slider.addEventListener("input", () => {
        by(slider.dataset.for).value = String(Number(Number(slider.value).toPrecision(6)));
        send();
      });
    });
    by("policy").addEventListener("change", () => send());
    for (const id of ["n-classes", "n-resources"]) {
      by(id).addEventListener("change", () => send({ resize: [Number(by("n-classes").value), Number(by("n-resources").value)] }));
    }
    by("copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText(by("link").href);
      by("copy").textContent = "copied";
      setTimeout(() => { by("copy").textContent = "copy link"; }, 1500);
    });
    document.body.dataset.ready = "yes";
  };

  return { begin, receive, drag };
})();
