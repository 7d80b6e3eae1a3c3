"""Pages in a browser: they open without complaint, and clicks mark what they should."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Opened, browser, missing

from dt_mlir.explorer.certificate import Obligation
from dt_mlir.explorer.exploration import Exploration
from dt_mlir.explorer.page import SCRIPTS, page_html
from dt_mlir.explorer.program import Settings, explore_program
from dt_mlir.explorer.search import explore_outcome
from dt_mlir.frontend.emit import compile_text
from dt_mlir.tuning.database import Record
from dt_mlir.tuning.outcome import Outcome

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))
OPENS_WITHIN = 2.0
"""The most seconds that the page of an example takes to open."""
OPENINGS = 3
"""The openings of which the fastest counts; other tests have the processors in the meantime."""
LARGEST = 2_000_000
"""The most bytes of a page of an example."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    with browser() as found:
        yield found


def _explored(path: Path, compiled: bool = False, **settings: Any) -> Exploration:
    text = path.read_text()
    module, _ = compile_text(text, path.name)
    given = Settings(compiled=compiled, **settings)
    return Exploration(path.stem, [explore_program(module, text, path.name, given)])


def _saved(page: Exploration, folder: Path) -> Path:
    path = folder / "page.html"
    page.save(path)
    return path


@pytest.fixture(scope="module")
def attention(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    fused = (("scores.fuse_at(attention, m);", 11), ("attention.num_warps(4);", 17))
    obligations = [
        Obligation("value: each score", "proved", directives=fused, count=3),
        Obligation("law: the rest", "tested", "it is not symbolic"),
    ]
    page = _explored(ROOT / "examples" / "attention.dt", True, certificate=obligations,
                     sizes={"m": 64, "n": 64, "k": 64, "l": 64})  # fmt: skip
    return Opened(chromium, _saved(page, tmp_path_factory.mktemp("attention")))


def _timed(chromium: Any, saved: Path) -> tuple[Opened, float]:
    start = time.perf_counter()
    opened = Opened(chromium, saved)
    return opened, time.perf_counter() - start


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_page_of_an_example_opens(path: Path, chromium: Any, tmp_path: Path) -> None:
    saved = _saved(_explored(path), tmp_path)
    assert saved.stat().st_size <= LARGEST
    opened, taken = _timed(chromium, saved)
    for tab in opened.page.get_by_role("tablist", name="Views").get_by_role("tab").all():
        tab.click()
    assert opened.complaints == []
    assert opened.requests == [saved.as_uri()]
    assert opened.pane("Program").count() == len(path.read_text().rstrip("\n").split("\n"))
    assert opened.pane("IR").count() > 10
    opened.page.close()
    for _ in range(OPENINGS - 1):
        again, seconds = _timed(chromium, saved)
        again.page.close()
        taken = min(taken, seconds)
    assert taken < OPENS_WITHIN


def _at_levels(opened: Opened) -> Any:
    page = opened.page
    page.get_by_role("tab", name="Levels").click()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Triton", exact=True).click()
    return page


def test_the_line_of_a_directive_marks_what_became_of_it(attention: Opened) -> None:
    """`fuse_at` of the scores became their product, their scale, and not the second product."""
    page = _at_levels(attention)
    attention.pane("Program").nth(10).click()
    marked = attention.marked("Emitted module")
    assert any(line.startswith("acc = tl.dot(Q, K") for line in marked)
    assert any(line.startswith("scores = ") for line in marked)
    assert not any("tl.dot(weights, V" in line or "tl.store" in line for line in marked)
    assert any("tile.dot %Q, %K" in line for line in attention.marked("IR"))
    assert attention.marked("Program") == ["scores.fuse_at(attention, m);"]
    step = page.locator(".steps button", has_text="scores.fuse_at")
    assert step.locator(".mark").inner_text() == "●"
    assert "line 11 of the program" in page.locator(".status").inner_text()


def test_a_line_of_code_marks_where_it_comes_from(attention: Opened) -> None:
    page = _at_levels(attention)
    code = page.locator('[aria-label="Emitted module"] .line', has_text="largest = tl.reduce")
    code.click()
    assert attention.marked("Emitted module") == [code.locator("code").inner_text().strip()]
    assert any(line.startswith("%largest = tile.reduce") for line in attention.marked("IR"))
    assert "largest[m] = rmax(scores[m, l], l);" in attention.marked("Program")
    assert "largest.fuse_at(attention, m);" in attention.marked("Program", "related")


def test_a_line_of_ptx_is_linked_to_the_program(attention: Opened) -> None:
    if not attention.page.get_by_role("tab", name="PTX").count():
        pytest.skip("Triton compiles nothing here")
    page = _at_levels(attention)
    page.get_by_role("tab", name="PTX").click()
    page.wait_for_selector('[aria-label^="PTX"] .line')
    page.locator('[aria-label^="PTX"] .line', has_text="st.global").first.click()
    assert any(line.startswith("attention[m, n] =") for line in attention.marked("Program"))
    # The one line that `.loc` names, and the statement that it is a part of.
    assert len(attention.marked("Emitted module")) == 1
    assert "tl.store(" in attention.marked("Emitted module", "related")
    assert any("tile.store" in line for line in attention.marked("IR"))


def test_an_operation_is_followed_through_steps(attention: Opened) -> None:
    page = _at_levels(attention)
    page.get_by_label("Count").select_option("tile.mask")
    step = page.locator(".steps button", has_text="tile-place-masks")
    assert step.locator(".totals").inner_text() == "4 (+4)"
    step.click()
    added = page.locator('[aria-label^="IR"] .line.added code').all_inner_texts()
    assert sum("tile.mask" in line for line in added) == 4
    page.locator(".steps button", has_text="tile-elide-masks").click()
    removed = page.locator('[aria-label^="IR"] .line.removed')
    assert removed.count() == 3
    # A sign and a description say what colour does.
    assert removed.first.locator(".sign").inner_text() == "−"
    assert removed.first.get_attribute("aria-description") == "removed"


def test_the_keyboard_is_enough(attention: Opened) -> None:
    page = _at_levels(attention)
    page.locator('[aria-label^="Program "]').focus()
    for key in ("Home", "ArrowDown", "ArrowDown", "End", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    assert attention.marked("Program") == ["attention.num_warps(4);"]
    before = page.locator(".steptitle").inner_text()
    page.keyboard.press("[")
    assert page.locator(".steptitle").inner_text() != before
    page.keyboard.press("]")
    assert page.locator(".steptitle").inner_text() == before
    page.keyboard.press("Escape")
    assert attention.marked("Program") == []
    page.get_by_role("tab", name="Levels").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Picture").get_attribute("aria-selected") == "true"


def test_a_pane_starts_where_something_is_marked(attention: Opened) -> None:
    page = _at_levels(attention)
    page.locator('[aria-label="Emitted module"] .line', has_text="largest = tl.reduce").click()
    page.get_by_role("button", name="next").focus()
    page.keyboard.press("Tab")
    active = page.locator('[aria-label^="IR"] .line.active code')
    assert active.inner_text().strip() == attention.marked("IR")[0]
    assert any(line.startswith("%largest = tile.reduce") for line in attention.marked("IR"))


def test_lists_are_one_stop_of_tab(attention: Opened) -> None:
    """From the program to the code there are few stops, however many steps there are."""
    page = _at_levels(attention)
    page.locator('[aria-label^="Program "]').focus()
    stops = 0
    while page.evaluate("document.activeElement.getAttribute('aria-label')") != "Emitted module":
        page.keyboard.press("Tab")
        stops += 1
        assert stops < 10
    # Arrows go through the steps.
    current = page.locator(".steps button[aria-current]")
    current.focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.tabIndex") == 0
    assert current.get_attribute("tabindex") == "-1"


def test_a_mark_does_not_hide_what_a_step_changed(attention: Opened) -> None:
    page = _at_levels(attention)
    page.locator(".steps button", has_text="tile-place-masks").click()
    colour = "getComputedStyle(document.querySelector('[aria-label^=IR] .added')).backgroundColor"
    before = page.evaluate(colour)
    attention.pane("Program").nth(10).click()
    assert page.locator('[aria-label^="IR"] .added.exact').count() >= 4
    assert page.evaluate(colour.replace(".added", ".added.exact")) == before


def test_marks_are_scrolled_to_where_they_are_seen(attention: Opened) -> None:
    """A tab that is opened later shows the first mark; `[` works wherever the focus is."""
    page = _at_levels(attention)
    if not page.get_by_role("tab", name="PTX").count():
        pytest.skip("Triton compiles nothing here")
    page.get_by_role("tab", name="PTX").click()
    page.wait_for_selector('[aria-label^="PTX"] .line')
    page.locator('[aria-label^="PTX"] .line', has_text="st.global").first.click()
    page.get_by_role("tab", name="Triton", exact=True).click()
    row = page.locator('[aria-label="Emitted module"] .line.exact').bounding_box()
    pane = page.locator('[aria-label="Emitted module"]').bounding_box()
    assert pane["y"] <= row["y"] <= pane["y"] + pane["height"]
    before = page.locator(".steptitle").inner_text()
    page.get_by_label("Count").focus()
    page.keyboard.press("[")
    assert page.locator(".steptitle").inner_text() != before
    page.keyboard.press("]")


def test_keys_go_through_changes(attention: Opened) -> None:
    page = _at_levels(attention)
    page.locator(".steps button", has_text="tile-place-masks").click()
    changed = page.locator('[aria-label^="IR"] .line:is(.added, .removed, .changed, .moved)')
    active = page.locator('[aria-label^="IR"] .line.active')
    seen: list[str] = []
    for _ in range(changed.count()):
        page.keyboard.press("n")
        seen.append(active.get_attribute("id"))
    assert seen == [row.get_attribute("id") for row in changed.all()]
    page.keyboard.press("n")
    assert active.get_attribute("id") == seen[0]
    page.keyboard.press("p")
    assert active.get_attribute("id") == seen[-1]
    # Where something is chosen they go through what is marked; a choice of a list is left alone.
    page.locator('[aria-label="Emitted module"] .line', has_text="largest = tl.reduce").click()
    page.keyboard.press("n")
    assert "exact" in active.get_attribute("class")
    theme = page.get_by_label("Theme")
    theme.focus()
    before = active.get_attribute("id")
    page.keyboard.press("n")
    assert active.get_attribute("id") == before


def test_the_list_of_steps_shows_the_current_one(attention: Opened) -> None:
    page = _at_levels(attention)
    inside = """() => {
      const list = document.querySelector(".steps").getBoundingClientRect();
      const own = document.querySelector(".steps [aria-current]").getBoundingClientRect();
      return own.top >= list.top - 1 && own.bottom <= list.bottom + 1;
    }"""
    for key in ("[", "]"):
        for _ in range(page.locator(".steps button").count()):
            page.keyboard.press(key)
            assert page.evaluate(inside)


def test_a_theme_is_kept(chromium: Any, tmp_path: Path) -> None:
    page = _saved(_explored(ROOT / "examples" / "softmax_stable.dt"), tmp_path)
    opened = Opened(chromium, page)
    for theme in ("dark", "light", ""):
        opened.page.get_by_label("Theme").select_option(theme)
        opened.page.reload()
        opened.page.wait_for_selector("html[data-ready=true]")
        assert opened.page.locator("html").get_attribute("data-theme") == (theme or None)
        assert opened.page.get_by_label("Theme").input_value() == theme
    assert not opened.complaints


def test_lines_are_wrapped_and_themes_chosen(attention: Opened) -> None:
    page = _at_levels(attention)
    pane = page.locator('[aria-label="Emitted module"]')
    cut = "pane => pane.scrollWidth > pane.clientWidth"
    assert pane.evaluate(cut)
    page.get_by_label("Wrap lines").check()
    assert not pane.evaluate(cut)
    page.get_by_label("Wrap lines").uncheck()
    back = "getComputedStyle(document.body).backgroundColor"
    page.get_by_label("Theme").select_option("dark")
    assert page.evaluate(back) == "rgb(13, 17, 23)"
    page.get_by_label("Theme").select_option("light")
    assert page.evaluate(back) == "rgb(255, 255, 255)"
    page.get_by_label("Theme").select_option("")


def test_sliders_walk_the_grid(attention: Opened) -> None:
    page = attention.page
    page.get_by_role("tab", name="Picture").click()
    said = page.locator(".grid .said")
    assert "Program 0, access 1 of" in said.inner_text()
    page.get_by_label("Program id", exact=True).fill("3")
    page.get_by_label("Access", exact=True).fill("2")
    assert re.match(r"Program 3, access 2 of \d+: loads K\[", said.inner_text())
    assert page.locator(".touched").count() == 1
    assert page.locator(".block.current").count() >= 1


def test_a_click_on_a_block_chooses_its_instance(attention: Opened) -> None:
    page = attention.page
    page.get_by_role("tab", name="Picture").click()
    count = page.locator(".block").evaluate_all("all => new Set(all.map(b => b.dataset.instance)).size")
    assert count > 1
    page.locator(f'.block[data-instance="{count - 1}"]').first.click()
    assert page.get_by_label("Program id").input_value() == f"{count - 1}"
    assert page.locator(".said").inner_text().startswith(f"Program {count - 1}, access 1 of ")


def test_masked_lanes_are_to_scale(chromium: Any, tmp_path: Path) -> None:
    """Of a tile of 32 by 16 that has 9 rows inside of the tensor, 23 rows are hatched below."""
    page = _explored(ROOT / "examples" / "attention.dt", sizes={"m": 8, "n": 64, "k": 64, "l": 41})
    opened = Opened(chromium, _saved(page, tmp_path))
    opened.page.get_by_role("tab", name="Picture").click()
    opened.page.get_by_label("Access", exact=True).fill("2")
    assert "loads K[" in opened.page.locator(".grid .said").inner_text()
    touched = opened.page.locator(".touched").bounding_box()
    path = opened.page.locator(".masked").get_attribute("d") or ""
    whole, hole = re.findall(r"M[-\d.]+ [-\d.]+h([-\d.]+)v([-\d.]+)", path)
    # The hole is what was touched: 41 of 64 rows.
    assert opened.page.locator(".masked").get_attribute("fill-rule") == "evenodd"
    assert touched is not None
    assert float(hole[1]) == pytest.approx(41 / 64 * float(whole[1]))
    assert opened.complaints == []


def test_a_kernel_that_cannot_run_says_so_beside_its_code(chromium: Any, tmp_path: Path) -> None:
    page = _explored(ROOT / "examples" / "attention.dt", True)
    opened = Opened(chromium, _saved(page, tmp_path))
    if not opened.page.get_by_role("tab", name="PTX").count():
        pytest.skip("Triton compiles nothing here")
    problem = opened.page.locator(".levels .problem").inner_text()
    assert re.search(r"attention_kernel cannot run on sm_90 at .*l = 1024: .*shared memory", problem)
    opened.page.get_by_role("tab", name="Costs").click()
    assert opened.page.get_by_role("cell", name="does not fit").count() == 1


def test_certificates_lead_to_their_lines(attention: Opened) -> None:
    page = attention.page
    page.get_by_role("tab", name="Certificate").click()
    rows = page.locator(".panel:visible tbody tr").all_inner_texts()
    # What is not proved comes first, and says why.
    assert [row.split("\t")[:2] for row in rows] == [
        ["law: the rest", "tested: it is not symbolic"], ["value: each score (3 times)", "proved"],
    ]  # fmt: skip
    assert "1 tested, 3 proved" in page.locator(".panel:visible p").first.inner_text()
    page.get_by_role("button", name="line 11").click()
    assert attention.marked("Program") == ["scores.fuse_at(attention, m);"]
    # The keyboard goes on from there.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert attention.marked("Program") == ["largest.fuse_at(attention, m);"]


def test_nothing_complained(attention: Opened) -> None:
    assert attention.complaints == []


def test_a_specialized_kernel_has_its_timeline(chromium: Any, tmp_path: Path) -> None:
    page = _explored(ROOT / "tests" / "explorer" / "specialized_product.dt")
    opened = Opened(chromium, _saved(page, tmp_path), color_scheme="dark")
    opened.page.get_by_role("tab", name="Picture").click()
    opened.page.get_by_label("Time", exact=True).fill("30")
    assert "producer waits for a barrier" in opened.page.locator(".timeline .said").inner_text()
    assert opened.page.locator(".span.fill").count() > 10
    opened.page.get_by_role("tab", name="Levels").click()
    assert opened.page.get_by_role("tab", name="Triton and Gluon").count() == 1
    assert opened.complaints == []


def test_two_schedules_stand_beside_each_other(chromium: Any, tmp_path: Path) -> None:
    pages = [_explored(ROOT / "examples" / f"two_matmul_{name}.dt") for name in ("inner", "outer")]
    both = Exploration("two", [item for page in pages for item in page.programs])
    opened = Opened(chromium, _saved(both, tmp_path))
    opened.page.get_by_role("tab", name="Two schedules").click()
    left = opened.page.locator('[aria-label="Schedule of two_matmul_inner.dt"] .removed')
    assert left.count() == 3
    assert opened.page.locator(".compare .grid").count() == 2
    opened.page.get_by_label("Schedule", exact=True).select_option("1")
    shown = "".join(opened.pane("Program").all_text_contents())
    assert "inner.fuse_at(product, m)" in shown
    assert opened.complaints == []


def _outcome() -> Outcome:
    text = (ROOT / "examples" / "matmul.dt").read_text()
    records: dict[str, Record] = {}
    for number, size in enumerate((128, 64, 32, 16)):
        program = text.replace("x:128", f"x:{size}").replace("y:128", f"y:{size}")
        resources = {"mm_kernel": {"registers": 100 + number, "shared": 4096}}
        times = [1.0 + number] * 3
        records[program] = Record(program, "ok", "", resources, times, {"B": size})
    records["slow"] = Record("slow", "failed", "no")
    return Outcome(records, {}, 5, "events", rounds=3)


def test_points_of_a_search_open_their_schedules(chromium: Any, tmp_path: Path) -> None:
    page = explore_outcome(_outcome(), "search", {"x": 1024}, "a GPU")
    opened = Opened(chromium, _saved(page, tmp_path))
    points = opened.page.locator(".point")
    assert points.count() == 4
    points.nth(3).focus()
    opened.page.keyboard.press("Enter")
    # A browser lays out lines when they are seen: their text is there before.
    details = opened.page.locator(".details").text_content() or ""
    assert "mm.block(x:16, y:16);" in details
    assert not opened.page.get_by_role("button", name="Open its levels").count()
    points.nth(1).click()
    opened.page.get_by_role("button", name="Open its levels").click()
    assert "mm.block(x:64, y:64);" in "".join(opened.pane("Program").all_text_contents())
    assert opened.complaints == []


ATTACK = '</script><script>document.title="broken"</script><img src=x onerror=alert(1)>'


def test_text_is_data(chromium: Any, tmp_path: Path) -> None:
    """Comments, names of files, certificates and titles cannot run or change the page."""
    text = f"# {ATTACK} \u2028 <!-- <script>\n" + (ROOT / "examples" / "relu.dt").read_text()
    file = f"{ATTACK}.dt"
    module, _ = compile_text(text, file)
    attack = Obligation(ATTACK, ATTACK, ATTACK, ((ATTACK, 1),))
    settings = Settings(compiled=False, certificate=[attack])
    page = Exploration(ATTACK, [explore_program(module, text, file, settings, ATTACK)])
    html = page.html()
    assert ATTACK not in html
    assert html.lower().count("</script") == 1 + len(SCRIPTS)
    opened = Opened(chromium, _saved(page, tmp_path))
    for tab in opened.page.get_by_role("tab").all():
        tab.click() if tab.is_visible() else None
    assert opened.page.title() == ATTACK
    assert opened.page.locator("img").count() == 0
    assert ATTACK in (opened.pane("Program").first.text_content() or "")
    assert opened.complaints == []


def test_the_policy_stops_what_is_not_the_pages_own(chromium: Any, tmp_path: Path) -> None:
    page = _explored(ROOT / "examples" / "relu.dt").html()
    path = tmp_path / "page.html"
    path.write_text(page.replace("<body>", '<body><script>document.title = "broken"</script>'))
    opened = Opened(chromium, path)
    assert opened.page.title() == "relu"
    assert any("Content Security Policy" in text for text in opened.complaints)


def test_a_model_survives_its_page() -> None:
    model = {"title": ATTACK, "text": "\u2028 & ü \ud800 <b>"}
    html = page_html(ATTACK, model)
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', html, re.S)
    assert found is not None
    read = json.loads(found[1])
    assert read["title"] == ATTACK
    assert read["text"].startswith("\u2028 & ü ")


def test_pages_print_whole(attention: Opened) -> None:
    """On paper nothing is cut off behind scroll bars, and every view is there."""
    page = _at_levels(attention)
    page.emulate_media(media="print")
    try:
        cut = page.evaluate(
            "[...document.querySelectorAll('.text')].filter(e => e.offsetParent &&"
            " e.scrollHeight > e.clientHeight + 2).length"
        )
        hidden = page.evaluate(
            "[...document.querySelectorAll('.panel:not(.assembly)')]"
            ".filter(e => !e.offsetParent).length"
        )
    finally:
        page.emulate_media(media="screen")
    assert (cut, hidden) == (0, 0)
