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
    this.access = DT.slider("Access", 0, (value) => this.setAccess(value - 1), 1);
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
        "the slider, or whose block was clicked. Filled: elements that the step touches; hatched: lanes that are masked off, ",
        "inside of the tensor or beyond its edge; dashed: all that the instance touches. ",
        "One element is as large in all pictures, but along axes that would be too thin to see."),
      this.pictures);
    this.setKernel(0);
  }

  setKernel(index) {
    this.kernel = this.trace.kernels[index];
    this.instance.set(0, this.kernel.instances.length - 1);
    this.draw();
    this.setInstance(0);
  }

  /* Shows an instance whose block is clicked; the slider does the same from the keyboard. */
  choose(instance) {
    this.setInstance(instance);
    this.sync?.(instance);
  }

  setInstance(value) {
    this.now = Math.min(value, this.kernel.instances.length - 1);
    this.instance.set(this.now);
    this.access.set(1, (this.kernel.instances[this.now] ?? []).length);
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
    this.reaches = new Map(names.map((name) => [name, this.reach(name)]));
    const longest = Math.max(1, ...[...this.reaches.values()].flat().map(([a, b]) => b - a));
    this.unit = DT.Grid.WIDE / longest;
    this.pictures.replaceChildren(...names.map((name) => this.plane(name)));
  }

  /* The first index of the last two axes that is drawn, and the one behind the last: those of the
   * tensor, and of lanes beyond its edges, as far as these are no further than the tensor is long. */
  reach(name) {
    const sizes = [1, 1, ...this.trace.tensors[name]].slice(-2);
    const found = sizes.map((size) => [0, size]);
    for (const access of this.kernel.instances.flat()) {
      if (access.t !== name || access.k === access.n) continue;
      this.box(access.b).slice(-2).forEach(([first, end], axis) => {
        const far = Math.max(sizes[axis], DT.Grid.BEYOND);
        found[axis][0] = Math.max(-far, Math.min(found[axis][0], first));
        found[axis][1] = Math.min(sizes[axis] + far, Math.max(found[axis][1], end));
      });
    }
    return found;
  }

  plane(name) {
    const labels = this.trace.labels[name] ?? [];
    const [height, width] = [1, 1, ...this.trace.tensors[name]].slice(-2);
    const [[top, bottom], [left, right]] = this.reaches.get(name);
    const stored = this.kernel.instances.some((own) => own.some((a) => a.t === name && a.s));
    const unit = (extent) => Math.max(this.unit, DT.Grid.THIN / extent);
    const scale = { x: unit(right - left), y: unit(bottom - top) };
    const wide = width * scale.x, tall = height * scale.y;
    const base = DT.svg("g"), over = DT.svg("g");
    const count = this.kernel.instances.length;
    const area = { width: (right - left) * scale.x + 46, height: (bottom - top) * scale.y + 26 };
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
    const origin = `translate(${40 - left * scale.x} ${20 - top * scale.y})`;
    const inside = DT.svg("g", { transform: origin },
      DT.svg("rect", { width: wide, height: tall, class: "tensor" }), base, over);
    svg.append(inside);
    this.planes.set(name, { base, over, scale, name });
    if (stored) {
      this.kernel.instances.forEach((own, instance) => {
        const boxes = own.filter((access) => access.t === name && access.s && access.k
          && this.box(access.b).slice(0, -2).every(([first]) => first === 0));
        if (!boxes.length) return;
        for (const access of boxes) {
          for (const cell of this.cells(access, scale)) {
            const share = Math.round(18 + 74 * (count > 1 ? instance / (count - 1) : 0));
            base.append(DT.svg("rect", { ...cell, fill: `hsl(215 45% ${share}%)`,
                                         "data-instance": instance, class: "block",
                                         onclick: () => this.choose(instance) }));
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
              // The block under it is what is clicked.
              "pointer-events": "none",
            }, shown));
          }
        }
      });
    }
    return DT.el("figure", {}, DT.el("figcaption", {},
      `${stored ? "result" : "input"} ${name}[${this.trace.tensors[name].join(" × ")}]`), svg);
  }

  /* The lanes of an access that are masked off: the box of all its lanes without the touched ones. */
  masked(access, cells, { scale, name }) {
    const [rows, columns] = this.box(access.b).slice(-2).map(([first, end], axis) => {
      const [low, high] = this.reaches.get(name)[axis];
      return [Math.max(first, low), Math.min(end, high)];
    });
    const path = ({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h${-width}z`;
    const whole = path({
      x: columns[0] * scale.x, y: rows[0] * scale.y,
      width: (columns[1] - columns[0]) * scale.x, height: (rows[1] - rows[0]) * scale.y,
    });
    return DT.svg("path", { d: whole + cells.map(path).join(""), "fill-rule": "evenodd",
      fill: `url(#${this.id}-${name})`, class: "masked" });
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
    this.access.set(this.at + 1);
    const current = own[this.at];
    for (const plane of this.planes.values()) {
      const { over, base, scale, name } = plane;
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
        const cells = this.cells(current, scale);
        if (current.k < current.n) parts.push(this.masked(current, cells, plane));
        parts.push(...cells.map((cell) => DT.svg("rect", { ...cell, class: "touched" })));
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
    this.said.textContent = `Program ${this.now}, access ${this.at + 1} of ${own.length}: `
      + `${current.s ? "stores" : "loads"} ${current.t}[${range}]; ${current.k} of ${current.n} `
      + `lanes, ${current.n - current.k} masked off${trips ? `; in the trips ${trips}` : ""}`
      + `${current.x ? "." : "; not all combinations of these indices."}`;
  }
};

/* Lengths in pixels: of the longest axis of the pictures, and of the shortest one. */
DT.Grid.WIDE = 340;
DT.Grid.THIN = 26;
/* The elements beyond an edge that are drawn of any tensor. */
DT.Grid.BEYOND = 16;
