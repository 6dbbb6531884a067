import { firstOutput } from "@tocsin/contract/formats/outputText"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"

const TIME_DIGITS = 12

/**
 * A new ID for a check result: a lower-case UUID version 7 (RFC 9562), by Web Crypto. Send the same
 * ID when you retry: it identifies a repeated delivery. `millis` is its time: now unless given.
 */
// oxlint-disable-next-line eslint/no-restricted-properties -- an ID is no decision, and programs have no clock of Tocsin's
export const newEventId = (millis = Date.now()): string => {
  const time = Math.max(0, Math.floor(millis)).toString(16).padStart(TIME_DIGITS, "0")
  // A page without https has no randomUUID.
  const random = globalThis.crypto.getRandomValues(new Uint8Array(10))
  random[0] = 0x70 | ((random[0] ?? 0) & 0x0f)
  random[2] = 0x80 | ((random[2] ?? 0) & 0x3f)
  const digits = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")
  const groups = [time.slice(0, 8), time.slice(8), digits.slice(0, 4), digits.slice(4, 8), digits.slice(8)]
  return groups.join("-")
}

export type WireEvent = typeof CheckResultEvent.Encoded

export type CheckStatus = WireEvent["status"]

/** The report of a check's run, or of a job. The spool adds its id and time. */
export interface CheckReport {
  readonly checkId: string
  readonly status: CheckStatus
  readonly exitCode: number
  readonly durationMillis: number
  /** Text of any length: the spool cuts it. */
  readonly output: string
  /** Bytes that were dropped before: they count as cut. */
  readonly droppedBytes?: number
  /** Whether the output was cut before, and says where. */
  readonly isCut?: boolean
  readonly notificationsEnabled: boolean
  readonly incidentKey?: string | undefined
}

/** A report with no more of its output than its event will carry. */
export const keptReport = ({ droppedBytes = 0, isCut = false, incidentKey, ...report }: CheckReport) => {
  const { output = "", output_truncated } = firstOutput(report.output, { droppedBytes, between: "" })
  return {
    ...report,
    ...(incidentKey !== undefined && { incidentKey }),
    // A part of a longer text would hold all of it.
    output: Array.from(output).join(""),
    isCut: isCut || output_truncated,
  }
}

export const wireEvent = (
  report: CheckReport,
  { id, at }: { readonly id: string; readonly at: number },
): WireEvent => {
  const { droppedBytes = 0, isCut = false } = report
  const { output, output_truncated } = firstOutput(report.output, { droppedBytes, between: "" })
  return {
    event_id: id,
    check_id: report.checkId,
    observed_at: new Date(at).toISOString(),
    status: report.status,
    exit_code: report.exitCode,
    duration_ms: Math.max(0, Math.round(report.durationMillis)),
    ...(output !== undefined && { output }),
    ...((output_truncated || isCut) && { output_truncated: true }),
    ...(!report.notificationsEnabled && { notifications_enabled: false }),
    ...(report.incidentKey !== undefined && { incident_key: report.incidentKey }),
  }
}
