"""The configurations of docs/editors.md, in the editors that are there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from editor_client import COMMAND
from editor_texts import ROOT

PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
PROGRAM = (ROOT / "examples" / "attention.dt").read_text(encoding="utf-8")
SECONDS = 120


def blocks(editor: str) -> list[str]:
    """Returns the blocks of code in an editor's section of the page."""
    (section,) = re.findall(rf"^## {editor}\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def found(name: str) -> str:
    """Returns the path of an editor; skips the test where it is not there."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not there")
    return path


def run(directory: Path, *command: str) -> str:
    """Returns what an editor prints in a directory with two programs; `dt-lsp` is in its path."""
    server = directory / "bin" / "dt-lsp"
    server.parent.mkdir()
    server.write_text(f'#!/bin/sh\nexec {sys.executable} {COMMAND[0]} "{COMMAND[1]}"\n')
    server.chmod(0o755)
    (directory / "attention.dt").write_text(PROGRAM, encoding="utf-8")
    (directory / "module.mlir").write_text('"loop.kernel"() : () -> ()\n')
    path = f"{server.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=directory, capture_output=True, encoding="utf-8", timeout=SECONDS, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8",
             "XDG_CONFIG_HOME": str(directory), "XDG_STATE_HOME": str(directory)},
    )  # fmt: skip
    return done.stdout + done.stderr


# Neovim

NEOVIM = """
local said = {}
local get = vim.lsp.get_clients or vim.lsp.get_active_clients
local function ready() local c = get({ bufnr = 0 })[1]; return c and c.initialized ~= false end
said.attached = vim.wait(30000, ready, 20)
said.language, said.comment = vim.bo.filetype, vim.bo.commentstring
local last = vim.api.nvim_buf_line_count(0)
local function write(text) vim.api.nvim_buf_set_lines(0, last - 1, last, false, { text }) end
write("attention.compil();")
vim.wait(30000, function() return #vim.diagnostic.get(0) == 2 end, 20)
said.diagnostics = vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0))
write("attention.compile( ) ;")
said.mended = vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 20)
vim.lsp.buf.format({ timeout_ms = 30000 })
said.line = vim.api.nvim_buf_get_lines(0, last - 1, last, false)[1]
local function hover(line, column)
  vim.api.nvim_win_set_cursor(0, { line, column })
  vim.lsp.buf.hover()
  vim.wait(30000, function() return #vim.api.nvim_list_wins() > 1 end, 20)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if buffer ~= vim.api.nvim_get_current_buf() then
      local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\\n")
      vim.api.nvim_win_close(window, true)
      return text
    end
  end
end
said.hover = hover(6, 16)
vim.cmd("edit! module.mlir")
said.module = vim.wait(30000, ready, 20) and hover(1, 3)
io.stdout:write("\\n" .. vim.json.encode(said) .. "\\n")
"""


@pytest.mark.parametrize(("number", "oldest"), [(0, (0, 11)), (1, (0, 8))])
def test_neovim(number: int, oldest: tuple[int, int], tmp_path: Path) -> None:
    nvim = found("nvim")
    version = subprocess.run([nvim, "--version"], capture_output=True, text=True, check=True).stdout
    (major, minor), *_ = re.findall(r"^NVIM v(\d+)\.(\d+)", version)
    if (int(major), int(minor)) < oldest:
        pytest.skip(f"Neovim {major}.{minor} is too old")
    (tmp_path / "page.lua").write_text(blocks("Neovim")[number])
    (tmp_path / "run.lua").write_text(NEOVIM)
    command = [nvim, "--clean", "--headless", "-u", "page.lua", "attention.dt"]
    output = run(tmp_path, *command, "-S", "run.lua", "-c", "qall!")
    assert "{" in output, output
    said = json.loads(output.strip().splitlines()[-1])
    assert (said["attached"], said["language"], said["comment"]) == (True, "dt", "# %s")
    assert any("did you mean 'compile'?" in message for message in said["diagnostics"])
    assert said["mended"]
    assert said["line"] == "attention.compile();"
    assert "the sum of the products" in said["hover"]
    assert "A kernel as loops over labels." in said["module"]


# Vim

VIM = """
let s:said = {'language': &filetype, 'comment': &commentstring}
function Wait(ready)
  for _ in range(600)
    if a:ready()
      return 1
    endif
    sleep 50m
  endfor
endfunction
call setline('$', 'attention.compil();')
ALELint
call Wait({-> len(getloclist(0)) == 2})
let s:said.diagnostics = map(getloclist(0), {_, item -> item.text})
call setline('$', 'attention.compile();')
ALELint
let s:said.mended = Wait({-> empty(getloclist(0))})
call cursor(6, 17)
ALEHover
call Wait({-> winnr('$') > 1})
let s:said.hover = join(map(range(1, winnr('$')), {_, w -> getbufline(winbufnr(w), 1)[0]}))
call writefile([json_encode(s:said)], 'said.json')
qall!
"""
VIM_LSP = """
function lsp#register_server(given)
  call writefile([json_encode(a:given)], 'said.json')
endfunction
"""


def vim() -> list[str]:
    """Returns a command that runs Vim without a screen."""
    path = found("vim")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    if not version.startswith("VIM") or "+job" not in version:
        pytest.skip("this Vim runs no servers")
    return [path, "-es", "-N", "-n", "-i", "NONE"]


def test_vim_lsp(tmp_path: Path) -> None:
    """The page calls vim-lsp, which a function stands in for, as its documentation says."""
    (tmp_path / "page.vim").write_text(blocks("Vim")[0])
    (tmp_path / "autoload").mkdir()
    (tmp_path / "autoload" / "lsp.vim").write_text(VIM_LSP)
    command = ["--cmd", "set runtimepath^=.", "-u", "page.vim", "-c", "doautocmd User lsp_setup"]
    output = run(tmp_path, *vim(), *command, "-c", "qall!")
    assert (tmp_path / "said.json").exists(), output
    assert json.loads((tmp_path / "said.json").read_text()) == {
        "name": "dt-lsp", "cmd": ["dt-lsp"], "allowlist": ["dt", "mlir"],
        "initialization_options": {"sizes": {"x": 4096}},
    }  # fmt: skip


def test_ale(tmp_path: Path) -> None:
    (tmp_path / "page.vim").write_text(blocks("Vim")[1])
    (tmp_path / "run.vim").write_text(VIM)
    command = [*vim(), "--cmd", "silent! packadd ale", "-u", "page.vim", "attention.dt"]
    check = "if !exists(':ALELint') | call writefile([], 'none') | qall! | endif"
    output = run(tmp_path, *command, "-c", check, "-c", "filetype plugin on", "-S", "run.vim")
    if (tmp_path / "none").exists():
        pytest.skip("ALE is not there")
    assert (tmp_path / "said.json").exists(), output
    said = json.loads((tmp_path / "said.json").read_text())
    assert (said["language"], said["comment"]) == ("dt", "# %s")
    assert any("did you mean 'compile'?" in message for message in said["diagnostics"])
    assert said["mended"]
    assert "rdot(a, b, label, …, condition, …)" in said["hover"]


# Emacs

EMACS = """;; -*- lexical-binding: t -*-
(unless (require 'eglot nil t) (princ "\\nno eglot") (kill-emacs))
(require 'flymake)
(require 'json)
(define-derived-mode mlir-mode prog-mode "MLIR")
(add-to-list 'auto-mode-alist '("\\\\.mlir\\\\'" . mlir-mode))
(defun wait (ready)
  (let ((end (+ (float-time) 30)) found)
    (while (and (not (setq found (funcall ready))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))
(defun open-file (name)
  (switch-to-buffer (find-file-noselect name))
  (run-hooks 'post-command-hook)
  (if (wait #'eglot-current-server) t :json-false))
(defun hover ()
  (plist-get (jsonrpc-request (eglot-current-server) :textDocument/hover
                              (eglot--TextDocumentPositionParams))
             :contents))
(defun last-line () (goto-char (point-max)) (forward-line -1) (line-end-position))
(defun problems ()
  (eglot--signal-textDocument/didChange)
  (flymake-start)
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))
(let (said)
  (push (cons 'attached (open-file "attention.dt")) said)
  (push (cons 'language (symbol-name major-mode)) said)
  (delete-region (last-line) (point))
  (insert "attention.compil();")
  (push (cons 'diagnostics (vconcat (wait #'problems))) said)
  (delete-region (last-line) (point))
  (insert "attention.compile( ) ;")
  (eglot-format-buffer)
  (push (cons 'line (buffer-substring (last-line) (point))) said)
  (push (cons 'mended (if (wait (lambda () (null (problems)))) t :json-false)) said)
  (goto-char (point-min))
  (search-forward "rdot")
  (backward-char 2)
  (push (cons 'hover (hover)) said)
  (set-buffer-modified-p nil)
  (open-file "module.mlir")
  (forward-char 3)
  (push (cons 'module (hover)) said)
  (princ (concat "\\n" (json-encode said) "\\n"))
  (kill-emacs))
"""


def test_emacs(tmp_path: Path) -> None:
    emacs = found("emacs")
    (page,) = blocks("Emacs")
    (tmp_path / "page.el").write_text(page)
    (tmp_path / "run.el").write_text(EMACS, encoding="utf-8")
    command = [emacs, "--batch", "-q", "-f", "package-initialize"]
    output = run(tmp_path, *command, "-l", "page.el", "-l", "run.el")
    if "\nno eglot" in output:
        pytest.skip("eglot is not there")
    line = next((line for line in output.splitlines() if line.startswith("{")), None)
    assert line is not None, output
    said = json.loads(line)
    assert (said["attached"], said["language"]) == (True, "dt-mode")
    assert any("did you mean 'compile'?" in message for message in said["diagnostics"])
    assert said["line"] == "attention.compile();"
    assert said["mended"] is True
    # It shows plain text where it has no mode for Markdown.
    assert said["hover"]["kind"] in ("markdown", "plaintext")
    assert "the sum of the products" in said["hover"]["value"]
    assert ("```" in said["hover"]["value"]) == (said["hover"]["kind"] == "markdown")
    assert "A kernel as loops over labels." in said["module"]["value"]


# Helix


def test_the_configuration_of_helix() -> None:
    (page,) = blocks("Helix")
    configuration = tomllib.loads(page)
    (server,) = configuration["language-server"]
    assert configuration["language-server"][server]["command"] == "dt-lsp"
    languages = {language["name"]: language for language in configuration["language"]}
    assert languages["dt"]["file-types"] == ["dt"]
    assert all(language["language-servers"] == [server] for language in languages.values())


def test_helix(tmp_path: Path) -> None:
    hx = found("hx")
    (page,) = blocks("Helix")
    (tmp_path / "helix").mkdir()
    (tmp_path / "helix" / "languages.toml").write_text(page)
    output = run(tmp_path, hx, "--health", "dt")
    assert str(tmp_path / "bin" / "dt-lsp") in output, output
