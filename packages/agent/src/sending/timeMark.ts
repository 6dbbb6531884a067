import { readFileSync } from "node:fs"
import type { TimeMark } from "@tocsin/reporting/agent/ServerTime"
import { fieldsOf, savedNote } from "../spool/savedNote.ts"

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
