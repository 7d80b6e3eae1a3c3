"use strict";
/* Groups of warps, the ring of stages, and the phases of barriers over logical time. */
DT.Timeline = class {
  static LETTERS = {
    wait: "w", arrive: "a", load: "L", "local store": "S", fence: "f", store: "O",
    "store wait": "o", product: "P", "product wait": "p", fill: "fill", full: "full",
    read: "read",
  };

  constructor(timeline) {
    this.t = timeline;
    this.end = Math.max(1, ...timeline.spans.map((span) => span[3]));
    this.slider = DT.slider("Time", this.end, (value) => this.setTime(value));
    this.said = DT.el("p", { class: "said", role: "status" });
    this.state = DT.el("div", {});
    const sizes = Object.entries(timeline.sizes).map(([l, s]) => `${l} = ${s}`).join(", ");
    this.node = DT.el("div", { class: "timeline" },
      DT.el("p", {}, `${timeline.kernel}, program 0, at ${sizes}. Time is logical: an action `
        + "takes one unit, a copy four, and a wait lasts until the phase that it waits for has "
        + "ended. It says what may overlap, not how long anything takes."
        + (timeline.truncated ? " Later events are left out." : "")),
      DT.el("div", { class: "controls" }, this.slider.node), this.said,
      DT.el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Timeline" },
        this.draw()),
      DT.el("p", { class: "legend" },
        "w waits, a arrives, L starts a copy, P starts a product, p waits for products, S stores "
        + "to shared memory, f fence, O copies out, o waits for that. Buffers: fill, full, read. "
        + "Barriers: the number of each phase."),
      this.state);
    this.setTime(0);
  }

  draw() {
    const rows = [...this.t.groups, ...this.t.buffers, ...this.t.barriers];
    const unit = Math.max(6, Math.min(16, 1400 / this.end));
    const left = 120, high = 20;
    const width = left + this.end * unit + 10, height = rows.length * high + 24;
    const svg = DT.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `timeline of ${this.t.kernel}` });
    for (let time = 0; time <= this.end; time += 10) {
      svg.append(DT.svg("line", { x1: left + time * unit, x2: left + time * unit, y1: 16,
        y2: height, class: "tick" }),
        DT.svg("text", { x: left + time * unit, y: 12, class: "axis" }, `${time}`));
    }
    rows.forEach((row, number) => {
      svg.append(DT.svg("text", { x: 2, y: 34 + number * high, class: "axis" }, row));
    });
    const place = new Map(rows.map((row, number) => [row, number]));
    this.t.spans.forEach(([row, kind, start, end, text]) => {
      const y = 20 + place.get(row) * high;
      const wide = Math.max(2, (end - start) * unit - 1);
      const shown = kind === "phase" ? /phase (\d+)/.exec(text)[1] : DT.Timeline.LETTERS[kind];
      const box = DT.svg("rect", { x: left + start * unit, y, width: wide, height: high - 4,
        class: `span ${kind.replace(" ", "-")}` });
      box.append(DT.svg("title", {}, `${start}–${end}: ${text}`));
      svg.append(box);
      if (shown && wide > 6 * shown.length) {
        svg.append(DT.svg("text", { x: left + start * unit + wide / 2, y: y + 12,
          "text-anchor": "middle", class: "letter" }, shown));
      }
    });
    this.cursor = DT.svg("line", { x1: left, x2: left, y1: 14, y2: height, class: "cursor" });
    this.x = (time) => left + time * unit;
    svg.append(this.cursor);
    return svg;
  }

  at(row, time) {
    return this.t.spans.filter((span) => span[0] === row && span[2] <= time && time < span[3]);
  }

  setTime(time) {
    this.cursor.setAttribute("x1", this.x(time));
    this.cursor.setAttribute("x2", this.x(time));
    const doing = this.t.groups.map((group) => {
      const span = this.at(group, time)[0];
      return span ? span[4] : `${group} has ended`;
    });
    this.said.textContent = `At ${time}: ${doing.join("; ")}.`;
    const buffers = this.t.buffers.map((name) => {
      const kinds = this.at(name, time).map((span) => span[1]);
      return [name, kinds.includes("read") ? "being read" : kinds.includes("fill") ? "being filled"
        : kinds.includes("full") ? "full" : "free"];
    });
    const barriers = this.t.barriers.map((name) => {
      const ended = this.t.spans.filter((span) => span[0] === name && span[3] <= time).length;
      return [name, `phase ${ended}, parity ${ended % 2}`];
    });
    this.state.replaceChildren(DT.el("div", { class: "side" },
      DT.table("Ring of stages", ["buffer", "state"], buffers),
      DT.table("Barriers", ["barrier", "phase"], barriers)));
  }
};
