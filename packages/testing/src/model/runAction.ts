import { acknowledge, note, withdraw } from "@tocsin/core/heart/acknowledgements/acknowledge"
import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect } from "effect"
import type { Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import { eventId } from "../samples.ts"
import { transact } from "../transact.ts"
import type { ModelAction } from "./ModelAction.ts"

type PersonsAct = Extract<ModelAction, { readonly act: "acknowledge" | "withdraw" | "note" }>

/** Runs a person's action on one of the open incidents, or on one that does not exist. */
export const runAction = Effect.fnUntraced(function* (
  replica: Replica,
  action: PersonsAct,
  by: Signature,
  now: Instant.Instant,
) {
  const incidents = yield* rowsOf(replica, "incidents", { state: "open" })
  const id = incidents[action.nth % incidents.length]?.id ?? IncidentId.make(eventId(0))
  switch (action.act) {
    case "acknowledge": {
      const until = Instant.plus(now, Duration.seconds(action.seconds))
      const input = { id, note: "on it", until, severity: action.severity }
      return yield* transact(replica.storage, acknowledge(input, by))
    }
    case "withdraw":
      return yield* transact(replica.storage, withdraw(id, by))
    case "note":
      return yield* transact(replica.storage, note(id, "seen", by))
  }
})
