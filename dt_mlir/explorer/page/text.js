"use strict";
/* Elements, and panes of text whose lines are selected with the pointer or the keyboard. */
const DT = {};

/* Makes an element. Texts are nodes, never markup. */
DT.el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
};

DT.svg = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};

let serial = 0;
DT.fresh = (name) => `${name}-${++serial}`;

/* Unpacks a text that gzip and base64 hold. */
DT.unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};

const MOST_COLOURED = 250000;

/* Colours a text; returns the markup of each line. highlight.js escapes what it is given. */
DT.coloured = (lines, language) => {
  const text = lines.join("\n");
  if (text.length > MOST_COLOURED) return null;
  const found = [];
  let open = [];
  for (const line of hljs.highlight(text, { language, ignoreIllegals: true }).value.split("\n")) {
    const start = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? []) {
      if (tag === "</span>") open.pop();
      else open.push(tag);
    }
    found.push(start + line + "</span>".repeat(open.length));
  }
  return found;
};

DT.SIGNS = { added: "+", removed: "−", changed: "~", moved: "→" };

/* A pane of lines.
 *
 * options: label, language, onselect(index), onhover(index or null), numbered.
 * lines: objects with text, and perhaps state, reason, number. */
DT.TextPane = class {
  constructor(options) {
    this.options = options;
    this.lines = [];
    this.rows = [];
    this.active = -1;
    this.node = DT.el("div", {
      class: "text", role: "listbox", tabindex: 0, "aria-label": options.label,
      onkeydown: (event) => this.key(event),
      onfocus: () => this.enter(),
      onclick: (event) => this.choose(this.indexOf(event.target)),
      onmouseover: (event) => options.onhover?.(this.indexOf(event.target)),
      onmouseleave: () => options.onhover?.(null),
    });
  }

  show(lines) {
    this.lines = lines;
    this.active = -1;
    this.node.removeAttribute("aria-activedescendant");
    const markup = DT.coloured(lines.map((line) => line.text), this.options.language);
    this.rows = lines.map((line, index) => {
      const code = DT.el("code");
      if (markup === null) code.textContent = line.text;
      else code.innerHTML = markup[index];
      const sign = line.state ? DT.SIGNS[line.state] : "";
      const said = line.state ? `${line.state}${line.reason ? `: ${line.reason}` : ""}` : null;
      return DT.el("div", {
        class: `line ${line.state ?? ""}`, role: "option", id: DT.fresh("line"), title: said,
        "aria-selected": "false", "data-index": index, "aria-description": said,
      },
        DT.el("span", { class: "mark", "aria-hidden": "true" }),
        DT.el("span", { class: "sign", "aria-hidden": "true" }, sign),
        DT.el("span", { class: "number", "aria-hidden": "true" }, `${line.number ?? ""}`), code);
    });
    this.node.classList.toggle("long", lines.length > 999);
    this.node.replaceChildren(...this.rows);
  }

  indexOf(target) {
    const row = target.closest?.(".line");
    return row ? Number(row.dataset.index) : null;
  }

  choose(index) {
    if (index === null || !this.rows[index]) return;
    this.activate(index);
    this.options.onselect?.(index);
  }

  activate(index) {
    this.rows[this.active]?.classList.remove("active");
    this.active = index;
    const row = this.rows[index];
    row.classList.add("active");
    this.node.setAttribute("aria-activedescendant", row.id);
    row.scrollIntoView({ block: "nearest" });
  }

  /* Starts at what is marked, or has changed, for those who come by the keyboard. */
  enter() {
    if (this.active >= 0 || !this.node.matches(":focus-visible")) return;
    for (const found of [".exact", ".related", ".added, .removed, .changed, .moved", ".line"]) {
      const row = this.node.querySelector(found);
      if (row) return this.activate(Number(row.dataset.index));
    }
  }

  /* Goes to a line. */
  focus(index) {
    this.activate(index);
    this.node.focus();
  }

  /* Goes to the next line of a kind, or the one before, and round at the end. */
  moveTo(kind, by) {
    const found = this.rows.filter((row) => row.matches(kind)).map((row) => Number(row.dataset.index));
    if (!found.length) return;
    const next = by > 0 ? found.find((index) => index > this.active)
      : found.findLast((index) => index < this.active);
    this.focus(next ?? (by > 0 ? found[0] : found.at(-1)));
  }

  key(event) {
    const last = this.rows.length - 1;
    const page = 15;
    const moves = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: last,
      PageDown: this.active + page, PageUp: this.active - page,
    };
    if (event.key in moves && last >= 0) {
      this.activate(Math.max(0, Math.min(last, moves[event.key])));
    } else if ((event.key === "Enter" || event.key === " ") && this.active >= 0) {
      this.choose(this.active);
    } else return;
    event.preventDefault();
  }

  /* Marks lines. states(index) gives "exact", "related" or "". */
  mark(states, scroll) {
    let first = null;
    this.rows.forEach((row, index) => {
      const state = states(index);
      row.classList.toggle("exact", state === "exact");
      row.classList.toggle("related", state === "related");
      row.firstChild.textContent = state === "exact" ? "●" : state === "related" ? "○" : "";
      row.setAttribute("aria-selected", state === "exact" ? "true" : "false");
      if (state && (first === null || (state === "exact" && !first.exact))) {
        first = { row, exact: state === "exact" };
      }
    });
    if (scroll && first) {
      const pane = this.node.getBoundingClientRect(), own = first.row.getBoundingClientRect();
      if (own.top < pane.top || own.bottom > pane.bottom) {
        this.node.scrollTop += own.top - pane.top - pane.height / 3;
      }
    }
  }

  count(kind) { return this.rows.filter((row) => row.classList.contains(kind)).length; }
};

