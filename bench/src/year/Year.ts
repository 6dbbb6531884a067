import { createHash } from "node:crypto"

export const AGENTS = 200
export const CHECKS = 20

/** A command of the year's process; the year ends at `endMillis` since 1970. */
export interface YearCommand {
  readonly file: string
  readonly days: number
  readonly endMillis: number
}

/** The state at the end of 30 days, and what they took. */
export interface Month {
  readonly rows: Readonly<Record<string, number>>
  readonly databaseMiB: number
  readonly logMiB: number
  readonly residentMiB: number
  /** After a collection. */
  readonly heapMiB: number
  readonly cpuSeconds: number
  readonly longestStopMillis: number
}

export const agentName = (index: number): string => `host-${String(index).padStart(3, "0")}`

export const agentKey = (index: number): string =>
  createHash("sha256")
    .update(`key of ${agentName(index)}`)
    .digest("base64url")

/** An ID of version 7: equal parts, equal IDs. */
export const eventId = (millis: bigint | number, index: number, number: number): string => {
  const [time, host, rest] = [millis.toString(16), index.toString(16), number.toString(16)]
  return `${time.padStart(12, "0").replace(/^.{8}/, "$&-")}-7${host.padStart(3, "0")}-8000-${rest.padStart(12, "0")}`
}
