"use strict";
// One message at a time: while the server computes, changes are remembered and the newest goes next. Only when
// nobody changes anything the page asks for more of the curves.
window.explorer = (() => {
  let request = null, sent = 0, busy = false, pending = false, shown = null, waiting = null;
  const SLOW = "computing … (the first time after an installation this compiles, for up to a minute)";
  const by = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const fields = () => Object.fromEntries([
    ...all("input.number").map((e) => [e.id, e.value]), ...all("input.flag").map((e) => [e.id, e.checked ? "1" : "0"]),
  ]);
  const section = () => { const chosen = all("select.section").map((e) => Number(e.value)); return chosen.length ? { section: chosen } : {}; };
  const dark = () => document.documentElement.dataset.theme === "dark";
  const state = () => ({
    fields: fields(), policy: by("policy").value, rated: Number(by("rated").value), dark: dark(),
    shown: all("input.shown").filter((e) => e.checked).map((e) => e.value), ...section(),
  });

  const send = (message) => {
    if (request === null) return;
    if (busy && message === undefined) { pending = true; document.body.dataset.busy = "yes"; return; }
    busy = true;
    waiting ??= setTimeout(() => { by("working").textContent = SLOW; }, 2000);
    if (!message?.more) document.body.dataset.busy = "yes";
    request.value = JSON.stringify({ n: ++sent, ...(message ?? state()) });
  };

  const tell = (errors) => {
    for (const place of all(".error")) {
      const name = place.id.slice("error-".length), text = errors[name] ?? "";
      const label = place.dataset.label;
      place.textContent = text && label ? `${label}: ${text}` : text;
      by(name)?.setAttribute("aria-invalid", text ? "true" : "false");
    }
  };

  const element = (kind, text, properties = {}) => {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(text);
    return made;
  };

  const chip = (policy) => {
    const span = element("span", policy.name, { className: "policy" });
    span.style.setProperty("--hue", policy.colour);
    return span;
  };

  const SHAPES = {
    line: (key) => ["line", { x1: 0, x2: 24, y1: 6, y2: 6, stroke: key.colour, "stroke-width": 2.2, "stroke-dasharray": key.dash === "solid" ? "none" : key.dash }],
    ring: (key) => ["circle", { cx: 12, cy: 6, r: 4, fill: "none", stroke: key.colour, "stroke-width": 2.2 }],
    bar: (key) => ["rect", { x: 8, y: 1, width: 8, height: 10, fill: key.colour }],
    dot: (key) => ["circle", { cx: 12, cy: 6, r: 4.5, fill: key.colour }],
    cross: (key) => ["path", { d: "M8 2 16 10M8 10 16 2", stroke: key.colour, "stroke-width": 1.8 }],
  };
  const drawn = (kind, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const swatch = (key) => {
    const picture = drawn("svg", { width: 24, height: 12, "aria-hidden": "true" }), span = element("span", picture);
    picture.append(drawn(...SHAPES[key.mark](key)));
    span.append(element("bdi", key.label));
    span.title = key.label;
    return span;
  };

  const row = (head, texts) => {
    const made = document.createElement("tr"), first = document.createElement("th");
    first.scope = "row";
    first.append(head);
    made.append(first, ...texts.map((text) => element("td", text)));
    return made;
  };

  const heading = (name, text = name) => {
    const made = element("th", typeof text === "string" ? element("span", text, { className: "head" }) : text, { title: name });
    made.scope = "col";
    return made;
  };
  const named = (name) => element("span", name, { className: "head", title: name });
  // A line per method and a column per class; the other way round where classes are many.
  const fill = (id, classes, lines) => {
    const table = by(id), many = document.querySelector("main.many"), corner = element("th", many ? "class" : table.dataset.corner);
    table.tHead.replaceChildren(document.createElement("tr"));
    table.tHead.rows[0].append(corner, ...(many ? lines.map(([name, head]) => heading(name, head)) : classes.map((name) => heading(name))));
    table.tBodies[0].replaceChildren(...(many
      ? classes.map((name, i) => row(named(name), lines.map(([, , texts]) => texts[i])))
      : lines.map(([, head, texts]) => row(head, texts))));
  };

  // Of each policy of a cluster: its certificate, the tasks of every class on every server, and what is full there.
  const place = (answer) => {
    const table = by("placements"), { classes, servers } = answer.names, top = document.createElement("tr");
    top.append(element("th", ""), ...servers.map((name) => heading(name)));
    table.tHead.replaceChildren(top);
    table.tBodies[0].replaceChildren(...answer.policies.flatMap((policy, k) => {
      const first = document.createElement("tr"), told = element("td", chip(policy), { colSpan: servers.length + 1 });
      told.append(element("span", answer.certificates[k], { className: "explain" }));
      first.append(told);
      const full = row("full", answer.full[k]);
      full.className = "full";
      return [first, ...classes.map((name, i) => row(named(name), answer.placements[k][i])), full];
    }));
  };

  const tabulate = (answer) => {
    for (const choice of all(".choice")) choice.style.setProperty("--hue", answer.hues[choice.dataset.policy]);
    fill("tasks", answer.names.classes, answer.policies.map((policy, k) => [policy.name, chip(policy), answer.tasks[k]]));
    if (answer.placements) place(answer);
    for (const cell of all("#bottlenecks td")) {
      const stopped = answer.policies.filter((_, k) => answer.bottlenecks[k][cell.dataset.class].includes(cell.dataset.resource));
      const every = stopped.length > 1 && stopped.length === answer.policies.length;
      cell.replaceChildren(...(every ? ["all policies"] : stopped.length ? stopped.map(chip) : ["–"]));
    }
  };

  // Only where there is more than fits: elsewhere a fraction of a pixel of the shadows would show.
  const shade = () => {
    for (const e of all("#tables, #tables > div")) e.classList.toggle("scrolls", e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
  };

  const rates = (answer) => {
    for (const [name, keys] of Object.entries(answer.legends)) by(`legend-${name}`).replaceChildren(...keys.map(swatch));
    fill("rates", shown.names.classes, answer.rates.map(([name, ...texts]) => {
      const colour = shown.legends.rates.find((key) => key.label === name)?.colour;
      return [name, colour ? chip({ name, colour }) : name, texts];
    }));
    by("exact").textContent = answer.error;
    for (const [name, note] of Object.entries(answer.notes)) by(`note-${name}`).textContent = note;
    document.body.dataset.complete = answer.complete ? "yes" : "no";
    shade();
  };

  const receive = (text) => {
    const answer = JSON.parse(text);
    if (answer.go !== undefined) { location.search = answer.go; return; }
    busy = false;
    clearTimeout(waiting);
    waiting = null;
    by("working").textContent = "";
    if (answer.more) {
      if (!pending) rates(answer);
    } else {
      tell(answer.errors);
      if (answer.query !== undefined) {
        const moved = shown !== null && shown.query !== answer.query;
        shown = answer;
        tabulate(answer);
        rates(answer);
        by("link").href = `?${answer.query}`;
        by("scenario").href = `scenario.toml?${answer.query}`;
        for (const a of all("a.file")) a.href = `figure/${a.dataset.figure}.${a.dataset.ending}?${answer.query}`;
        // The address of an unchanged first page stays short.
        if (moved) {
          history.replaceState(null, "", `?${answer.query}`);
          if (by("example")) by("example").value = "";
        }
        document.body.dataset.milliseconds = answer.milliseconds;
      }
      document.body.dataset.answered = answer.n;
    }
    if (pending) { pending = false; send(); return; }
    document.body.dataset.busy = "no";
    if (document.body.dataset.complete === "no") send({ more: true });
  };

  const nice = (value) => {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((k) => k * power).find((v) => v >= value * (1 - 1e-12));
  };

  // A number as the server reads it: 0.25 or 1/4.
  const read = (text) => {
    const parts = text.split("/").map((part) => (part.trim() === "" ? NaN : Number(part)));
    return parts.length === 2 ? parts[0] / parts[1] : parts.length === 1 ? parts[0] : NaN;
  };

  const follow = (number) => {
    const slider = by(`slide-${number.id}`), value = read(number.value);
    if (!slider || !Number.isFinite(value)) return;
    if (value > Number(slider.max) && number.id !== "load") {
      // Sliders of one kind keep one range.
      const end = nice(2 * value);
      for (const other of all(`input.slider[data-kind="${slider.dataset.kind}"]`)) {
        other.max = end;
        other.value = read(by(other.dataset.for).value);
      }
    }
    slider.value = value;
  };

  // Sliders stand where their number is, between all marks; a person moves them by round steps.
  const bounds = (slider) => {
    const high = Number(slider.max), step = high / 200;
    return slider.dataset.for === "load" ? [0.01, 0.99, 0.01] : [slider.dataset.least === "0" ? 0 : step, high, step];
  };
  const moved = (slider, value) => {
    const number = by(slider.dataset.for);
    number.value = String(Number(value.toPrecision(6)));
    follow(number);
    send();
  };
  const slid = (slider) => {
    const [low, high, step] = bounds(slider);
    moved(slider, Math.min(Math.max(Math.round(Number(slider.value) / step) * step, low), high));
  };
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  const keyed = (slider, event) => {
    const [low, high] = bounds(slider), at = read(by(slider.dataset.for).value);
    if (event.key === "Home") moved(slider, low);
    else if (event.key === "End") moved(slider, high);
    else if (event.key in STEPS && Number.isFinite(at)) {
      const next = at + STEPS[event.key] * (slider.dataset.for === "load" ? 0.01 : Number(slider.max) / 100);
      // Past an end the number stays: a step never goes the other way.
      if (next >= Math.min(low, at) - 1e-12 && next <= Math.max(high, at)) moved(slider, Math.max(next, 0));
    } else return;
    event.preventDefault();
  };

  const lost = () => {
    clearTimeout(waiting);
    by("working").textContent = "no connection to fairqueues explore; is it still running? Reload this page to go on";
  };
  // The address says the state; a page that the back button brings back, as it was left or as it once came from the
  // server, has lost its connection.
  addEventListener("resize", shade);
  addEventListener("pageshow", (event) => {
    const [how] = performance.getEntriesByType("navigation");
    if (event.persisted || how?.type === "back_forward") location.reload();
  });

  const drag = (x, y) => {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const reach = read(by("reach").value);
    [x, y].forEach((v, k) => { by(`start-${k}`).value = String(Number(Math.min(Math.max(v, 0), reach).toPrecision(3))); });
    send();
  };

  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const theme = (name) => {
    document.documentElement.dataset.theme = name;
    const button = by("theme");
    button?.setAttribute("aria-pressed", String(name === "dark"));
    if (button) button.textContent = name === "dark" ? "light" : "dark";
  };
  theme(kept() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

  const begin = (model, first) => {
    request = model;
    theme(document.documentElement.dataset.theme);
    all("input.number").forEach(follow);
    const notice = by("error-form").textContent;
    receive(first);
    if (dark()) send();
    by("error-form").textContent = notice;
    all("input.number").forEach((number) => {
      number.addEventListener("input", () => { follow(number); send(); });
    });
    all("input.slider").forEach((slider) => {
      slider.addEventListener("input", () => slid(slider));
      slider.addEventListener("keydown", (event) => keyed(slider, event));
    });
    all("#policy, #rated, input.shown, input.flag").forEach((e) => e.addEventListener("change", () => send()));
    all("select.section").forEach((e, k, both) => e.addEventListener("change", () => {
      // Two different ones: who chooses the other one's class changes places with it.
      const other = both[1 - k];
      if (other.value === e.value) other.value = shown.section[k];
      send();
    }));
    const sizes = ["n-classes", "n-resources", "n-servers"];
    for (const id of sizes) by(id).addEventListener("change", () => send({ resize: sizes.map((name) => Number(by(name).value)) }));
    if (by("example")) by("example").value = new URLSearchParams(location.search).get("example") ?? "";
    by("example")?.addEventListener("change", (event) => {
      if (event.target.value) location.search = `example=${encodeURIComponent(event.target.value)}`;
    });
    by("reset").addEventListener("click", () => { location.href = location.pathname; });
    by("theme").addEventListener("click", () => {
      theme(dark() ? "light" : "dark");
      try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* only for this page */ }
      send();
    });
    by("copy").addEventListener("click", async () => {
      await navigator.clipboard.writeText(by("link").href);
      by("copy").textContent = "copied";
      setTimeout(() => { by("copy").textContent = "copy link"; }, 1500);
    });
    document.body.dataset.ready = "yes";
  };

  return { begin, receive, drag, lost };
})();
