"use strict";
/* The grid in launch order, and what the program instance under the slider touches. */
DT.Grid = class {
  constructor(trace, sync) {
    this.trace = { ...trace, kernels: trace.kernels.map((kernel) => ({ ...kernel,
      instances: kernel.instances.map((own) => own.map(([t, s, a, n, k, b, x, l]) =>
        ({ t: trace.names[t], s, a, n, k, b, x, l }))) })) };
    this.sync = sync;
    this.id = DT.fresh("hatch");
    this.kernelSelect = DT.select("Kernel", trace.kernels.map((kernel, index) =>
      [index, kernel.root]), (value) => this.setKernel(Number(value)));
    this.instance = DT.slider("Program id", 0, (value) => {
      this.setInstance(value);
      this.sync?.(value);
    });
    this.access = DT.slider("Step", 0, (value) => this.setAccess(value));
    this.play = DT.el("button", { onclick: () => this.toggle(), "aria-pressed": "false" }, "Play");
    this.head = DT.el("p", {});
    this.said = DT.el("p", { class: "said", role: "status" });
    this.pictures = DT.el("div", { class: "pictures" });
    this.node = DT.el("div", { class: "grid" },
      DT.el("div", { class: "controls" }, this.kernelSelect.node, this.instance.node,
        this.access.node, this.play),
      this.head, this.said,
      DT.el("p", { class: "legend" },
        "Numbers are program ids, in launch order from dark to light; of persistent kernels ",
        "followed by the block that the instance walks. Thick edges: the instance under ",
        "the slider. Filled: elements that the step touches; hatched: lanes that are masked off; ",
        "outlined: all that the instance touches."),
      this.pictures);
    this.setKernel(0);
  }

  setKernel(index) {
    this.kernel = this.trace.kernels[index];
    this.instance.set(0, this.kernel.instances.length - 1);
    this.draw();
    this.setInstance(0);
  }

  setInstance(value) {
    this.now = Math.min(value, this.kernel.instances.length - 1);
    this.instance.set(this.now);
    this.access.set(0, (this.kernel.instances[this.now] ?? []).length - 1);
    this.setAccess(0);
  }

  toggle() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      this.timer = setInterval(() => {
        const steps = (this.kernel.instances[this.now] ?? []).length;
        if (this.at + 1 < steps) this.setAccess(this.at + 1);
        else this.setInstance((this.now + 1) % this.kernel.instances.length);
      }, 350);
    }
    this.play.textContent = this.timer ? "Stop" : "Play";
    this.play.setAttribute("aria-pressed", this.timer ? "true" : "false");
  }

  /* The picture of a tensor: its last two axes; further ones are walked by the step. */
  draw() {
    const { trace, kernel } = this;
    const blocks = kernel.grid.map(([label, size, block]) =>
      `${label}: ⌈${size} / ${block}⌉ = ${Math.ceil(size / block)}`).join(", ");
    const sizes = Object.entries(trace.sizes).map(([label, size]) => `${label} = ${size}`).join(", ");
    this.head.textContent = `${kernel.name}: ${kernel.instances.length} program instances`
      + `${kernel.persistent ? ", each of which walks blocks," : ""} over ${blocks || "no labels"}; `
      + `drawn at ${sizes}.${trace.truncated ? " Some accesses are left out." : ""}`;
    const names = [...new Set(kernel.instances.flat().map((access) => access.t))];
    this.planes = new Map();
    this.pictures.replaceChildren(...names.map((name) => this.plane(name)));
  }

  plane(name) {
    const shape = [1, 1, ...this.trace.tensors[name]];
    const labels = this.trace.labels[name] ?? [];
    const [height, width] = shape.slice(-2);
    const wide = 300, tall = Math.min(Math.max(wide * height / width, 26), 340);
    const stored = this.kernel.instances.some((own) => own.some((a) => a.t === name && a.s));
    const scale = { x: wide / width, y: tall / height };
    const base = DT.svg("g"), over = DT.svg("g");
    const count = this.kernel.instances.length;
    const area = { width: wide + 46, height: tall + 26 };
    const svg = DT.svg("svg", {
      viewBox: `0 0 ${area.width} ${area.height}`, width: area.width, height: area.height,
      role: "img", "aria-label": `${stored ? "result" : "input"} ${name}`,
    },
      DT.svg("defs", {}, DT.svg("pattern", {
        id: `${this.id}-${name}`, width: 6, height: 6, patternUnits: "userSpaceOnUse",
        patternTransform: "rotate(45)",
      }, DT.svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatch" }))),
      DT.svg("text", { x: 40, y: 12, class: "axis" },
        `${labels.at(-1) ?? ""} → ${width}`),
      ...(this.trace.tensors[name].length > 1
        ? [DT.svg("text", { x: 2, y: 34, class: "axis" }, `${labels.at(-2) ?? ""} ↓`),
           DT.svg("text", { x: 2, y: 48, class: "axis" }, `${height}`)] : []));
    const inside = DT.svg("g", { transform: "translate(40 20)" },
      DT.svg("rect", { width: wide, height: tall, class: "tensor" }), base, over);
    svg.append(inside);
    this.planes.set(name, { base, over, scale, wide, tall, shape, stored, name });
    if (stored) {
      this.kernel.instances.forEach((own, instance) => {
        const boxes = own.filter((access) => access.t === name && access.s && access.k
          && this.box(access.b).slice(0, -2).every(([first]) => first === 0));
        if (!boxes.length) return;
        for (const access of boxes) {
          for (const cell of this.cells(access, scale)) {
            const share = Math.round(18 + 74 * (count > 1 ? instance / (count - 1) : 0));
            base.append(DT.svg("rect", { ...cell, fill: `hsl(215 45% ${share}%)`,
                                         "data-instance": instance, class: "block" }));
          }
        }
        // A persistent instance has a number for each block that it walks.
        const groups = new Map();
        for (const access of boxes) {
          const block = this.kernel.persistent && access.l.length ? access.l[0][1] : "";
          groups.set(block, [...(groups.get(block) ?? []), ...this.cells(access, scale)]);
        }
        for (const [block, cells] of groups) {
          const x = Math.min(...cells.map((c) => c.x)), y = Math.min(...cells.map((c) => c.y));
          const right = Math.max(...cells.map((c) => c.x + c.width));
          const bottom = Math.max(...cells.map((c) => c.y + c.height));
          const shown = block === "" ? `${instance}` : `${instance}·${block}`;
          if (right - x > 8 * shown.length && bottom - y > 10) {
            base.append(DT.svg("text", {
              x: (x + right) / 2, y: (y + bottom) / 2 + 4, "text-anchor": "middle",
              class: count > 1 && instance / (count - 1) > 0.5 ? "on-light" : "on-dark",
            }, shown));
          }
        }
      });
    }
    return DT.el("figure", {}, DT.el("figcaption", {},
      `${stored ? "result" : "input"} ${name}[${this.trace.tensors[name].join(" × ")}]`), svg);
  }

  box(box) { return [[0, 1], [0, 1], ...box]; }

  /* The rectangles of the touched elements of an access, in its plane. */
  cells(access, scale) {
    const axes = [[[0, 1, 1]], [[0, 1, 1]], ...access.a];
    const spans = (runs) => runs.length > 60
      ? [[runs[0][0], runs.at(-1)[1]]]
      : runs.flatMap(([first, end, step]) => step === 1 ? [[first, end]]
        : Array.from({ length: Math.ceil((end - first) / step) },
          (_, k) => [first + k * step, first + k * step + 1]).slice(0, 200));
    const [rows, columns] = axes.slice(-2).map(spans);
    return rows.flatMap(([top, bottom]) => columns.map(([left, right]) => ({
      x: left * scale.x, y: top * scale.y,
      width: Math.max(1, (right - left) * scale.x), height: Math.max(1, (bottom - top) * scale.y),
    })));
  }

  setAccess(value) {
    const own = this.kernel.instances[this.now] ?? [];
    this.at = Math.min(value, own.length - 1);
    this.access.set(Math.max(0, this.at));
    const current = own[this.at];
    for (const plane of this.planes.values()) {
      const { over, base, scale, wide, tall, name } = plane;
      const parts = [];
      for (const access of own) {
        if (access.t !== name || access.s) continue;
        parts.push(...this.cells(access, scale).map((cell) =>
          DT.svg("rect", { ...cell, class: "life" })));
      }
      for (const node of base.querySelectorAll("[data-instance]")) {
        node.classList.toggle("current", Number(node.dataset.instance) === this.now);
      }
      if (current?.t === name) {
        const [rows, columns] = this.box(current.b).slice(-2);
        const left = Math.max(-30, columns[0] * scale.x), top = Math.max(-16, rows[0] * scale.y);
        const right = Math.min(wide + 5, columns[1] * scale.x);
        const bottom = Math.min(tall + 5, rows[1] * scale.y);
        if (current.k < current.n) {
          parts.push(DT.svg("rect", { x: left, y: top, width: Math.max(1, right - left),
            height: Math.max(1, bottom - top), fill: `url(#${this.id}-${name})`,
            class: "masked" }));
        }
        parts.push(...this.cells(current, scale).map((cell) =>
          DT.svg("rect", { ...cell, class: "touched" })));
      }
      over.replaceChildren(...parts);
    }
    if (!current) {
      this.said.textContent = `Program ${this.now} touches nothing.`;
      return;
    }
    const labels = this.trace.labels[current.t] ?? [];
    const range = current.a.map((runs, axis) => {
      const named = labels[axis] ? `${labels[axis]} ` : "";
      if (!runs.length) return `${named}nothing`;
      const shown = runs.slice(0, 4).map(([first, end, step]) =>
        end - first === 1 ? `${first}` : `${first}…${end - 1}${step > 1 ? ` by ${step}` : ""}`);
      return named + shown.join(", ") + (runs.length > 4 ? `, … (${runs.length} runs)` : "");
    }).join("; ");
    const trips = current.l.map(([name, index]) => `${name} = ${index}`).join(", ");
    this.said.textContent = `Program ${this.now}, step ${this.at + 1} of ${own.length}: `
      + `${current.s ? "stores" : "loads"} ${current.t}[${range}]; ${current.k} of ${current.n} `
      + `lanes, ${current.n - current.k} masked off${trips ? `; in the trips ${trips}` : ""}`
      + `${current.x ? "." : "; not all combinations of these indices."}`;
  }
};
