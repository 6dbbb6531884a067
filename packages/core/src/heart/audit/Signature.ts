import { Effect } from "effect"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import type { Command } from "../../kernel/unitOfWork/Decision.ts"
import type { AuditId, AuditVia } from "@tocsin/contract/audit/Audit"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { SYSTEM, CurrentOperator } from "../../kernel/ports/CurrentOperator.ts"
import { type Ids, newId } from "../../kernel/ports/Ids.ts"

/** The actor and way of a change, which every row of the audit states (docs/rules.md#audit). */
export interface Signature {
  readonly actor: string
  readonly via: AuditVia
  readonly request_id: string | undefined
  readonly newAuditId: (now: Instant) => AuditId
}

/** The signature of what Tocsin does by itself. */
export const systemSignature = (newAuditId: Signature["newAuditId"]): Signature => ({
  actor: SYSTEM,
  via: "system",
  request_id: undefined,
  newAuditId,
})

/** The signature of the present operator. */
export const currentSignature = (ids: Ids["Service"]): Effect.Effect<Signature> => {
  const newAuditId = newId<AuditId>(ids)
  return Effect.map(CurrentOperator, ({ name, via, request_id }) => ({
    actor: name,
    via,
    request_id,
    newAuditId,
  }))
}

/** Runs decisions of the present operator. */
export const signing = ({ transact }: Pick<Commits["Service"], "transact">, ids: Ids["Service"]) => {
  const signature = currentSignature(ids)
  return <A>(decide: (by: Signature) => Command<A>) => Effect.flatMap(signature, (by) => transact(decide(by)))
}
