import { comparing } from "@tocsin/core/kernel/engine/comparing"
import { isSilent, wasTwice } from "@tocsin/core/heart/model/AgentRecord"
import { Clock, Duration, Effect, Layer, Stream } from "effect"
import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Command, Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import { orderColumns } from "@tocsin/core/lists/ListDefinitions"
import { type EvaluatedName, type KeyedName, type KeyedRows, keyText } from "@tocsin/core/lists/StoredTables"
import { LAST_VERSION } from "@tocsin/core/heart/model/PolicyVersionRecord"
import type { LastResult, MemberCheck } from "@tocsin/core/kernel/model/LastResult"
import { compareMembers } from "@tocsin/core/kernel/unitOfWork/Standings"
import { inOrder } from "@tocsin/core/heart/model/OutboxRecord"
import {
  type DueRequest,
  type IncidentTimeline,
  Storage,
  type TimelineLimits,
} from "@tocsin/core/kernel/ports/Storage"
import { type Submit, withSubmit } from "@tocsin/core/kernel/ports/Submit"
import { decideExpiry, removeExpired } from "./expire.ts"
import { type KeyedMaps, labelsOf, MemoryTables } from "./MemoryTables.ts"
import { memoryNumbers } from "./MemoryNumbers.ts"
import { readRows } from "./readRows.ts"
import { counts, metricCounts } from "./systemCounts.ts"
import { transact } from "./transact.ts"
import type { SettledReads } from "@tocsin/core/kernel/ports/SettledReads"

/** One transaction follows another, so that all rows are settled. */
const settledReads = ({ history }: MemoryTables): SettledReads<never> => ({
  settledHistory: ({ from, to }, after = 0) =>
    Effect.sync(() => {
      let [first, last, settled] = [0, 0, after]
      for (const { received_at, seq } of history.values()) {
        settled = Math.max(settled, seq)
        if (seq <= after || received_at < from || received_at >= to) continue
        if (first === 0) first = seq
        last = seq
      }
      return { first, last, settled }
    }),
  settledIncidents: Effect.undefined,
})

/** Storage in Maps: nothing outlives the process. The reference for other storages, and fast for tests. */
export const layer: Layer.Layer<Storage> = Layer.sync(Storage, () => make(new MemoryTables()))

/** A storage on given tables, for callers that fill and keep them elsewhere. */
export const make = (tables: MemoryTables): Storage["Service"] =>
  Storage.of({
    transact: withSubmit(
      (command) => Clock.clockWith((clock) => Effect.succeed(transactNow(tables, command, clock))),
      submitTo(tables),
    ),
    orderOf: orderColumns,
    page: (request) => Effect.sync(() => readRows(tables, request)),
    agent: (agentId) => Effect.sync(() => tables.agents.get(agentId)),
    ...settledReads(tables),
    counts: (aliveSince) => Effect.sync(() => counts(tables, aliveSince)),
    metricCounts: Effect.sync(() => metricCounts(tables)),
    staleAgents: (...asked) => Effect.sync(() => staleAgents(tables, ...asked)),
    agentsWithPendingKey: (after, limit) =>
      Effect.sync(() =>
        Array.from(tables.agents.values())
          .filter(
            (agent) =>
              agent.pending_key_hash !== undefined && (after === undefined || agent.agent_id > after),
          )
          .map((agent) => agent.agent_id)
          .toSorted()
          .slice(0, limit),
      ),
    dueRows: (name, request) => Effect.sync(() => dueRows(tables, name, request)),
    rows: (name, keys) =>
      Effect.sync(() => keys.flatMap((key) => tableOf(tables, name).get(keyText(name, key)) ?? [])),
    checks: (checks) =>
      Effect.sync(() =>
        checks.flatMap((ref) => tables.checks.get(ref.registration_id)?.get(ref.check_id) ?? []),
      ),
    lastResults: (members) =>
      Effect.sync(() => members.flatMap((member) => lastResult(tables, member) ?? [])),
    expire: (piece) =>
      Effect.sync(() => {
        const { result, expired } = decideExpiry(tables, piece)
        removeExpired(expired)
        return result
      }),
    untilNextDue: (receivers, now) => Effect.sync(() => untilNextDue(tables, receivers, now)),
    hints: Stream.never,
    remoteChanges: Stream.never,
    check: (agentId, checkId) =>
      Effect.sync(() => tables.checks.get(tables.agents.get(agentId)?.registration_id ?? "")?.get(checkId)),
    incident: (id, limits) => Effect.sync(() => incidentTimeline(tables, id, limits)),
    operatorOfToken: (hash) =>
      Effect.sync(() =>
        Array.from(tables.keyed.operator.values()).find(
          (operator) => operator.token_hash === hash || operator.former_token_hash === hash,
        ),
      ),
    replicas: Effect.sync(() => Array.from(tables.keyed.replica.values())),
    policyVersions: (after, limit, upTo = LAST_VERSION) =>
      Effect.sync(() =>
        Array.from(tables.keyed.policy_version.values())
          .filter(({ version }) => version > after && version <= upTo)
          .toSorted((a, b) => b.version - a.version)
          .slice(0, limit),
      ),
    serviceHeartbeat: Effect.sync(() => tables.keyed.service_heartbeat.get("service")),
    establish: (name, value) =>
      Effect.sync(() => {
        const kept = tables.established.get(name) ?? value
        tables.established.set(name, kept)
        return kept
      }),
    probe: Effect.void,
    numbers: memoryNumbers(tables),
  })

