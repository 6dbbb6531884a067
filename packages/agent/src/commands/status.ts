import { plainLine } from "@tocsin/contract/plainLine"
import { statSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../clock/Clock.ts"
import { clockOffset, correctedNow } from "@tocsin/reporting/agent/ServerTime"
import { AgentLock } from "../daemon/AgentLock.ts"
import { spoolPath } from "../daemon/Daemon.ts"
import { fingerprintOf, KeyFile } from "../key/KeyFile.ts"
import { savedMark } from "../sending/timeMark.ts"
import { savedNote } from "../spool/savedNote.ts"
import { SpoolFile } from "../spool/SpoolFile.ts"
import { actAsOwner } from "./actAsOwner.ts"
import { readOptions, withoutArguments } from "./options.ts"
import { complain, print } from "./output.ts"

/** The output of `status --json`. */
interface AgentStatus {
  readonly running: boolean
  readonly fingerprint: string
  readonly admission: string
  readonly backlog: number
  readonly oldest_seconds: number | null
  readonly rejected: number
  readonly dropped: { readonly changes: number; readonly repeats: number }
  readonly clock_offset_ms: number | null
  readonly last_answer: unknown
}

/** The exit code where there is nothing to show. */
const NO_STATE = 1

/** `tocsin-agent status`: what waits, and what the server last said. Works beside a running agent. */
export const status = (argv: ReadonlyArray<string>): number => {
  const { state, json } = withoutArguments(readOptions(argv, ["json"]))
  actAsOwner(state)
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

const statusOf = (state: string): AgentStatus => {
  const file = SpoolFile.open(spoolPath(state))
  try {
    const notes = file.notes()
    const mark = savedMark(notes.get("time_mark"), systemClock.sinceBoot())
    const [oldest] = file.oldest(1)
    const now = correctedNow(mark, systemClock)
    const count = (name: string): number => Number(notes.get(name) ?? 0)
    return {
      running: isRunning(state),
      fingerprint: fingerprintOf(new KeyFile(state).current()),
      admission: notes.get("admission") ?? "unknown",
      backlog: file.extent().results,
      oldest_seconds:
        oldest === undefined ? null : Math.max(0, Math.round((now - oldest.observedAt) / 1_000)),
      rejected: count("rejected"),
      dropped: { changes: count("dropped_changes"), repeats: count("dropped_repeats") },
      clock_offset_ms: clockOffset(mark, systemClock) ?? null,
      last_answer: savedNote(notes.get("last_answer")) ?? null,
    }
  } finally {
    file.close()
  }
}

const isRunning = (state: string): boolean => {
  const lock = AgentLock.take(join(state, "agent.lock"))
  lock?.release()
  return lock === undefined
}

const lines = (found: AgentStatus): ReadonlyArray<readonly [string, string]> => {
  const { last_answer: last, oldest_seconds: oldest, clock_offset_ms: offset } = found
  const said =
    typeof last === "object" && last !== null && "at" in last && "message" in last
      ? `${String(last.at)} ${String(last.message)}`
      : "none yet"
  return [
    ["agent", found.running ? "running" : "not running"],
    ["fingerprint", found.fingerprint],
    ["admission", found.admission],
    [
      "backlog",
      `${found.backlog} ${found.backlog === 1 ? "result" : "results"}${oldest === null ? "" : `, the oldest ${oldest} s old`}`,
    ],
    ["rejected", String(found.rejected)],
    ["dropped", `${found.dropped.changes} changes, ${found.dropped.repeats} repeats`],
    [
      "clock",
      offset === null
        ? "not compared yet"
        : `${Math.abs(offset)} ms ${offset < 0 ? "behind" : "ahead of"} the server`,
    ],
    ["last answer", said],
  ]
}
