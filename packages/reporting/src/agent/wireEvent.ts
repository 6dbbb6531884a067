import type { CheckReport, WireEvent } from "./CheckReport.ts"

/** Bytes of output that the server takes (docs/rules.md#values). */
const MAX_OUTPUT_BYTES = 8_192

/** Room for the marker, with a number of any length. */
const MARKER_BYTES = 40

/** An output that fits, and whether it was cut. */
interface CutOutput {
  readonly text: string
  readonly isCut: boolean
}

/**
 * Cuts an output between characters and marks it `...[truncated N bytes]`. `droppedBytes` were lost
 * before and count as cut.
 */
export const cutOutput = (output: string, droppedBytes = 0): CutOutput => {
  // A lone surrogate becomes U+FFFD here, which takes the three bytes that the server counts.
  const whole = new TextEncoder().encode(output)
  if (whole.length <= MAX_OUTPUT_BYTES && droppedBytes === 0) return { text: textOf(whole), isCut: false }
  let end = Math.min(whole.length, MAX_OUTPUT_BYTES - MARKER_BYTES)
  while (end > 0 && end < whole.length && isContinuation(whole[end])) end -= 1
  const lost = whole.length - end + droppedBytes
  return { text: `${textOf(whole.subarray(0, end))}...[truncated ${lost} bytes]`, isCut: true }
}

const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80

// A byte order mark is text here.
const textOf = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)

/** A report as an event on the wire. */
export const wireEvent = (
  report: CheckReport,
  stamp: { readonly id: string; readonly at: number },
): WireEvent => {
  const { text, isCut } = cutOutput(report.output, report.droppedBytes)
  return {
    event_id: stamp.id,
    check_id: report.checkId,
    observed_at: new Date(stamp.at).toISOString(),
    status: report.status,
    exit_code: report.exitCode,
    duration_ms: Math.max(0, Math.round(report.durationMillis)),
    ...(text !== "" && { output: text }),
    ...(isCut && { output_truncated: true }),
    ...(!report.notificationsEnabled && { notifications_enabled: false }),
    ...(report.incidentKey !== undefined && { incident_key: report.incidentKey }),
  }
}
