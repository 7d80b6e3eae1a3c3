"use strict";
/* Costs, certificates, two schedules beside each other, and the results of a search. */
/* What a program's kernels cost after each step that changes a figure. */
DT.costs = (variant) => {
  const rows = [];
  let before = null, shown = "";
  for (const step of variant.steps) {
    const known = step.resources;
    const figures = JSON.stringify(known);
    const empty = known.every((r) => r.registers == null && r.shared == null && r.memory == null);
    if (empty || figures === shown) continue;
    shown = figures;
    const loops = known.some((r) => r.memory != null);
    const total = loops && known.every((r) => r.seconds != null)
      ? known.reduce((sum, r) => sum + r.seconds, 0) : null;
    known.forEach((r, number) => {
      const gain = !number && before && total ? `${(before / total).toFixed(2)}×` : "";
      rows.push([number ? "" : step.title, number ? "" : step.level, r.kernel,
        r.registers == null ? "" : `${Math.round(r.registers)}`, DT.bytes(r.shared),
        DT.bytes(r.memory), loops && r.seconds == null ? "does not fit" : DT.time(r.seconds),
        r.limit, gain]);
    });
    if (loops) before = total;
  }
  const parts = [];
  const at = Object.entries(variant.costSizes ?? {}).map(([l, s]) => `${l} = ${s}`).join(", ");
  if (rows.length) {
    parts.push(DT.table(`Predicted${variant.device ? ` for ${variant.device} at ${at}` : ""}`,
      ["after", "level", "kernel", "registers", "shared memory", "bytes moved", "time", "busiest",
       "gain"], rows),
    DT.el("dl", { class: "legend" }, ...[
      ["after", "The steps that change a figure. A prediction reads loops, so that passes of later "
        + "levels leave bytes and time as they are."],
      ["registers", "Of a thread. At the loop level those that the model of costs expects, at the "
        + "tile level those of the tiles that are live at once; nothing where a tile is as long as "
        + "a whole axis. A thread has 255 at most, what is more is spilled."],
      ["shared memory", "Of a program instance. A kernel that needs more than the device has does "
        + "not fit, and has no time."],
      ["bytes moved", "To and from the device's memory, with reuse in tiles and caches."],
      ["busiest", "The resource that takes longest: memory, the L2 cache, products (tensor cores), "
        + "arithmetic, special functions, starting program instances, or waiting for one load after "
        + "the other."],
      ["gain", "The time of all kernels before the step over that after it."],
    ].flatMap(([term, text]) => [DT.el("dt", {}, term), DT.el("dd", {}, text)])));
  }
  const kernels = variant.assembly?.kernels ?? [];
  if (kernels.length) {
    const sizes = Object.entries(variant.assembly.sizes).map(([l, s]) => `${l} = ${s}`).join(", ");
    parts.push(DT.table(`Compiled by Triton at ${sizes}`,
      ["kernel", "target", "registers", "spilled bytes", "shared memory", "lines", "cannot run"],
      kernels.map((k) => [k.name, k.target, `${k.registers ?? "?"}`, `${k.spills ?? "?"}`,
        DT.bytes(k.shared), Object.entries(k.texts).map(([s, t]) => `${t.lines} ${s}`).join(", "),
        k.problems.join("; ")])));
  }
  for (const note of variant.notes) parts.push(DT.el("p", { class: "note" }, note));
  if (!parts.length) parts.push(DT.el("p", { class: "empty" }, "Nothing is known of costs."));
  return DT.el("div", { class: "tables" }, ...parts);
};

/* The obligations of a certificate, what is not proved first. */
DT.certificate = (variant, open) => {
  const states = ["refuted", "tested", "assumed", "proved"];
  const rank = (item) => (states.indexOf(item.state) + states.length + 1) % (states.length + 1);
  const items = variant.certificate.toSorted((a, b) => rank(a) - rank(b) || a.number - b.number);
  const total = new Map();
  for (const item of items) total.set(item.state, (total.get(item.state) ?? 0) + item.count);
  const counts = [...total].map(([state, count]) => `${count} ${state}`).join(", ");
  const links = (item) => item.directives.flatMap(([text, line], index) => [
    index ? DT.el("br") : "",
    line ? DT.el("button", { class: "link", title: `line ${line} of the program`,
      onclick: () => open(line) }, `line ${line}`) : "", ` ${text}`]);
  return DT.el("div", { class: "tables" },
    DT.el("p", {}, `What the schedule has to keep: ${counts}.`),
    DT.table("Each obligation once, with the directives that it comes from",
      ["obligation", "state", "directives"],
      items.map((item) => [`${item.statement}${item.count > 1 ? ` (${item.count} times)` : ""}`,
        item.reason ? `${item.state}: ${item.reason}` : item.state, links(item)])));
};

