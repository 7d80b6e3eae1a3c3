"use strict";
/* The program, its steps, its IR and its code beside each other, linked by place. */
DT.Levels = class {
  constructor(variant) {
    this.v = variant;
    this.selection = null;
    this.hovered = null;
    this.chosen = null;
    this.showAll = false;
    this.programLines = variant.program.map((text, index) => ({ text, number: index + 1 }));
    this.onLine = new Map();
    variant.places.forEach(([line], place) => {
      if (!this.onLine.has(line)) this.onLine.set(line, []);
      this.onLine.get(line).push(place);
    });
    this.counts = this.countsByStep();
    this.build();
  }

  countsByStep() {
    const now = {};
    return this.v.steps.map((step) => {
      for (const [name, change] of Object.entries(step.counts ?? {})) {
        now[name] = (now[name] ?? 0) + change;
      }
      return { ...now };
    });
  }

  build() {
    const pane = (name, label, language) => new DT.TextPane({
      label, language,
      onselect: (index) => this.select(name, index),
      onhover: (index) => this.hover(name, index),
    });
    this.program = pane("program", `Program ${this.v.file}`,
      this.v.file.endsWith(".mlir") ? "mlir" : "dt");
    this.program.node.classList.add("program");
    this.program.show(this.programLines);
    this.ir = pane("ir", "IR after the step", "mlir");
    this.status = DT.el("p", { class: "status", role: "status" });
    this.stepList = DT.el("ol", { class: "steps", "aria-label": "Steps" });
    this.stepList.addEventListener("keydown", (event) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!move) return;
      const all = [...this.stepList.querySelectorAll("button")];
      const next = all[all.indexOf(document.activeElement) + move];
      if (next) {
        for (const button of all) button.tabIndex = button === next ? 0 : -1;
        next.focus();
      }
      event.preventDefault();
    });
    const names = new Set(this.counts.flatMap((counts) => Object.keys(counts)));
    this.follow = DT.select("Count", [["", "no operation"],
      ...[...names].sort().map((name) => [name, name])], () => this.drawSteps());
    const all = DT.el("input", { type: "checkbox", id: DT.fresh("all"),
      onchange: () => { this.showAll = all.checked; this.drawSteps(); } });
    this.stepTitle = DT.el("h2", { class: "steptitle" });
    this.stepText = DT.el("p", { class: "steptext" });
    const code = this.codeTabs();
    this.node = DT.el("div", { class: "levels" },
      DT.el("section", { class: "column" },
        DT.el("h2", {}, "Program"), this.program.node,
        DT.el("h2", {}, "Steps"),
        DT.el("div", { class: "controls" }, this.follow.node,
          DT.el("span", { class: "field" }, all,
            DT.el("label", { for: all.id }, "also those that changed nothing"))),
        this.stepList,
        DT.el("p", { class: "legend" },
          "Operations: + added, − removed, ~ changed, → moved; ▸ a directive; ",
          "● touches what is chosen.")),
      DT.el("section", { class: "column" },
        DT.el("div", { class: "controls" },
          DT.el("button", { onclick: () => this.move(-1), title: "key [" }, "◂ previous"),
          DT.el("button", { onclick: () => this.move(1), title: "key ]" }, "next ▸"),
          this.stepTitle),
        this.stepText, this.ir.node),
      DT.el("section", { class: "column" }, ...this.problems(), code),
      this.status);
    this.step = this.v.steps.findLastIndex((step) => step.lines) ;
    this.drawSteps();
    this.showStep(this.step);
    this.restate();
  }

  codeTabs() {
    const items = [];
    this.asm = [];
    if (this.v.emitted) {
      const gluon = this.v.emitted.source.includes("@gluon.jit");
      this.python = new DT.TextPane({
        label: "Emitted module", language: "python",
        onselect: (index) => this.select("python", index),
        onhover: (index) => this.hover("python", index),
      });
      this.pythonLines = this.v.emitted.source.trimEnd().split("\n");
      this.python.show(this.pythonLines.map((text, index) => ({ text, number: index + 1 })));
      items.push({ name: "python", title: gluon ? "Triton and Gluon" : "Triton",
                   node: this.python.node });
    }
    const titles = { ptx: "PTX", sass: "machine code", amdgcn: "AMDGCN" };
    for (const kernel of this.v.assembly?.kernels ?? []) {
      for (const [stage, text] of Object.entries(kernel.texts)) {
        const entry = { kernel, stage, text, sources: this.unrolled(text.sources), ready: false };
        entry.pane = new DT.TextPane({
          label: `${titles[stage]} of ${kernel.name}`, language: "assembly",
          onselect: (index) => this.select(entry, index),
          onhover: (index) => this.hover(entry, index),
        });
        this.asm.push(entry);
        const several = this.v.assembly.kernels.length > 1;
        items.push({ name: `${stage}-${kernel.name}`, entry, node: entry.pane.node,
                     title: several ? `${titles[stage]}: ${kernel.name}` : titles[stage] });
      }
    }
    if (!items.length) {
      return DT.el("p", { class: "empty" }, "There is no code: the last step is not a kernel's.");
    }
    // What is marked is scrolled to where it is seen.
    const tabs = DT.tabs("Code", items, (item) => item.entry ? this.fill(item.entry)
      : this.restate());
    tabs.show(items[0].name);
    this.scrollToKernel();
    return tabs.node;
  }

  /* Why kernels cannot run on the target. */
  problems() {
    const sizes = Object.entries(this.v.assembly?.sizes ?? {})
      .map(([label, size]) => `${label} = ${size}`).join(", ");
    return (this.v.assembly?.kernels ?? []).filter((kernel) => kernel.problems.length)
      .map((kernel) => DT.el("p", { class: "problem" }, `⚠ ${kernel.name} cannot run on `
        + `${kernel.target} at ${sizes}: ${kernel.problems.join("; ")}. Smaller tiles (tensorize) `
        + "or fewer stages (num_stages) take less."));
  }

  scrollToKernel() {
    if (!this.python) return;
    const first = Math.min(...Object.keys(this.v.emitted.links).map(Number));
    requestAnimationFrame(() => {
      const row = this.python.rows[Math.max(0, first - 12)];
      if (row) this.python.node.scrollTop = row.offsetTop - this.python.node.offsetTop;
    });
  }

  unrolled(runs) {
    const found = [];
    for (let i = 0; i < runs.length; i += 2) {
      for (let count = runs[i + 1]; count > 0; count--) found.push(runs[i]);
    }
    return found;
  }

  async fill(entry) {
    if (entry.ready) {
      this.restate();
      return;
    }
    entry.ready = true;
    const text = await DT.unpack(entry.text.text);
    entry.pane.show(text.split("\n").map((line, index) => ({ text: line, number: index + 1 })));
    this.restate();
  }

  /* Steps */

  drawSteps() {
    const followed = this.follow.input.value;
    this.stepItems = [];
    this.stepList.replaceChildren(...this.v.steps.flatMap((step, index) => {
      if (!step.lines && !this.showAll) return [];
      const [added, changed, moved, removed] = step.totals ?? [0, 0, 0, 0];
      const shown = step.totals
        ? [[added, "+"], [removed, "−"], [changed, "~"], [moved, "→"]]
          .filter(([count]) => count).map(([count, sign]) => `${sign}${count}`).join(" ") : "";
      const before = index ? this.counts[index - 1][followed] ?? 0 : 0;
      const now = this.counts[index][followed] ?? 0;
      const button = DT.el("button", {
        class: `step ${step.kind}`, title: step.summary, onclick: () => this.showStep(index),
        "aria-current": index === this.step ? "step" : false,
        // The list is one stop of Tab; the arrows go through it.
        tabindex: index === this.step ? 0 : -1,
      },
        DT.el("span", { class: "mark", "aria-hidden": "true" }),
        DT.el("span", { class: "level" }, step.level),
        DT.el("span", { class: "title" }, step.title),
        DT.el("span", { class: "totals" }, followed
          ? `${now}${now !== before ? ` (${now > before ? "+" : "−"}${Math.abs(now - before)})` : ""}`
          : step.lines ? shown : "no change"));
      this.stepItems.push({ index, button });
      return [DT.el("li", {}, button)];
    }));
    if (!this.stepItems.some((item) => item.index === this.step)) {
      this.stepItems[0].button.tabIndex = 0;
    }
    this.restate();
  }

  move(by) {
    const known = this.stepItems.map((item) => item.index);
    const at = known.indexOf(this.step);
    const next = known[at + by];
    if (next !== undefined) this.showStep(next);
  }

  showStep(index) {
    this.step = index;
    const step = this.v.steps[index];
    const source = step.lines ? index
      : this.v.steps.slice(0, index).findLastIndex((earlier) => earlier.lines);
    const rows = (this.v.steps[source].lines).map(([line, state, reason]) => ({
      line, text: this.v.table[line][0],
      state: source === index ? state : undefined, reason,
    }));
    rows.forEach((row, number) => { row.number = number + 1; });
    if (source === index) {
      for (const [before, line] of (step.removed ?? []).toReversed()) {
        rows.splice(before, 0, { line, text: this.v.table[line][0], state: "removed" });
      }
    }
    this.irRows = rows;
    this.ir.show(rows);
    this.stepTitle.textContent = step.title;
    const counts = Object.entries(step.totals ? step.counts ?? {} : {})
      .map(([name, count]) => `${count > 0 ? "+" : "−"}${Math.abs(count)} ${name}`).join(", ");
    this.stepText.textContent =
      [step.summary, counts, step.lines ? "" : "It changed nothing."].filter(Boolean).join(" — ");
    for (const item of this.stepItems) {
      if (item.index === index) item.button.setAttribute("aria-current", "step");
      else item.button.removeAttribute("aria-current");
      item.button.tabIndex = item.index === index ? 0 : -1;
    }
    this.showButton();
    const first = this.ir.rows.find((row) => /added|changed|moved|removed/.test(row.className));
    this.ir.node.scrollTop = first
      ? first.offsetTop - this.ir.node.offsetTop - this.ir.node.clientHeight / 3 : 0;
    this.restate();
  }

  /* Scrolls the list of steps, and nothing else, to the step that is shown. */
  showButton() {
    const current = this.stepItems.find((item) => item.index === this.step);
    if (!current) return;
    const list = this.stepList.getBoundingClientRect();
    const own = current.button.getBoundingClientRect();
    if (own.top < list.top || own.bottom > list.bottom) {
      this.stepList.scrollTop += own.top - list.top - list.height / 3;
    }
  }

  /* Goes to the next line of the IR, or the one before, that is marked, or that has changed. */
  moveChange(by) {
    const marked = this.selection !== null && this.ir.count("exact");
    this.ir.moveTo(marked ? ".exact" : ".added, .removed, .changed, .moved", by);
  }

  /* Links. A selection has operations, places, and lines of the emitted module. */

  itemOf(pane, index) {
    const item = this.found(pane, index);
    item.lines = new Set([...item.places].map((place) => this.lineOf(place)));
    return item;
  }

  found(pane, index) {
    if (pane === "program") {
      return { from: "program", line: index + 1, ids: new Set(),
               places: new Set(this.onLine.get(index + 1) ?? []),
               text: `line ${index + 1} of the program` };
    }
    if (pane === "ir") {
      const [text, ids, own, others] = this.v.table[this.irRows[index].line];
      return { from: "ir", ids: new Set(ids), places: new Set(own), others: new Set(others),
               text: text.trim().split(/\s/).slice(0, 3).join(" ") };
    }
    const line = pane === "python" ? index + 1 : pane.sources[index];
    const link = this.v.emitted.links[line] ?? { ids: [], own: [], others: [] };
    return { from: "python", code: line, ids: new Set(link.ids), places: new Set(link.own),
             others: new Set(link.others),
             text: line ? `line ${line} of the emitted module` : "a line without a place" };
  }

  select(pane, index) {
    const item = this.itemOf(pane, index);
    const same = this.chosen && this.chosen.pane === pane && this.chosen.index === index;
    this.chosen = same ? null : { pane, index };
    this.selection = same ? null : item;
    this.restate(pane);
  }

  hover(pane, index) {
    if (this.selection) return;
    this.hovered = index === null ? null : this.itemOf(pane, index);
    this.restate(pane, false);
  }

  clear() {
    this.selection = this.hovered = this.chosen = null;
    this.restate();
  }

  selectLine(line) {
    this.chosen = { pane: "program", index: line - 1 };
    this.selection = this.itemOf("program", line - 1);
    this.restate();
    this.program.focus(line - 1);
  }

  /* Whether something with operations, own places and places of directives is marked. */
  state(item, ids, own, others) {
    if (ids.some((id) => item.ids.has(id))) return "exact";
    if (item.from === "program") {
      return own.some((place) => item.places.has(place))
        || others.some((place) => item.places.has(place)) ? "exact" : "";
    }
    return own.some((place) => item.lines.has(this.lineOf(place))) ? "related" : "";
  }

  lineOf(place) { return this.v.places[place][0]; }

  restate(from, scroll = true) {
    const item = this.selection ?? this.hovered;
    if (!this.ir || !this.status) return;
    const none = () => "";
    const hold = (pane) => scroll && from !== pane;
    if (!item) {
      for (const pane of [this.program, this.ir, this.python, ...this.asm.map((e) => e.pane)]) {
        pane?.mark(none);
      }
      for (const { button } of this.stepItems ?? []) button.firstChild.textContent = "";
      this.status.textContent =
        "Choose a line anywhere: what it came from and what became of it is marked everywhere.";
      return;
    }
    const own = item.lines;
    const directives = new Set([...(item.others ?? [])].map((place) => this.lineOf(place)));
    this.program.mark((index) => own.has(index + 1) ? "exact"
      : directives.has(index + 1) ? "related" : "", hold("program"));
    this.ir.mark((index) => this.state(item, ...this.v.table[this.irRows[index].line].slice(1)),
      hold("ir"));
    const code = new Map();
    for (const [line, link] of Object.entries(this.v.emitted?.links ?? {})) {
      const state = item.code === Number(line) ? "exact"
        : item.code !== undefined ? (this.state(item, link.ids, link.own, link.others) && "related")
          : this.state(item, link.ids, link.own, link.others);
      if (state) code.set(Number(line), state);
    }
    if (item.code) code.set(item.code, "exact");
    // Instructions name a line of code, which may be that of other operations, too.
    const shared = new Set();
    for (const [line, link] of Object.entries(this.v.emitted?.links ?? {})) {
      const others = link.ids.some((id) => !item.ids.has(id));
      if (item.from === "ir" && code.get(Number(line)) === "exact" && others) {
        shared.add(Number(line));
      }
    }
    this.python?.mark((index) => code.get(index + 1) ?? "", hold("python"));
    for (const entry of this.asm) {
      if (entry.ready) {
        entry.pane.mark((index) => shared.has(entry.sources[index]) ? "related"
          : code.get(entry.sources[index]) ?? "", hold(entry));
      }
    }
    let steps = 0;
    for (const { index, button } of this.stepItems) {
      const step = this.v.steps[index];
      const touched = [...(step.lines ?? []).filter((line) => line[1]).map((line) => line[0]),
                       ...(step.removed ?? []).map((line) => line[1])];
      const here = touched.some((line) => this.state(item, ...this.v.table[line].slice(1)) === "exact")
        || (item.from === "program" && step.place >= 0 && item.places.has(step.place));
      steps += here;
      button.firstChild.textContent = here ? "●" : "";
    }
    const lines = [...code.values()].filter((state) => state === "exact").length;
    const all = (this.ir.count("exact"));
    this.status.textContent = `${this.selection ? "Chosen" : "Under the pointer"}: ${item.text}. `
      + `Marked: lines of IR ${all}, of the emitted module ${lines}, steps ${steps}. `
      + "● the same or made of it, ○ of the same line or directive; Escape ends.";
  }
};
