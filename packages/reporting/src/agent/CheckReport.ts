import type { CheckResultEvent } from "@tocsin/contract/Requests"

/** An event as it is on the wire. */
export type WireEvent = typeof CheckResultEvent.Encoded

export type CheckStatus = WireEvent["status"]

/** What a run of a check, or a job, has to report. The spool adds its id and time. */
export interface CheckReport {
  readonly checkId: string
  readonly status: CheckStatus
  readonly exitCode: number
  readonly durationMillis: number
  /** Text of any length: the spool cuts it. */
  readonly output: string
  /** Bytes that were dropped before: they count as cut. */
  readonly droppedBytes?: number
  readonly notificationsEnabled: boolean
  readonly incidentKey?: string | undefined
}
