import { plainLine } from "@tocsin/contract/formats/plainLine"
import type { Resolution } from "../model/IncidentRecord.ts"

const LINES: {
  readonly [R in Resolution["reason"]]: (
    resolution: Extract<Resolution, { reason: R }>,
    lasted: string,
  ) => string
} = {
  recovered: (_, lasted) => `ok again after ${lasted}`,
  reported: ({ status }, lasted) => `reported ${status} after ${lasted}`,
  deleted: ({ by, of }) => `${of === undefined ? "" : "agent "}deleted by ${by}`,
  resolved: ({ by }) => `resolved by ${by}`,
  withdrawn: ({ of }) => `no longer ${of === undefined ? "expected" : "checked"}`,
  moved: ({ to }) => `moved to ${plainLine(to)}`,
}

/** How an incident ended, in one line (docs/rules.md#details). `lasted` says how long it was open. */
export const resolutionText = (resolution: Resolution, lasted: string): string => {
  // The line of a reason takes resolutions of that reason.
  const line = LINES[resolution.reason] as (resolution: Resolution, lasted: string) => string
  return line(resolution, lasted)
}

/** The headline of the result that ended an incident well, if one did. */
export const headlineNow = (resolution: Resolution | undefined): string | undefined =>
  resolution?.reason === "recovered" ? resolution.now : undefined

/** A resolution for programs: why, and by whom. */
export const shownResolution = (
  resolution: Resolution,
): { readonly reason: Resolution["reason"]; readonly by?: string } => ({
  reason: resolution.reason,
  ...("by" in resolution && { by: resolution.by }),
})
