import { readFileSync } from "node:fs"
import type { TimeMark } from "@tocsin/client/agent/ServerTime"

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

/** The server's time as the spool remembers it; a mark of another boot says nothing. */
export const savedMark = (text: string | undefined): TimeMark | undefined => {
  if (text === undefined) return undefined
  // Written by the sender.
  const mark = JSON.parse(text) as TimeMark
  return mark.boot === bootId() ? mark : undefined
}
