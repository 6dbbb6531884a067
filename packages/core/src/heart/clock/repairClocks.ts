import { Array as Arr, type Duration, Effect } from "effect"
import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { ALL_AGENTS, eachPage, OPEN_INCIDENTS } from "../../kernel/engine/lists/readPage.ts"
import { knownBy } from "../model/Announced.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { quietSince } from "../firings/Hold.ts"
import { ackOf, isRetried, type OutboxRecord, UNENDED } from "../model/OutboxRecord.ts"
import { isFarAhead, lastOutage, serviceHeartbeatEvery, writeServiceHeartbeat } from "../liveness/outage.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import { WITHDRAWN_AFTER } from "../overdue/listedChecks.ts"
import { evaluationAfter, judgeExpectation } from "../overdue/dueTime.ts"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import { clampToNow } from "../../kernel/model/clampToNow.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"

const MOMENTS = [
  "opened_at",
  "reached_warning_at",
  "reached_unknown_at",
  "reached_critical_at",
  "left_unknown_at",
  "left_critical_at",
  "forgotten_unknown_at",
  "forgotten_critical_at",
  "steps_began_at",
  "next_evaluation_at",
] as const satisfies ReadonlyArray<keyof IncidentRecord>

/**
 * After a clock was set back: these incidents opened by now, and their timers, holds, notifications and
 * alerts wait no longer than they were to (docs/decisions/0032).
 */
const repairIncidents = commandOf(function* (unit, ids: ReadonlyArray<IncidentId>): Decision<void> {
  const { now } = unit
  yield* load(unit, { incidents: ids })
  for (const id of new Set(ids)) {
    const found = unit.incidents.get(id)
    if (found === undefined) continue
    const incident = clampToNow(found, MOMENTS, now)
    // Holds and steps count from these moments.
    if (found.state === "open") unit.incidents.put({ ...incident, next_evaluation_at: now })
    else if (incident !== found) unit.incidents.put(incident)
    for (const item of unit.outbox.group(id))
      if (item.updated_at > now) unit.outbox.put(movedBack(item, found, now))
    repairAlerts(unit, id)
  }
})

/** Alerts wait a minute at most, so they are due. A post under way counts for nothing, and is repeated. */
const repairAlerts = (unit: UnitOfWork, id: IncidentId): void => {
  for (const found of unit.alerts.group(id)) {
    const alert = clampToNow(found, ["next_at", "ended_at"], unit.now)
    if (alert !== found || alert.leased_until !== undefined)
      unit.alerts.put({ ...alert, leased_until: undefined })
  }
}

/**
 * An item that was written ahead, with its moments moved back by as much: a retry still waits as long as
 * it was to. One of a severity that its incident forgot since stays before that. When it was first attempted changes
 * only where it is in retry: for how long decides on who is on call.
 */
const movedBack = (item: OutboxRecord, incident: IncidentRecord, now: Instant.Instant): OutboxRecord => {
  const { age_starts_at, leased_until, next_attempt_at, updated_at } = item
  const back = (at: Instant.Instant): Instant.Instant => Instant.fromMicros(at - updated_at + now)
  const latest = knownBy(incident, item) === item.severity ? now : Instant.fromMicros(now - 1n)
  // Its age when it failed distinguishes a refusal from the bounds on attempts and age.
  if (item.state === "failed")
    return { ...item, age_starts_at: Instant.min(back(age_starts_at), latest), updated_at: now }
  const young = { ...item, age_starts_at: Instant.min(age_starts_at, latest) }
  // A lease goes by the storage's clock. One that ends before the item was written shows that this was right.
  if (item.state === "sending")
    return leased_until === undefined || leased_until <= updated_at
      ? young
      : { ...young, leased_until: back(leased_until) }
  const isWaiting = next_attempt_at !== undefined && next_attempt_at > now
  const moved = {
    ...young,
    updated_at: now,
    next_attempt_at: isWaiting ? back(next_attempt_at) : next_attempt_at,
  }
  return item.state === "retry" ? retryMovedBack(item, moved, incident, now) : moved
}

