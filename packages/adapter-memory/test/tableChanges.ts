import { keyText } from "@tocsin/core/lists/StoredTables"
import { NOT_ACKNOWLEDGED } from "@tocsin/core/heart/model/Acknowledgement"
import { AuditId } from "@tocsin/contract/audit/Audit"
import { AgentId, CheckId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { decideExpiry, removeExpired } from "../src/expire.ts"
import type { MemoryTables } from "../src/MemoryTables.ts"
import { persistChanges } from "../src/transact.ts"
import { type RetentionName, RetentionRules } from "@tocsin/core/lists/retention/RetentionRules"
import {
  agentRecord,
  blockedKeyRecord,
  checkRecord,
  incidentIdOf,
  incidentRecord,
  memberRecord,
  outboxRecord,
  registrationIdOf,
} from "@tocsin/testing/records"
import { eventOf } from "@tocsin/testing/samples"
import * as fc from "fast-check"

/** Few names and moments, so that rows change places, share moments and come back. */
const AGENTS = ["a", "B", "c.1", "c"] as const
export const CHECKS = ["disk", "CPU", "cpu"] as const
const MOMENTS = 5
const NUMBERS = 12

export const moment = fc.nat(MOMENTS).map((n) => Instant.fromMicros(BigInt(n)))
const number = fc.nat(NUMBERS)
export const agentName = fc.constantFrom(...AGENTS)
export const checkName = fc.constantFrom(...CHECKS)
export const severity = fc.constantFrom("warning", "critical", "unknown")
export const outboxState = fc.constantFrom("pending", "sending", "sent", "retry", "failed", "discarded")

/** Changes tables as a transaction or retention does. */
export type TableChange = (tables: MemoryTables) => void

const written =
  (put: (unit: UnitOfWork, tables: MemoryTables) => void): TableChange =>
  (tables) => {
    const unit = openUnit()
    put(unit, tables)
    persistChanges(tables, unit.changes())
  }

const registrations = fc.nat(1)

const agents = fc
  .record({ name: agentName, registration: registrations, act: fc.constantFrom("put", "put", "remove") })
  .map(({ act, name, registration }) =>
    written((unit, tables) => {
      const known = tables.agents.get(AgentId.make(name))
      unit.agents.load(AgentId.make(name), known)
      if (act === "remove" && known !== undefined) unit.removeAgent(known)
      else
        unit.agents.put(agentRecord(name, { registration_id: registrationIdOf(`${name} ${registration}`) }))
    }),
  )

const ofCheck = { name: agentName, registration: registrations, check: checkName }

const refOf = (choice: { readonly name: string; readonly registration: number; readonly check: string }) => ({
  agent_id: AgentId.make(choice.name),
  registration_id: registrationIdOf(`${choice.name} ${choice.registration}`),
  check_id: CheckId.make(choice.check),
})

const checks = fc
  .record({ ...ofCheck, act: fc.constantFrom("put", "put", "delete", "remove") })
  .map((choice) =>
    written((unit, tables) => {
      const ref = refOf(choice)
      const known = tables.checks.get(ref.registration_id)?.get(ref.check_id)
      unit.checks.load(ref, known)
      if (known === undefined || choice.act === "put") unit.checks.put(checkRecord(ref, choice.check))
      else if (choice.act === "delete") unit.checks.delete(ref)
      else unit.removeCheck(known)
    }),
  )

const expectations = fc
  .record({ ...ofCheck, act: fc.constantFrom("overdue", "overdue", "expected", "delete") })
  .map(({ act, ...choice }) =>
    written(({ expectations: table }, tables) => {
      const ref = refOf(choice)
      table.load(ref, tables.keyed.expectation.get(keyText("expectation", ref)))
      if (act === "delete") table.delete(ref)
      else
        table.put({
          ...ref,
          origin: "policy",
          terms: { after_millis: 1_000, severity: "warning", notifications_enabled: true },
          expected_from: Instant.fromMicros(0n),
          running_since: undefined,
          next_evaluation_at: undefined,
          incident_id: act === "overdue" ? incidentIdOf("stale") : undefined,
          alone_due_at: undefined,
        })
    }),
  )

const results = fc
  .record({ ...ofCheck, event: number, received_at: moment })
  .map(({ event, received_at, ...choice }) =>
    written((unit) => {
      unit.store({ ...eventOf(event, { check_id: choice.check }), ...refOf(choice), received_at })
    }),
  )

const incidents = fc
  .record({
    n: number,
    severity,
    opened_at: moment,
    resolved_at: fc.option(moment, { nil: undefined }),
    isAcknowledged: fc.boolean(),
    member: fc.option(fc.record({ agent: agentName, check: checkName }), { nil: undefined }),
  })
  .map(({ isAcknowledged, member, n, ...row }) =>
    written((unit) => {
      unit.incidents.put(
        incidentRecord(`${n}`, {
          ...row,
          state: row.resolved_at === undefined ? "open" : "resolved",
          ...(isAcknowledged && {
            ...NOT_ACKNOWLEDGED,
            ack_by: "eva",
            ack_at: row.opened_at,
            ack_severity: row.severity,
          }),
        }),
      )
      if (member !== undefined) unit.members.put(memberRecord({ incident: `${n}`, ...member }))
    }),
  )

const outbox = fc
  .record({
    n: number,
    incident: number,
    state: outboxState,
    notifier: fc.constantFrom("debug", "webhook"),
    event_type: fc.constantFrom("firing", "resolved"),
    next_evaluation_at: fc.option(moment, { nil: undefined }),
    created_at: moment,
    updated_at: moment,
  })
  .map(({ incident, n, ...row }) =>
    written((unit) => unit.outbox.put(outboxRecord(`${n}`, `${incident}`, row))),
  )

const keys = fc
  .record({ n: number, blocked_at: moment, act: fc.constantFrom("block", "block", "accept", "delete") })
  .map(({ act, blocked_at, n }) =>
    written((unit, tables) => {
      const {
        blacklist_id,
        blocked_at: at,
        hostname,
        state,
        ...fields
      } = blockedKeyRecord(`${n}`, { blocked_at })
      unit.keys.load(fields.key_hash, tables.keyed.agent_key.get(fields.key_hash))
      if (act === "delete") unit.keys.delete(fields.key_hash)
      else if (act === "accept") unit.keys.put({ ...fields, state: "accepted" })
      else unit.keys.put({ ...fields, state, blacklist_id, blocked_at: at, hostname })
    }),
  )

const operators = fc.record({ name: agentName, isDeleted: fc.boolean() }).map(({ isDeleted, name }) =>
  written((unit, tables) => {
    const table = unit.of("operator")
    const operator = OperatorName.make(name.toLowerCase())
    table.load(operator, tables.keyed.operator.get(operator))
    if (isDeleted) table.delete(operator)
    else
      table.put({
        name: operator,
        role: "admin",
        token_hash: KeyHash.make("0".repeat(64)),
        former_token_hash: undefined,
        former_valid_until: undefined,
        created_at: Instant.fromMicros(0n),
        created_by: "eva",
        expires_at: undefined,
        last_used_at: undefined,
      })
  }),
)

const audit = fc
  .record({ n: fc.nat(1_000), recorded_at: moment, actor: agentName, subject: agentName })
  .map(({ actor, n, recorded_at, subject }) =>
    written((unit) =>
      unit.recordAudit({
        id: AuditId.make(`audit ${n}`),
        recorded_at,
        actor,
        via: "api",
        action: "agent.deleted",
        subjects: [{ kind: "agent", id: subject }],
        parameters: undefined,
        request_id: undefined,
      }),
    ),
  )

const silences = fc
  .record({ n: number, starts_at: moment, ends_at: moment, created_at: moment })
  .map(({ n, ...times }) =>
    written((unit) =>
      unit.of("silence").put({
        ...times,
        id: SilenceId.make(incidentIdOf(`silence ${n}`)),
        matchers: [],
        comment: "",
        created_by: "eva",
      }),
    ),
  )

// The keys of the rules are their names.
const rules = Object.keys(RetentionRules) as ReadonlyArray<RetentionName>

const expiry = fc
  .record({ rule: fc.constantFrom(...rules), before: moment, limit: fc.integer({ min: 1, max: 4 }) })
  .map((piece): TableChange => (tables) => {
    removeExpired(decideExpiry(tables, { ...piece, after: undefined }).expired)
  })

/** As the simulation does after each command. */
const clearing = fc.constant<TableChange>((tables) => {
  tables.history.clear()
  tables.audit.clear()
})

/** A change of any table. */
export const tableChange: fc.Arbitrary<TableChange> = fc.oneof(
  { weight: 2, arbitrary: agents },
  { weight: 3, arbitrary: checks },
  { weight: 3, arbitrary: expectations },
  { weight: 3, arbitrary: results },
  { weight: 4, arbitrary: incidents },
  { weight: 4, arbitrary: outbox },
  { weight: 2, arbitrary: keys },
  { weight: 2, arbitrary: operators },
  { weight: 3, arbitrary: audit },
  { weight: 2, arbitrary: silences },
  { weight: 2, arbitrary: expiry },
  { weight: 1, arbitrary: clearing },
)
