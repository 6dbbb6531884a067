import type { UpsertRows } from "./upserts.ts"

/** Asks for upserts for so long. */
export interface UpsertCommand {
  readonly url: string
  readonly rows: UpsertRows
  readonly clients: number
  readonly seconds: number
}

/** The result. */
export interface UpsertReply {
  readonly rows: number
  readonly seconds: number
  readonly p50Millis?: number
  readonly p99Millis?: number
}
