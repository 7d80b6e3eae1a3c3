"""Selects the tests that `make test` leaves to `make test-full`.

The quick tests cover every pass, message and example once. What takes long (further sizes, every
cut of the pipeline, drawn programs, searches, PyTorch's compiler) runs with `--full`.
"""

from fnmatch import fnmatch

import pytest

FULL = (
    # further sizes and layouts of what runs at ragged sizes already
    "*/test_language.py::test_program_for_fixed_sizes*",
    "*/test_evaluation.py::test_other_sizes*",
    "*/test_dt_reduce.py::test_*_level_of_warps*",
    "*/test_certificates.py::test_few_obligations_are_merely_tested*operators*",
    "*/test_attention.py::test_barriers_are_proved*persistent*",
    "*/test_attention.py::test_barriers_are_proved*alternating*",
    "*/test_attention.py::test_the_interpreter_and_every_order*alternating-plain*",
    "*/test_attention.py::test_the_interpreter_and_every_order*alternating-[owm]*",
    "*/test_attention.py::test_the_interpreter_and_every_order*alternating-capped*",
    "*/test_attention.py::test_the_interpreter_and_every_order*alternating-causal, of groups*",
    "*/test_language.py::test_program*-aligned]",
    "*/test_language.py::test_fused*-aligned]",
    "*/test_language.py::test_aligned_storage*",
    "*/test_language.py::test_program*product_scalar*",
    "*/test_language.py::test_program*arguments_over*",
    "*/test_language.py::test_program*product_of_bytes_scalar*",
    "*/test_language.py::test_program*-small]",
    "*/test_language.py::test_fused*-small]",
    "*/test_examples.py::test_sizes*aligned*",
    "*/test_examples.py::test_sizes*small*",
    "*/test_examples.py::test_sizes*one*",
    "*/test_examples.py::test_layouts*",
    "*/test_examples.py::test_sizes*f16]",
    "*/test_special_values.py::test_products_over_domains*",
    # further targets, of which the examples' sm_90 stays
    "*/test_ahead_of_time.py::test_examples*sm_80*",
    "*/test_ahead_of_time.py::test_examples*sm_100*",
    "*/test_ahead_of_time.py::test_examples*gfx942*",
    "*/test_ahead_of_time.py::test_operators*",
    "*/test_ahead_of_time.py::test_products*",
    # all boundaries between passes
    "*/test_cuts.py::*",
    "*/test_boundaries.py::test_examples_within_bounds*",
    "*/test_boundaries.py::test_regressions*",
    "*/test_boundaries.py::test_programs_of_filecheck_tests*",
    "*/test_boundaries.py::test_examples[[]*",
    "*/test_wrong_passes.py::test_is_named*",
    "*/test_wrong_passes.py::test_right_passes*",
    # operators, in further types, for fixed sizes, and at every boundary between passes
    "*/test_operators.py::test_operator[[]*",
    "*/test_operators.py::test_semantics*",
    "*/test_operators.py::test_fixed_sizes*",
    "*/test_dt_reduce.py::test_a_module_that_a_pass*",
    "*/test_dt_reduce.py::*crashes*",
    # the server's answers while nobody types
    "*/test_latency.py::test_answers*settled*",
    # drawn programs
    "*/test_mutants.py::test_mutants[[][1-9][]]",
    "*/test_fuzz.py::test_drawn_programs[[]?[]]",
    "*/test_fuzz.py::test_drawn_programs[[]??[]]",
    "*/test_extensions.py::test_a_place_that_is_out_of_bounds*first*",
    "*/test_tuning.py::test_what_nothing_writes*",
    "*/test_tools.py::test_a_program_that_is_nested*",
    "*/test_compiling.py::test_a_sum_of_many_terms*",
    "*/test_operator.py::test_opcheck*",
    "*/test_python_language.py::test_assembly*",
    "*/test_python_examples.py::*softmax*",
    # searches, processes, PyTorch's compiler, installation
    "*/test_dt_tune.py::test_search*",
    "*/test_autotuned.py::*",
    "*/test_tuning.py::test_bad_luck*",
    "*/test_tuning.py::test_a_search_goes_on*",
    "*/test_tuning.py::test_a_process_that*",
    "*/test_tuning.py::test_an_interrupted*",
    "*/test_tuning.py::test_everything_late*",
    "*/test_operator.py::test_compiled_graphs_on_disk*",
    "*/test_python_examples.py::*attention*",
    "*/test_python_language.py::test_eight_processes*",
    "*/test_python_language.py::test_places_do_not*",
    "*/test_machine_code.py::test_a_fault_of_ptxas*",
    "*/test_packaging.py::*",
    "*/test_drawn_kernels.py::*60[]]",
    # the pages of further examples in a browser
    "*/test_pages.py::test_the_page_of_an_example*",
    # pages that search or compile with PyTorch
    "*/test_docs.py::test_python[[]docs/pytorch.md-8[]]",
    "*/test_docs.py::test_python[[]docs/python.md-6[]]",
    "*/test_docs.py::test_commands[[]tuning*",
    "*/test_docs.py::test_commands[[]debugging*",
    "*/test_docs.py::test_commands[[]tutorial-10*",
)
"""Patterns of the names of tests."""

KEPT = (
    "*/test_pages.py::test_the_page_of_an_example*[[]attention[]]",
    "*/test_pages.py::test_the_page_of_an_example*[[]matmul[]]",
    "*/test_boundaries.py::test_examples[[]attention[]]",
    "*/test_wrong_passes.py::test_is_named*never*",
    "*/test_special_values.py::test_products_over_domains*[[]k <= x-k:16[]]",
    "*/test_operators.py::test_operator[[]causal_attention-f32[]]",
    "*/test_operators.py::test_operator[[]conv1d_*-f32[]]",
    "*/test_operators.py::test_operator[[]cross_entropy-f32[]]",
    "*/test_operators.py::test_operator[[]embedding-f32[]]",
    "*/test_operators.py::test_operator[[]group_norm-f32[]]",
    "*/test_operators.py::test_operator[[]histogram-f32[]]",
    "*/test_operators.py::test_operator[[]max_pool1d*-f32[]]",
    "*/test_operators.py::test_operator[[]prefix_sum-f32[]]",
    "*/test_wrong_passes.py::test_is_named*the identity in attention*",
)
"""Tests that these patterns match and that are quick tests all the same."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests that take long, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    named = any("::" in argument for argument in config.args)
    if config.getoption("--full") or named:
        return
    full = [item for item in items if _matches(item, FULL) and not _matches(item, KEPT)]
    if full:
        config.hook.pytest_deselected(items=full)
        items[:] = [item for item in items if item not in set(full)]


def _matches(item: pytest.Item, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(f"/{item.nodeid}", pattern) for pattern in patterns)
