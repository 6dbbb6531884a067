import { fieldsOf, parsedJson } from "@tocsin/reporting/agent/Answer"
import type { TimeMark } from "@tocsin/reporting/agent/ServerTime"
import { readFileSync } from "node:fs"

/** A note as it was written; none where its text is damaged, which members of the group can do too. */
export const savedNote = (text: string | undefined): unknown =>
  text === undefined ? undefined : parsedJson(text)

let boot: string | undefined

/** Names this boot of the host; where the system gives no name, no mark outlives the process. */
export const bootId = (): string => {
  if (boot !== undefined) return boot
  try {
    boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    boot = `process ${process.pid} ${process.hrtime.bigint()}`
  }
  return boot
}

/**
 * The server's time as the spool remembers it; a mark of another boot says nothing, nor does a damaged
 * one. One from later than `sinceBoot`, the present, is of a former run of a container: its boot is
 * the host's, and its uptime can begin again.
 */
export const savedMark = (text: string | undefined, sinceBoot: number): TimeMark | undefined => {
  const note = savedNote(text)
  return isMark(note) && note.boot === bootId() && note.sinceBoot <= sinceBoot ? note : undefined
}

const isMark = (note: unknown): note is TimeMark => {
  const { server, sinceBoot } = fieldsOf(note)
  return Number.isFinite(server) && Number.isFinite(sinceBoot)
}

/**
 * How long results have waited, in days that an agent ran. No clock's date decides it: a host's clock
 * is set, a server's can be wrong, and neither may cost a result.
 */
interface WaitingDays {
  /** Of the day that is being counted. */
  readonly millis: number
  /** The last result in the spool at the end of each counted day, the earliest day first. */
  readonly lasts: ReadonlyArray<number>
}

const DAY_MILLIS = 86_400_000

const isDays = (note: unknown): note is WaitingDays => {
  const { millis, lasts } = fieldsOf(note)
  return Number.isFinite(millis) && Array.isArray(lasts) && lasts.every(Number.isFinite)
}

/**
 * The saved days after some more time, as a note, and the last result that has waited beyond `bound` days; 0
 * if none has. Time between two looks ends one day at most, so that an agent that could not run, and so could
 * not send, drops nothing for that.
 */
export const waitingDaysAfter = (
  saved: string | undefined,
  passed: { readonly millis: number; readonly last: number; readonly bound: number },
): { readonly note: string; readonly last: number } => {
  const before = savedNote(saved)
  const { millis, lasts } = isDays(before) ? before : { millis: 0, lasts: [] }
  const isWithinDay = millis + passed.millis < DAY_MILLIS
  const days: WaitingDays = isWithinDay
    ? { millis: millis + passed.millis, lasts }
    : { millis: 0, lasts: [...lasts, passed.last].slice(-passed.bound - 1) }
  return { note: JSON.stringify(days), last: days.lasts.at(-passed.bound - 1) ?? 0 }
}
