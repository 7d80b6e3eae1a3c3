"use strict";
/* The page: tabs, themes, keys. */
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const page = document.getElementById("page");
  let levels = null;

  /* A browser may keep nothing for a page from disk; the theme is then the system's again. */
  const kept = (value) => {
    try {
      if (value !== undefined) localStorage.setItem("dt-mlir-theme", value);
      return localStorage.getItem("dt-mlir-theme") ?? "";
    } catch {
      return "";
    }
  };
  const themed = (value) => {
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
  };
  const themes = [["", "as the system"], ["light", "light"], ["dark", "dark"]];
  const theme = DT.select("Theme", themes, (value) => { themed(value); kept(value); });
  if (themes.some(([value]) => value === kept())) themed(theme.input.value = kept());
  const wrap = DT.el("input", { type: "checkbox", id: DT.fresh("wrap"),
    onchange: () => {
      document.body.classList.toggle("wrapped", wrap.checked);
      levels?.restate();
    } });
  const holder = DT.el("main", {});
  let tabs = null;

  const show = (index, tab) => {
    const variant = model.variants[index];
    levels = variant ? new DT.Levels(variant) : null;
    const items = [];
    if (variant) {
      items.push({ name: "levels", title: "Levels", node: levels.node });
      const pictures = [
        ...(variant.trace?.kernels.length ? [new DT.Grid(variant.trace).node] : []),
        ...(variant.timelines ?? []).map((timeline) => new DT.Timeline(timeline).node),
      ];
      if (pictures.length) {
        items.push({ name: "picture", title: "Picture", node: DT.el("div", {}, ...pictures) });
      }
      items.push({ name: "costs", title: "Costs", node: DT.costs(variant) });
      if (variant.certificate) {
        items.push({ name: "certificate", title: "Certificate",
          node: DT.certificate(variant, (line) => { tabs.show("levels"); levels.selectLine(line); }) });
      }
    }
    if (model.comparisons) {
      items.push({ name: "compare", title: "Two schedules", node: new DT.Compare(model).node });
    }
    if (model.search) {
      const search = new DT.Search(model.search, (other) => {
        if (choice) choice.input.value = other;
        show(other, "levels");
      });
      items.push({ name: "search", title: "Search", node: search.node });
    }
    tabs = DT.tabs("Views", items);
    holder.replaceChildren(tabs.node);
    tabs.show(tab && items.some((item) => item.name === tab) ? tab : items[0].name);
  };

  const choice = model.variants.length > 1
    ? DT.select("Schedule", model.variants.map((v, index) => [index, v.name]),
      (value) => show(Number(value), "levels")) : null;
  page.append(
    DT.el("header", {}, DT.el("h1", {}, model.title),
      ...(choice ? [choice.node] : []), theme.node,
      DT.el("span", { class: "field" }, wrap, DT.el("label", { for: wrap.id }, "Wrap lines")),
      DT.el("span", { class: "keys" },
        "Keys: Tab between panes, ↑ ↓ Enter in one, [ ] steps, n p changes, Escape ends a choice")),
    holder);
  show(0, model.search ? "search" : "levels");

  document.addEventListener("keydown", (event) => {
    if (!levels || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "[") levels.move(-1);
    else if (event.key === "]") levels.move(1);
    else if (event.key === "Escape") levels.clear();
    else if (event.target.matches("select, input")) return;
    else if (event.key === "n") levels.moveChange(1);
    else if (event.key === "p") levels.moveChange(-1);
    else return;
    event.preventDefault();
  });
  document.documentElement.dataset.ready = "true";
})();
