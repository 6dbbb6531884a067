import { Schema } from "effect"
import { AgentId, CheckId, IncidentKey } from "./Identifiers.ts"
import { CheckStatus } from "./Status.ts"
import { timestamp } from "./timestamp.ts"

/** The current state of one check. */
export const CheckState = Schema.Struct({
  agent_id: AgentId,
  check_id: CheckId,
  status: CheckStatus,
  last_observed_at: timestamp("When the newest applied result was observed, by the agent's clock."),
  exit_code: Schema.optionalKey(
    Schema.Int.annotate({ description: "The exit code of the newest applied result." }),
  ),
  incident_key: Schema.optionalKey(IncidentKey),
  summary: Schema.optionalKey(
    Schema.String.check(
      Schema.isMaxCodePoints(8192, { description: "The output of the newest applied result." }),
    ),
  ),
}).annotate({ identifier: "CheckState", description: "The current state of one check." })
export type CheckState = typeof CheckState.Type
