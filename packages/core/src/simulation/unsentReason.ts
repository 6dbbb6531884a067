import type { WithheldFiring } from "./SimulationListener.ts"
import type { UnsentFiring } from "./SimulationReport.ts"

/** Why a firing was not sent. */
export type UnsentReason = UnsentFiring["reason"]

/** Why a firing was not sent: one that is not discarded is still held. */
export const reasonOf = ({ incident, item }: WithheldFiring): UnsentReason =>
  item.state !== "discarded" ? "still_held" : incident.state === "open" ? "replaced" : "resolved"
