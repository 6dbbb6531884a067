import { Array as Arr, Effect } from "effect"
import {
  type AuditActionName,
  type AuditParameterName,
  auditSubjectKind,
} from "@tocsin/contract/audit/AuditActions"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type AuditParameters, MAX_SUBJECTS } from "../model/AuditRecord.ts"
import type { IncidentLogRecord, IncidentRecord, LogEntry } from "../model/IncidentRecord.ts"
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

/** Parameters by the names that their action states; `undefined` ones are left out. */
type ParametersOf<Action extends AuditActionName> = {
  readonly [Name in AuditParameterName<Action>]: AuditParameters[string] | undefined
}

/**
 * Records a change in the transaction that makes it: one row for each 100 things, and none for none.
 * The action states of which kind the IDs are.
 *
 * @example
 * recordAudit(unit of work, signature, "agent.accepted", [agent.agent_id], {})
 */
export const recordAudit = <Action extends AuditActionName>(
  unit: UnitOfWork,
  { newAuditId, ...by }: Signature,
  action: Action,
  ids: ReadonlyArray<string>,
  parameters: ParametersOf<Action>,
): void => {
  const kind = auditSubjectKind(action)
  const given = Object.entries<AuditParameters[string] | undefined>(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  for (const some of Arr.chunksOf(ids, MAX_SUBJECTS)) {
    unit.recordAudit({
      id: newAuditId(unit.now),
      recorded_at: unit.now,
      ...by,
      action,
      subjects: some.map((id) => ({ kind, id })),
      parameters: given.length === 0 ? undefined : Object.fromEntries(given),
    })
  }
}

/** Stores an incident as the act leaves it, with the act as part of its timeline. */
export const recordLogEntry = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { action, actor, text, ack_until, severity }: LogEntry,
): IncidentLogRecord => {
  const seq = incident.log_entries + 1
  const recorded = {
    incident_id: incident.id,
    seq,
    logged_at: unit.now,
    action,
    actor,
    text,
    ack_until,
    severity,
  }
  unit.incidents.put({ ...incident, log_entries: seq })
  unit.recordLogEntry(recorded)
  return recorded
}
