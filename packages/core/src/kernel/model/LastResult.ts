import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { CheckRef } from "./CheckRef.ts"
import { instant, long, orUndefined, type RecordOf, storedTable, text } from "./TableShape.ts"

/** A member of an incident, by the registration of its check. */
export interface MemberCheck extends CheckRef {
  readonly incident_id: IncidentId
  readonly change_seq: number
}

/** The last result of a member's check, as storages read it from several tables; none is stored so. */
export const last_result = storedTable({
  name: "last_result",
  key: ["incident_id"],
  columns: {
    incident_id: text<IncidentId>(),
    status: text<CheckStatus>(),
    output: orUndefined(text()),
    /** When the member got its severity; absent once the timeline of the incident no longer has it. */
    changed_at: orUndefined(instant),
    /** The duration of this result; absent if the history lacks the result. */
    duration_ms: orUndefined(long),
    /** The page of the alert that the check is. */
    address: orUndefined(text()),
  },
})
export type LastResult = RecordOf<typeof last_result>
