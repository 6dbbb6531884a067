#!/usr/bin/env node
import "./processSettings.ts"
import { check } from "./commands/check.ts"
import { fingerprint, rotate } from "./commands/key.ts"
import { importNrpe } from "./commands/importNrpe.ts"
import { report } from "./commands/report.ts"
import { run } from "./commands/run.ts"
import { start } from "./commands/start.ts"
import { status } from "./commands/status.ts"
import { tryCheck } from "./commands/try.ts"
import { complain, print, reasonOf, USAGE, UsageError } from "./commands/commandLine.ts"
import { AGENT_VERSION } from "@tocsin/reporting/agent/version"

type Command = (argv: ReadonlyArray<string>) => number | Promise<number>

const commands = new Map<string, Command>([
  ["start", start],
  ["check", check],
  ["try", tryCheck],
  ["status", status],
  ["fingerprint", fingerprint],
  ["rotate", rotate],
  ["report", report],
  ["run", run],
  ["import", importNrpe],
])

const USAGE_EXIT = 64

const isHelp = (argument: string): boolean => argument === "--help" || argument === "-h"

/** Runs one command and returns its exit code. */
const main = async ([name = "", ...argv]: ReadonlyArray<string>): Promise<number> => {
  // Arguments after -- belong to the job or the report.
  const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv
  const command = commands.get(name)
  if (isHelp(name) || name === "help" || (command !== undefined && own.some(isHelp))) {
    print(USAGE)
    return 0
  }
  if (name === "--version") {
    print(AGENT_VERSION)
    return 0
  }
  if (command === undefined) {
    complain(`say what to do: ${[...commands.keys()].join(", ")} (see tocsin-agent --help)`)
    return USAGE_EXIT
  }
  try {
    return await command(argv)
  } catch (error) {
    complain(reasonOf(error))
    return error instanceof UsageError ? USAGE_EXIT : 1
  }
}

// An executable has this as CommonJS, which awaits nothing here.
const runAndExit = async (): Promise<void> => process.exit(await main(process.argv.slice(2)))
void runAndExit()
