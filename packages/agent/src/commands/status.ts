import { plainLine } from "@tocsin/contract/formats/plainLine"
import { clockOffset } from "@tocsin/reporting/agent/ServerTime"
import { statSync } from "node:fs"
import { systemClock } from "../clock/Clock.ts"
import { fingerprintOf, KeyFile } from "../key/KeyFile.ts"
import { fieldsOf } from "@tocsin/reporting/agent/Answer"
import { takeHanded } from "../jobs/handOver.ts"
import { savedNote } from "../spool/savedNote.ts"
import { actAsOwner, lockAgent, spoolPath } from "../spool/StateFolder.ts"
import { complain, print, readOptions, withoutArguments } from "./commandLine.ts"
import { withSpool } from "./report.ts"

/** The exit code where there is nothing to show. */
const NO_STATE = 1

/** `tocsin-agent status`: what waits, and what the server last said. Works beside a running agent. */
export const status = (argv: ReadonlyArray<string>): number => {
  const { state, json } = withoutArguments(readOptions(argv, ["json"]))
  actAsOwner(state)
  takeHanded(spoolPath(state))
  if (statSync(spoolPath(state), { throwIfNoEntry: false }) === undefined) {
    complain(`${state} has no spool: start the agent first, or name its folder with --state`)
    return NO_STATE
  }
  const found = statusOf(state)
  // Members of the group write to the spool.
  if (json) print(plainLine(JSON.stringify(found)))
  else for (const [name, value] of lines(found)) print(`${name.padEnd(14)}${plainLine(value)}`)
  return 0
}

/** The output of `status --json`. */
const statusOf = (state: string) =>
  withSpool(state, (file, now, mark) => {
    const notes = file.notes()
    const [oldest] = file.oldest(1)
    const waits = oldest && Math.round((now - oldest.observedAt) / 1_000)
    const count = (name: string): number => Number(notes.get(name) ?? 0)
    return {
      running: isRunning(state),
      fingerprint: fingerprintOf(new KeyFile(state).current()),
      admission: notes.get("admission") ?? "unknown",
      backlog: file.extent().results,
      oldest_seconds: waits === undefined ? null : Math.max(0, waits),
      rejected: count("rejected"),
      dropped: { changes: count("dropped_changes"), repeats: count("dropped_repeats") },
      clock_offset_ms: clockOffset(mark, systemClock) ?? null,
      last_answer: savedNote(notes.get("last_answer")) ?? null,
    }
  })

const isRunning = (state: string): boolean => {
  const release = lockAgent(state)
  release?.()
  return release === undefined
}

const lines = (found: ReturnType<typeof statusOf>): ReadonlyArray<readonly [string, string]> => {
  const { backlog, dropped, oldest_seconds: oldest, clock_offset_ms: offset } = found
  const { at, message } = fieldsOf(found.last_answer)
  const age = oldest === null ? "" : `, the oldest ${oldest} s old`
  const off = `${Math.abs(offset ?? 0)} ms ${(offset ?? 0) < 0 ? "behind" : "ahead of"} the server`
  return [
    ["agent", found.running ? "running" : "not running"],
    ["fingerprint", found.fingerprint],
    ["admission", found.admission],
    ["backlog", `${backlog} ${backlog === 1 ? "result" : "results"}${age}`],
    ["rejected", String(found.rejected)],
    ["dropped", `${dropped.changes} changes, ${dropped.repeats} repeats`],
    ["clock", offset === null ? "not compared yet" : off],
    ["last answer", at === undefined ? "none yet" : `${String(at)} ${String(message)}`],
  ]
}
