import { acknowledgementInForce } from "../acknowledgements/Acknowledgement.ts"
import type * as Instant from "../contract/Instant.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import { canBeHeld } from "./heldItems.ts"
import { type Hold, holdsOf } from "./holdsOf.ts"

/** The holds on an outbox item at a moment; none on one that cannot be held. */
export const firingHolds = (
  incident: IncidentRecord,
  item: OutboxRecord,
  now: Instant.Instant,
): ReadonlyArray<Hold> =>
  canBeHeld(item)
    ? holdsOf(
        {
          severity: item.severity,
          opensAt: incident.opened_at,
          acknowledgement: acknowledgementInForce(incident, now),
          loud: { kind: "listed", members: [] },
          covers: [],
        },
        now,
      )
    : []