/** The time that it was in retry before an acknowledgement held it stays: both moments move by as much. */
const retryMovedBack = (
  before: OutboxRecord,
  item: OutboxRecord,
  { ack_at }: IncidentRecord,
  now: Instant.Instant,
): OutboxRecord => {
  const moved = clampToNow(item, ["first_attempted_at"], now)
  const since = quietSince(before) ?? (isRetried(before) ? ack_at : undefined)
  const by = inRetryFrom(before) - inRetryFrom(moved)
  if (since === undefined || by === 0n) return moved
  const ack = { by: "ack", ...ackOf(before), since: Number(since - by) } as const
  return { ...moved, holds: [ack] }
}

const inRetryFrom = ({ age_starts_at, first_attempted_at }: OutboxRecord): Instant.Instant =>
  Instant.max(first_attempted_at ?? age_starts_at, age_starts_at)

/** Checks that others report are looked at now, because each look counts from the last report. */
const repairReports = (unit: UnitOfWork, { registration_id }: AgentRecord): void => {
  const [alerts, mailed] = [unit.of("reported_alert"), unit.of("mailed_check")]
  for (const found of alerts.group(registration_id)) {
    const alert = clampToNow(found, ["next_evaluation_at"], unit.now)
    if (alert !== found) alerts.put(alert)
  }
  for (const found of mailed.group(registration_id)) {
    // A later mail has a Date that is earlier than that of a mail which a clock ahead let count.
    const check = clampToNow(found, ["next_evaluation_at", "sent_at"], unit.now)
    if (check !== found) mailed.put(check)
  }
}

/**
 * After a clock was set back: the agent was seen by now, its checks have reported by now, and each
 * check that must report is evaluated no later than it may be late (docs/decisions/0032). Writes
 * only what differs.
 */
const repairAgent = commandOf(function* (
  unit,
  {
    agentId: agent_id,
    ...settings
  }: {
    readonly agentId: AgentId
    /** When the service's last outage ended, if there was one. */
    readonly outageEnd: Instant.Instant | undefined
    readonly staleAfter: Duration.Duration
  },
): Decision<void> {
  const { now } = unit
  yield* load(unit, { agents: [agent_id] })
  const found = unit.agents.get(agent_id)
  if (found === undefined) return
  const agent = clampToNow(found, ["last_seen_at", "reachable_from", "twice_at"], now)
  if (agent !== found) unit.putAgent(agent)
  yield* load(unit, {
    groups: {
      check_label: [agent],
      expectation: [agent],
      reported_alert: [agent],
      mailed_check: [agent],
      listed_check: [agent],
    },
  })
  const expectations = unit.expectations.group(agent.registration_id)
  const ofOthers = (["reported_alert", "mailed_check"] as const).flatMap((table) =>
    unit.of(table).group(agent.registration_id),
  )
  const check_ids = new Set([...expectations, ...ofOthers].map(({ check_id }) => check_id))
  yield* load(unit, { checks: { agent_id, check_ids: Array.from(check_ids) } })
  for (const ref of checksOf(agent, Array.from(check_ids))) {
    const reported = unit.checks.get(ref)
    const check = reported && clampToNow(reported, ["received_at"], now)
    if (check !== undefined && check !== reported) unit.checks.put(check)
  }
  for (const labelled of unit.of("check_label").group(agent.registration_id)) {
    const label = clampToNow(labelled, ["labelled_at"], now)
    if (label !== labelled) unit.of("check_label").put(label)
  }
  repairReports(unit, agent)
  // A withdrawn check waits for its deletion, which may come late and not early.
  const withdrawn = Instant.plus(now, WITHDRAWN_AFTER)
  for (const before of unit.of("listed_check").group(agent.registration_id)) {
    const listed = before.state === "leaving" ? clampToNow(before, ["next_evaluation_at"], withdrawn) : before
    if (listed !== before) unit.of("listed_check").put(listed)
  }
  for (const expected of expectations) {
    const check = unit.checks.get(expected)
    const expectation = clampToNow(expected, ["expected_from", "running_since", "alone_due_at"], now)
    const judged = judgeExpectation({ expectation, agent, check, ...settings }, now)
    const latest = judged.verdict === "in_time" ? evaluationAfter(judged.earliest) : now
    const isLate = expectation.next_evaluation_at !== undefined && expectation.next_evaluation_at > latest
    if (isLate) unit.expectations.put({ ...expectation, next_evaluation_at: latest })
    else if (expectation !== expected) unit.expectations.put(expectation)
  }
})

