import type { CheckReport, WireEvent } from "./CheckReport.ts"
import { cutOutput } from "./cutOutput.ts"

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
