import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import { isClockOff } from "@tocsin/reporting/agent/ServerTime"
import { checksText, OWN_CHECK_ID } from "../config/readConfig.ts"
import { fieldsOf } from "@tocsin/reporting/agent/Answer"
import { savedNote } from "../spool/savedNote.ts"
import type { CheckReport, CheckStatus } from "@tocsin/reporting/agent/CheckReport"

export interface SelfState {
  readonly now: number
  readonly backlog: number
  readonly oldestAt: number | undefined
  /** How far the wall clock is ahead of the server's. */
  readonly offset: number | undefined
  readonly growth: ReadonlyMap<string, Growth>
  /** Checks of which a run was left out within the last hour. */
  readonly skipped: ReadonlyArray<string>
  /** Checks with processes that cannot be killed. */
  readonly stuck: ReadonlyArray<string>
  readonly isOnDisk: boolean
  /** Why results of other users wait that are not taken in; empty where none do. */
  readonly notTaken: string
  /** Why the server refuses the schedule of the checks. */
  readonly refusedSchedule: string | undefined
  readonly checks: number
}

const BACKLOG_MILLIS = 300_000
const NAMED = 5

/** A counter, and when it last grew. */
export interface Growth {
  readonly count: number
  readonly at: number
}

/** Counters that are trouble for a day after they grew. */
const COUNTERS = ["dropped_changes", "rejected", "damaged", "dated_ahead"]
const REMEMBERED_MILLIS = 86_400_000

/** The growth of counters that the spool remembers. */
export const savedGrowth = (text: string | undefined): ReadonlyMap<string, Growth> => {
  const note = savedNote(text)
  return new Map(Array.isArray(note) ? note.filter(isSavedGrowth) : [])
}

const isSavedGrowth = (entry: unknown): entry is readonly [string, Growth] => {
  const [name, grown]: ReadonlyArray<unknown> = Array.isArray(entry) ? entry : []
  const { count, at } = fieldsOf(grown)
  return typeof name === "string" && Number.isFinite(count) && Number.isFinite(at)
}

/** When each counter last grew, by what was known before. */
export const growthOf = (
  before: ReadonlyMap<string, Growth>,
  notes: ReadonlyMap<string, string>,
  now: number,
): ReadonlyMap<string, Growth> =>
  new Map(
    COUNTERS.map((name) => {
      const count = Number(notes.get(name) ?? 0)
      const known = before.get(name)
      return [name, count === (known?.count ?? 0) ? (known ?? { count, at: 0 }) : { count, at: now }]
    }),
  )

const named = (ids: ReadonlyArray<string>): string =>
  ids.slice(0, NAMED).join(", ") + (ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "")

const counted = (name: string, once: string, often: string) => (state: SelfState) => {
  const { count, at } = state.growth.get(name) ?? { count: 0, at: 0 }
  if (count === 0 || Math.abs(state.now - at) >= REMEMBERED_MILLIS) return undefined
  return count === 1 ? once : `${count} ${often}`
}

/** Words for each kind of trouble where it applies, the worst first. */
const TROUBLES: Readonly<
  Record<"critical" | "warning", ReadonlyArray<(state: SelfState) => string | false | undefined>>
> = {
  critical: [
    counted("dropped_changes", "a change of status was dropped", "changes of status were dropped"),
    ({ isOnDisk }) => !isOnDisk && "the disk refuses results, which wait in memory",
    ({ notTaken }) => notTaken,
    ({ stuck }) => stuck.length > 0 && `processes cannot be killed: ${named(stuck)}`,
  ],
  warning: [
    counted("damaged", "the spool was damaged", "spools were damaged"),
    counted("rejected", "the server refused a result for good", "results were refused for good"),
    counted("dated_ahead", "a result was dated ahead", "results were dated ahead"),
    ({ now, oldestAt = now }) =>
      now - oldestAt > BACKLOG_MILLIS && `results wait for ${Math.round((now - oldestAt) / 60_000)} minutes`,
    ({ offset = 0 }) => isClockOff(offset) && `the clock is off by ${Math.round(offset / 1_000)} s`,
    ({ refusedSchedule: why }) => why !== undefined && `the server refuses the schedule: ${why}`,
    ({ skipped }) => skipped.length > 0 && `runs were skipped: ${named(skipped)}`,
  ],
}

/** The result of the check `tocsin-agent`, with performance data. */
export const selfReport = (state: SelfState): CheckReport => {
  const listTroubles = (status: keyof typeof TROUBLES) =>
    TROUBLES[status].flatMap((words) => words(state) || [])
  const [critical, warning] = [listTroubles("critical"), listTroubles("warning")]
  const status: CheckStatus = critical.length > 0 ? "critical" : warning.length > 0 ? "warning" : "ok"
  const said = [...critical, ...warning].join("; ") || checksText(state.checks)
  const age = Math.max(0, Math.round((state.now - (state.oldestAt ?? state.now)) / 1_000))
  return {
    checkId: OWN_CHECK_ID,
    status,
    exitCode: EXIT_CODES[status],
    durationMillis: 0,
    output: `TOCSIN-AGENT ${status.toUpperCase()} - ${said} | backlog=${state.backlog} oldest=${age}s`,
    notificationsEnabled: true,
  }
}