const RESOLVED = { list: "incidents", filter: { state: "resolved" }, sort: "resolved_at" } as const

/** Agents at a time: storages that commit in groups fill them. */
const AGENTS_AT_A_TIME = 16
/** Incidents per transaction: each is locked with its outbox. */
const INCIDENTS = 100

/**
 * Sets right what a clock that has been set back dated ahead, so that nothing waits until the former,
 * wrong time (docs/decisions/0032). Safe to repeat, and with several replicas.
 */
export const repairClocks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  commits: Commits["Service"],
  rules: RuleOptions,
): Effect.fn.Return<void, StorageError> {
  const now = yield* Instant.now
  const serviceHeartbeat = yield* storage.serviceHeartbeat
  const settings = {
    outageEnd: lastOutage(serviceHeartbeat, now, rules)?.ended_at,
    staleAfter: rules.staleAfter,
  }
  yield* eachPage(storage, ALL_AGENTS, (agents) =>
    Effect.forEach(
      agents,
      ({ agent_id }) => commits.transact(repairAgent({ agentId: agent_id, ...settings })),
      { concurrency: AGENTS_AT_A_TIME, discard: true },
    ),
  )
  const setIncidents = (ids: ReadonlyArray<IncidentId>) =>
    Effect.forEach(Arr.chunksOf(ids, INCIDENTS), (piece) => commits.transact(repairIncidents(piece)), {
      discard: true,
    })
  yield* eachPage(storage, OPEN_INCIDENTS, (open) => setIncidents(open.map(({ id }) => id)))
  // Of all others, those that were written ahead: the latest.
  yield* eachPage(storage, { ...RESOLVED, direction: "desc" }, (resolved) => {
    const ahead = resolved.filter(({ resolved_at }) => resolved_at !== undefined && resolved_at > now)
    return Effect.as(setIncidents(ahead.map(({ id }) => id)), ahead.length === resolved.length)
  })
  for (const state of UNENDED) {
    const latest = { list: "outbox", filter: { state }, sort: "updated_at", direction: "desc" } as const
    yield* eachPage(storage, latest, (items) => {
      const ahead = items.filter(({ updated_at }) => updated_at > now)
      return Effect.as(
        setIncidents(ahead.map(({ incident_id }) => incident_id)),
        ahead.length === items.length,
      )
    })
  }
})

/**
 * Leaves the service heartbeat each time it runs. Where a service heartbeat far ahead shows that a clock was set
 * back, it also sets right what else that clock dated ahead. The service heartbeat is that of any process; a
 * process whose own clock was ahead, while others left right service heartbeats, knows by its last one.
 */
export const keepServiceHeartbeat = (
  storage: Storage["Service"],
  commits: Commits["Service"],
  rules: RuleOptions,
): Effect.Effect<void, StorageError> => {
  const leave = commits.transact(writeServiceHeartbeat(rules))
  let left: Instant.Instant | undefined
  let isWrong = false
  return Effect.gen(function* () {
    const now = yield* Instant.now
    const isAhead = yield* leave
    isWrong ||= isAhead || (left !== undefined && isFarAhead(left, now, rules))
    left = now
    if (!isWrong) return
    yield* Effect.logWarning(
      "a clock was ahead and has been corrected; future timestamps are treated as now: synchronize it with NTP",
    )
    // Many agents may take longer than the stale threshold: no outage.
    const leaving = Effect.forever(Effect.andThen(Effect.sleep(serviceHeartbeatEvery(rules)), leave))
    yield* Effect.raceFirst(repairClocks(storage, commits, rules), leaving)
    isWrong = false
    yield* commits.transact(writeServiceHeartbeat(rules, { isRight: true }))
  })
}

export const serviceHeartbeatChore = ({ commits, rules, storage }: ChoreServices): Chore => ({
  name: "leaving the service heartbeat",
  pause: idlePause(serviceHeartbeatEvery(rules)),
  piece: Effect.as(keepServiceHeartbeat(storage, commits, rules), false),
})
