import { removeIdlePending } from "@tocsin/core/heart/admission/removeAgent"
import type { CheckResultEvent, EventBatchRequest } from "@tocsin/contract/v1/Requests"
import { sweepStaleAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { removeCheck, resetClock } from "@tocsin/core/heart/checks/checkActions"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { evaluateExpectations } from "@tocsin/core/heart/overdue/evaluateExpectations"
import { lastOutage, writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Duration, Effect } from "effect"
import { evaluateDueIncidents } from "@tocsin/core/heart/evaluation/evaluateIncidents"
import { silenceOn } from "./SilenceAct.ts"
import { runAction } from "./runAction.ts"
import * as delivery from "./deliveryActions.ts"
import { purge } from "../expireAll.ts"
import { expectationOf } from "./ExpectationPlan.ts"
import { followEvaluation } from "./followEvaluation.ts"
import type { EventPlan, ModelAction } from "./ModelAction.ts"
import type { KeyName } from "./ModelNames.ts"
import type { Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import { sha256 } from "../alertSender.ts"
import { eventId, heartbeatOf, keyOf } from "../samples.ts"
import { signedBy } from "../signedBy.ts"
import { transact } from "../transact.ts"

/** The requests so far, so that each can be sent again. */
export interface Sent {
  readonly events: Array<CheckResultEvent>
  readonly batches: Array<EventBatchRequest & { readonly key: string }>
}

/** The name of the key that signs for an agent. */
export const keyName = (agent: string, key: KeyName): string =>
  key === "of another" ? "B own" : `${agent} ${key}`

const eventOf = (plan: EventPlan, sent: Sent, now: Instant.Instant): CheckResultEvent => {
  const reused = plan.id === "new" ? undefined : sent.events[plan.id]
  const event: CheckResultEvent = {
    event_id: reused?.event_id ?? eventId(sent.events.length),
    check_id: CheckId.make(plan.check),
    observed_at: Instant.fromMicros(now + BigInt(plan.observed)),
    status: plan.status,
    exit_code: plan.exit,
    duration_ms: 1,
    output_truncated: false,
    notifications_enabled: !plan.silent,
    ...(plan.output !== undefined && { output: plan.output }),
    ...(plan.incident_key !== undefined && { incident_key: IncidentKey.make(plan.incident_key) }),
  }
  if (reused === undefined) sent.events.push(event)
  return event
}

const unblockNth = Effect.fnUntraced(function* (replica: Replica, nth: number) {
  const rows = yield* rowsOf(replica, "blacklist")
  return yield* replica.admission.unblock(rows[nth % rows.length]?.blacklist_id ?? "f".repeat(64))
})

const checkOf = ({ agent, check }: { readonly agent: string; readonly check: string }) => ({
  agent_id: AgentId.make(agent),
  check_id: CheckId.make(check),
})

/** One agent after the other, so that every storage draws the same ids. */
const lookForOverdue = Effect.fnUntraced(function* ({ incidents, storage }: Replica) {
  const now = yield* Instant.now
  const due = yield* storage.dueRows("expectation", { now, after: undefined, limit: delivery.ALL })
  const serviceHeartbeat = yield* storage.serviceHeartbeat
  const outageEnd = lastOutage(serviceHeartbeat, now, defaultRules)?.ended_at
  for (const agentId of new Set(due.map((row) => row.agent_id).toSorted())) {
    const checkIds = due.filter((row) => row.agent_id === agentId).map((row) => row.check_id)
    const input = { agentId, checkIds, outageEnd, rules: defaultRules, incidents, sha256 }
    yield* transact(storage, evaluateExpectations(input))
  }
})

const IDLE = Duration.hours(1)

/** Something to do to one storage and then, the same, to another. */
export type Deed = (
  replica: Replica,
) => Effect.Effect<unknown, { readonly _tag: string; readonly reason?: string }>

/** Completes an action with IDs, instants and requests. Appends new events to `sent`. */
export const commandOf = (action: ModelAction, sent: Sent, now: Instant.Instant): Deed => {
  const by = signedBy("ann")
  switch (action.act) {
    case "heartbeat": {
      const request = heartbeatOf(action.agent, {
        observed_at: Instant.fromMicros(now + BigInt(action.observed)),
        hostname: action.hostname,
        features: { push: true, metrics: action.metrics },
        ...(action.labels && { labels: { os: "linux", ["__proto__"]: "plain" } }),
      })
      return ({ ingest }) => ingest.heartbeat(keyOf(keyName(action.agent, action.key)), request)
    }
    case "events": {
      const batch = {
        agent_id: AgentId.make(action.agent),
        events: action.events.map((plan) => eventOf(plan, sent, now)),
        key: keyName(action.agent, action.key),
      }
      sent.batches.push(batch)
      return ({ ingest }) => ingest.events(keyOf(batch.key), batch)
    }
    case "declare": {
      const declaration = {
        agent_id: AgentId.make(action.agent),
        request: { checks: action.checks.map(expectationOf), complete: action.complete },
      }
      return ({ ingest }) => ingest.expectations(keyOf(keyName(action.agent, action.key)), declaration)
    }
    case "lookForOverdue":
      return lookForOverdue
    case "sendAgain": {
      const batch = sent.batches[action.nth % sent.batches.length]
      return ({ ingest }) => (batch === undefined ? Effect.void : ingest.events(keyOf(batch.key), batch))
    }
    case "enroll":
      return ({ ingest, admission }) =>
        Effect.andThen(
          ingest.heartbeat(
            keyOf(keyName(action.agent, "own")),
            heartbeatOf(action.agent, { observed_at: now }),
          ),
          admission.accept(AgentId.make(action.agent)),
        )
    case "accept":
    case "block":
    case "remove":
      return ({ admission }) => admission[action.act](AgentId.make(action.agent))
    case "acceptAll":
      return ({ admission }) => admission.acceptAll(action)
    case "blockAll":
    case "removeAll":
    case "unblockAll":
      return ({ admission }) => admission[action.act]
    case "unblock":
      return (replica) => unblockNth(replica, action.nth)
    case "resetClock":
      return ({ storage }) => transact(storage, resetClock(checkOf(action), by))
    case "removeCheck":
      return ({ storage, incidents }) => transact(storage, removeCheck(checkOf(action), incidents, by))
    case "claim":
      return (replica) => delivery.claim(replica, action)
    case "deliver":
      return (replica) => delivery.deliver(replica, action)
    case "settle":
      return (replica) => delivery.settle(replica, action)
    case "resend":
      return (replica) => delivery.resend(replica, action)
    case "replay":
      return (replica) => delivery.replayNth(replica, action, by)
    case "discardUnclaimed":
      return (replica) => delivery.discard(replica, action)
    case "acknowledge":
    case "withdraw":
    case "note":
      return (replica) => runAction(replica, action, by, now)
    case "silence":
    case "expireSilence":
      return (replica) => silenceOn(replica, action, by, now)
    case "evaluateDue":
      return ({ storage, incidents }) => transact(storage, evaluateDueIncidents(incidents, action.limit))
    case "service_heartbeat":
      return ({ storage }) => transact(storage, writeServiceHeartbeat(defaultRules))
    case "sweep":
      return ({ storage, commits, incidents }) =>
        sweepStaleAgents(storage, commits, { rules: defaultRules, incidents, limit: delivery.ALL })
    case "removeIdle":
      return ({ storage, incidents }) =>
        transact(storage, removeIdlePending({ idleFor: IDLE, incidents, limit: delivery.ALL }))
    case "expire":
      return (replica) => delivery.expire(replica, action)
    case "purge":
      return ({ storage }) => purge(storage, action.limit)
    case "look":
      return (replica) => followEvaluation(replica, action.look)
    case "wait":
    case "compare":
      return () => Effect.void
  }
}