const transactNow = <A>(tables: MemoryTables, command: Command<Outcome<A>>, clock: Clock.Clock): A =>
  transact(tables, command, Instant.fromNanos(clock.currentTimeNanosUnsafe())).committed()

const submitTo =
  (tables: MemoryTables): Submit =>
  (command, clock, resume) => {
    resume(attempt(() => transactNow(tables, command, clock)))
    return () => {}
  }

/** A defect ends a fiber, but would pass through the caller of a function. */
const attempt = <A>(run: () => A): Effect.Effect<A> => {
  try {
    return Effect.succeed(run())
  } catch (defect) {
    return Effect.die(defect)
  }
}

const staleAgents = (
  tables: MemoryTables,
  seenBefore: Instant.Instant,
  limit: number,
  twiceBefore: Instant.Instant | undefined,
): ReadonlyArray<AgentId> =>
  Array.from(tables.agents.values())
    .filter((agent) => isSilent(agent, seenBefore) || wasTwice(agent, twiceBefore))
    .map((agent) => agent.agent_id)
    .toSorted()
    .slice(0, limit)

const tableOf = <N extends KeyedName>({ keyed }: { readonly keyed: KeyedMaps }, name: N) => keyed[name]

const dueRows = <N extends EvaluatedName>(
  tables: MemoryTables,
  name: N,
  { after, limit, now }: DueRequest<N>,
): ReadonlyArray<KeyedRows[N]> =>
  Array.from(tableOf(tables, name).values())
    .filter((row) => row.next_evaluation_at !== undefined && row.next_evaluation_at <= now)
    .filter((row) => after === undefined || byEvaluation(row, after) > 0)
    .toSorted(byEvaluation)
    .slice(0, limit)

const lastResult = (tables: MemoryTables, member: MemberCheck): LastResult | undefined => {
  const { change_seq, check_id, incident_id, registration_id } = member
  const check = tables.checks.get(registration_id)?.get(check_id)
  if (check === undefined) return undefined
  const event = tables.history.get(tables.newestResults.get(registration_id)?.get(check_id) ?? 0)
  return {
    incident_id,
    status: check.status,
    output: check.summary,
    changed_at: tables.incidentChanges.get(incident_id)?.find(({ seq }) => seq === change_seq)?.changed_at,
    duration_ms: event?.observed_at === check.last_observed_at ? event.duration_ms : undefined,
    address: tables.keyed.reported_alert.get(keyText("reported_alert", member))?.address,
  }
}

const byEvaluation = comparing<KeyedRows[EvaluatedName]>(
  (row) => row.next_evaluation_at ?? 0n,
  (row) => row.agent_id,
  (row) => row.check_id,
  (row) => row.registration_id,
)

const untilNextDue = (
  tables: MemoryTables,
  receivers: ReadonlyArray<NotifierName>,
  now: Instant.Instant,
): Duration.Duration | undefined => {
  const isWanted = (row: { readonly receiver: NotifierName }) => receivers.includes(row.receiver)
  const alerts = Array.from(tables.keyed.alert.values()).filter(isWanted)
  const times = [
    ...tables.keyed.outbox
      .deliveriesOf(receivers)
      .flatMap(({ leased, waiting }) => [...waiting, leased])
      .flatMap((agenda) => agenda.nextAfter(now) ?? []),
    ...alerts.map(({ leased_until, next_at }) => Instant.max(next_at, leased_until ?? next_at)),
  ].filter((time) => time > now)
  const next = Instant.earliest(times)
  return next === undefined ? undefined : Duration.nanos((next - now) * 1_000n)
}

const incidentTimeline = (
  tables: MemoryTables,
  id: IncidentId,
  limits: TimelineLimits,
): IncidentTimeline | undefined => {
  const incident = tables.incidents.get(id)
  if (incident === undefined) return undefined
  const members = tables.keyed.incident_member
    .of("incident_id", id)
    .toSorted(
      (a, b) => Number(a.left_at !== undefined) - Number(b.left_at !== undefined) || compareMembers(a, b),
    )
  const outbox = tables.keyed.outbox.of("incident_id", id).toSorted((a, b) => inOrder(b, a))
  return {
    incident,
    members: members.slice(0, limits.members),
    labels: members.slice(0, limits.members).map((member) => labelsOf(tables, member)),
    changes: (tables.incidentChanges.get(id) ?? []).toReversed().slice(0, limits.changes),
    log: (tables.incidentLog.get(id) ?? []).toReversed().slice(0, limits.log),
    outbox: outbox.slice(0, limits.outbox),
  }
}