DT.Compare = class {
  constructor(model) {
    this.model = model;
    const names = model.variants.slice(1).map((v, index) => [index, v.name]);
    this.other = DT.select(`${model.variants[0].name} beside`, names,
      (value) => this.show(Number(value)));
    this.body = DT.el("div", {});
    this.node = DT.el("div", { class: "compare" },
      DT.el("div", { class: "controls" }, this.other.node), this.body);
    this.show(0);
  }

  show(index) {
    const [left, right] = [this.model.variants[0], this.model.variants[index + 1]];
    const total = (variant, field) => {
      const step = variant.steps.findLast((s) => s.resources.some((r) => r.seconds != null));
      return step ? step.resources.reduce((sum, r) => sum + (r[field] ?? 0), 0) : null;
    };
    const compiled = (variant, field) => (variant.assembly?.kernels ?? [])
      .map((k) => k[field] ?? "?").join(", ");
    const figures = DT.table("Figures", ["", left.name, right.name], [
      ["predicted time", DT.time(total(left, "seconds")), DT.time(total(right, "seconds"))],
      ["bytes moved", DT.bytes(total(left, "memory")), DT.bytes(total(right, "memory"))],
      ["compiled registers", compiled(left, "registers"), compiled(right, "registers")],
      ["compiled shared memory", compiled(left, "shared"), compiled(right, "shared")],
    ]);
    const schedule = DT.el("div", { class: "side" }, ...[[left, right], [right, left]].map(
      ([own, other]) => DT.el("section", {}, DT.el("h2", {}, own.name),
        DT.lines(`Schedule of ${own.name}`, "dt", own.schedule.map((text) => [text,
          other.schedule.includes(text) ? "same" : own === left ? "removed" : "added"])))));
    const grids = [];
    const made = [left, right].filter((v) => v.trace).map((variant) => {
      const grid = new DT.Grid(variant.trace, (value) => {
        for (const other of grids) if (other !== grid) other.setInstance(value);
      });
      grids.push(grid);
      return DT.el("section", {}, DT.el("h2", {}, variant.name), grid.node);
    });
    const levels = this.model.comparisons[index].map((level) => {
      const counts = Object.entries(level.counts)
        .map(([name, n]) => `${n > 0 ? "+" : "−"}${Math.abs(n)} ${name}`).join(", ");
      return DT.el("details", { open: level === this.model.comparisons[index].at(-1) },
        DT.el("summary", {}, `IR at the end of the ${level.level} level: ${counts || "equal"}`),
        DT.el("div", { class: "side" },
          DT.lines(`${level.level} of ${left.name}`, "mlir", level.left),
          DT.lines(`${level.level} of ${right.name}`, "mlir", level.right)));
    });
    this.body.replaceChildren(figures, schedule, ...levels,
      DT.el("div", { class: "side" }, ...made));
  }
};

/* A pane of lines that are pairs of a text and its state. */
DT.lines = (label, language, rows) => {
  const pane = new DT.TextPane({ label, language });
  pane.show(rows.map(([text, state], index) => ({ text, number: index + 1,
    state: state === "same" ? undefined : state })));
  return pane.node;
};