/* A row of tabs and the panels that they show. */
DT.tabs = (label, items, onshow) => {
  const list = DT.el("div", { role: "tablist", "aria-label": label, class: "tabs" });
  const panels = DT.el("div", { class: "panels" });
  const made = items.map((item) => {
    const id = DT.fresh("tab");
    const tab = DT.el("button", {
      role: "tab", id, "aria-controls": `${id}-panel`, "data-name": item.name,
      onclick: () => show(item.name),
    }, item.title);
    const panel = DT.el("div", {
      role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id, hidden: true,
      class: item.entry ? "panel assembly" : "panel", "data-title": item.title,
    }, item.node);
    list.append(tab);
    panels.append(panel);
    return { ...item, tab, panel };
  });
  const show = (name) => {
    for (const item of made) {
      const chosen = item.name === name;
      item.tab.setAttribute("aria-selected", chosen ? "true" : "false");
      item.tab.tabIndex = chosen ? 0 : -1;
      item.panel.hidden = !chosen;
      if (chosen) onshow?.(item);
    }
  };
  list.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    const at = made.findIndex((item) => item.tab === document.activeElement);
    const next = made[(at + move + made.length) % made.length];
    next.tab.focus();
    show(next.name);
    event.preventDefault();
  });
  return { node: DT.el("div", { class: "tabbed" }, list, panels), show };
};

DT.select = (label, options, onchange) => {
  const id = DT.fresh("select");
  const node = DT.el("select", { id, onchange: () => onchange(node.value) },
    ...options.map(([value, text]) => DT.el("option", { value }, text)));
  return { node: DT.el("span", { class: "field" }, DT.el("label", { for: id }, label), node),
           input: node };
};

DT.slider = (label, last, onchange, first = 0) => {
  const id = DT.fresh("slider");
  const shown = DT.el("output", { for: id }, `${first}`);
  const input = DT.el("input", {
    type: "range", id, min: first, max: Math.max(first, last), value: first, step: 1,
    oninput: () => { shown.textContent = input.value; onchange(Number(input.value)); },
  });
  const set = (value, max) => {
    if (max !== undefined) input.max = Math.max(first, max);
    input.value = value;
    shown.textContent = input.value;
  };
  return { node: DT.el("span", { class: "field" }, DT.el("label", { for: id }, label), input,
                       shown), input, set };
};

DT.bytes = (count) => {
  if (count == null) return "";
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["KB", 1e3]]) {
    if (count >= size) return `${(count / size).toPrecision(4)} ${unit}`;
  }
  return `${count} B`;
};

DT.time = (seconds) => {
  if (seconds == null) return "";
  for (const [unit, size] of [["h", 3600], ["s", 1], ["ms", 1e-3]]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(4)} ${unit}`;
  }
  return `${(seconds * 1e6).toPrecision(4)} µs`;
};

DT.table = (caption, head, rows) => DT.el("table", {},
  DT.el("caption", {}, caption),
  DT.el("thead", {}, DT.el("tr", {}, ...head.map((cell) => DT.el("th", { scope: "col" }, cell)))),
  DT.el("tbody", {}, ...rows.map((row) => DT.el("tr", {},
    ...row.map((cell, place) => DT.el(place ? "td" : "th", place ? {} : { scope: "row" },
      ...(Array.isArray(cell) ? cell : [cell ?? ""])))))));
