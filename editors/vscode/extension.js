// Starts the language server of Decoupled Triton, and hands it the settings.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const { sizes, device, load } = vscode.workspace.getConfiguration("dt");
  return { sizes, device, load };
}

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("dt").server.command;
  client = new LanguageClient(
    "dt",
    "Decoupled Triton",
    { command, args },
    {
      documentSelector: [{ language: "dt" }, { language: "mlir" }],
      initializationOptions: settings(),
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    // The client's library throws a string where there is no such command.
    vscode.window.showErrorMessage(
      `'${command}' cannot be started: ${error?.message ?? error}. ` +
        "pip install 'dt-mlir[editor]' installs it; dt.server.command says where it is.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("dt.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("dt.server")) {
        await stop();
        await start();
      } else if (event.affectsConfiguration("dt")) {
        await client?.sendNotification("workspace/didChangeConfiguration", {
          settings: { dt: settings() },
        });
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