DT.Search = class {
  constructor(search, open) {
    this.s = search;
    this.open = open;
    this.details = DT.el("div", { class: "details", "aria-live": "polite" },
      DT.el("p", {}, "Choose a point: its schedule is shown here."));
    this.axis = DT.select("Across", search.axes.map((name) => [name, name]), () => this.draw());
    this.picture = DT.el("div", {});
    const failed = Object.entries(search.statuses).map(([status, n]) => `${n} ${status}`).join(", ");
    this.node = DT.el("div", { class: "search" },
      DT.el("p", {}, `${search.points.length} schedules with a time; ${failed}. ${search.setting}`),
      DT.el("div", { class: "controls" }, this.axis.node),
      DT.el("div", { class: "side" }, this.picture, this.details));
    this.draw();
  }

  draw() {
    const axis = this.axis.input.value;
    const points = this.s.points.map((point, index) => ({ ...point, index,
      x: point.values[axis] })).filter((point) => point.x != null);
    const numeric = points.every((point) => typeof point.x === "number");
    const options = [...new Set(points.map((point) => point.x))].sort();
    const value = (point) => numeric ? point.x : options.indexOf(point.x);
    const xs = points.map(value), ys = points.map((point) => point.milliseconds);
    const [low, high] = [Math.min(...xs), Math.max(...xs)];
    const [fast, slow] = [Math.min(...ys), Math.max(...ys)];
    const width = 520, height = 340, left = 64, bottom = 40;
    const x = (v) => left + 14 + (high > low ? (v - low) / (high - low) : 0.5) * (width - left - 40);
    const logarithm = (v) => slow > fast ? Math.log(v / fast) / Math.log(slow / fast) : 0.5;
    const y = (v) => height - bottom - 12 - logarithm(v) * (height - bottom - 30);
    const svg = DT.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
      "aria-label": `milliseconds across ${axis}` },
      DT.svg("line", { x1: left, x2: width - 10, y1: height - bottom, y2: height - bottom,
        class: "axisline" }),
      DT.svg("line", { x1: left, x2: left, y1: 10, y2: height - bottom, class: "axisline" }),
      DT.svg("text", { x: (width + left) / 2, y: height - 6, "text-anchor": "middle",
        class: "axis" }, axis),
      DT.svg("text", { x: 4, y: 12, class: "axis" }, "ms"));
    for (const tick of [...new Set([fast, Math.sqrt(fast * slow), slow])]) {
      svg.append(DT.svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end",
        class: "axis" }, tick.toPrecision(3)));
    }
    const ticks = numeric ? [...new Set([low, high])] : options.map((_, k) => k);
    for (const tick of ticks) {
      svg.append(DT.svg("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle",
        class: "axis" }, numeric ? `${Number(tick.toPrecision(4))}` : `${options[tick]}`));
    }
    for (const point of points) {
      const best = point.index === 0;
      const label = `${point.milliseconds.toPrecision(4)} ms at ${axis} ${point.x}`
        + `${best ? ", the fastest" : ""}`;
      const choose = () => this.choose(point, mark);
      const at = `translate(${x(value(point))} ${y(point.milliseconds)})`;
      const mark = DT.svg("path", { transform: at, tabindex: 0, role: "button",
        "aria-label": label, "data-point": point.index, class: `point ${best ? "best" : ""}`,
        d: best ? "M0 -8 8 0 0 8 -8 0Z" : "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
        onclick: choose,
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") { choose(); event.preventDefault(); }
        } });
      mark.append(DT.svg("title", {}, label));
      svg.append(mark);
    }
    this.picture.replaceChildren(svg, DT.el("p", { class: "legend" },
      "◆ is the fastest. The scale of times is logarithmic."));
  }

  choose(point, mark) {
    for (const other of this.picture.querySelectorAll(".point")) other.classList.remove("chosen");
    mark.classList.add("chosen");
    const best = this.s.points[0].schedule;
    const rows = [
      ...point.schedule.map((text) => [text, best.includes(text) ? "same" : "added"]),
      ...best.filter((text) => !point.schedule.includes(text)).map((text) => [text, "removed"]),
    ];
    const figures = Object.entries(point.values).map(([name, value]) => [name, `${value}`]);
    this.details.replaceChildren(
      DT.el("h2", {}, `${point.milliseconds.toPrecision(4)} ms in ${point.rounds} rounds`),
      point.variant === null ? DT.el("p", {}, "+ and − compare it with the fastest.")
        : DT.el("button", { onclick: () => this.open(point.variant) }, "Open its levels"),
      DT.lines("Schedule", "dt", rows), DT.table("Choices and resources", ["name", "value"], figures));
  }
};
