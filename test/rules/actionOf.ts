import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration } from "effect"
import { eventId, start } from "@tocsin/testing/samples"
import type { Action, EventsAction } from "./Action.ts"
import { deliveryTrigger } from "./deliver.ts"
import type { Rows } from "../service/Rows.ts"
import type { EventDraft, Step } from "./Scenario.ts"

/** The state at a step's turn. */
interface Circumstances {
  readonly rows: Rows
  /** The batches that were applied. */
  readonly applied: ReadonlyArray<EventsAction>
  /** Its position among the steps, from 1. It sets the agents' clocks and numbers its events. */
  readonly number: number
}

const SHARED_IDS = 1_000_000
const EVENTS_PER_STEP = 100

const pick = <A>(from: Iterable<A>, which: number): A | undefined => {
  const all = Array.from(from)
  return all[which % all.length]
}

const agentsClock = (number: number, lagSeconds: number): Instant.Instant =>
  Instant.plus(start, Duration.seconds(number - lagSeconds))

const event = (draft: EventDraft, id: number, stepNumber: number): CheckResultEvent => ({
  event_id: eventId(id),
  check_id: CheckId.make(draft.check_id),
  observed_at: agentsClock(stepNumber, draft.lagSeconds),
  status: draft.status,
  exit_code: draft.exit_code,
  duration_ms: 1,
  output_truncated: false,
  notifications_enabled: draft.notifications_enabled,
  ...(draft.output !== undefined && { output: draft.output }),
  ...(draft.incident_key !== undefined && { incident_key: IncidentKey.make(draft.incident_key) }),
})

/**
 * The events of a batch, each numbered by its place. `sent` are those that its agent has sent
 * before.
 */
const events = (
  drafts: ReadonlyArray<EventDraft>,
  stepNumber: number,
  sent: ReadonlyArray<CheckResultEvent>,
): ReadonlyArray<CheckResultEvent> => {
  const made: Array<CheckResultEvent> = []
  const sameOfCheck = (one: CheckResultEvent): CheckResultEvent | undefined =>
    [...sent, ...made].find((other) => other.event_id === one.event_id && other.check_id === one.check_id)
  for (const draft of drafts) {
    const newId = stepNumber * EVENTS_PER_STEP + made.length
    if (draft.id === "new") made.push(event(draft, newId, stepNumber))
    else if ("shared" in draft.id) made.push(event(draft, SHARED_IDS + draft.id.shared, stepNumber))
    else if ("sharedByChecks" in draft.id) {
      const one = event(draft, SHARED_IDS + draft.id.sharedByChecks, stepNumber)
      made.push(sameOfCheck(one) ?? one)
    } else made.push(made.at(-draft.id.again) ?? event(draft, newId, stepNumber))
  }
  return made
}

/** Fills a step in; `undefined` where there is nothing that it could act on. */
export const actionOf = (step: Step, { rows, applied, number }: Circumstances): Action | undefined => {
  switch (step.step) {
    case "wait":
      return { action: "wait", millis: step.millis }
    case "heartbeat": {
      const { key, lagSeconds, hostname } = step
      const agent_id = AgentId.make(step.agent_id)
      const observed_at = agentsClock(number, lagSeconds)
      const features = { push: true, metrics: false }
      return { action: "heartbeat", key, request: { agent_id, observed_at, hostname, features } }
    }
    case "batch": {
      const agent_id = AgentId.make(step.agent_id)
      const sent = applied.flatMap(({ request }) => (request.agent_id === agent_id ? request.events : []))
      return {
        action: "events",
        key: step.key,
        request: { agent_id, events: events(step.events, number, sent) },
      }
    }
    case "replay":
      return pick(applied, step.which)
    case "accept":
    case "block":
    case "remove":
      return { action: step.step, agent_id: AgentId.make(step.agent_id) }
    case "accept_all":
      return { action: "accept_all", includeRotation: step.includeRotation }
    case "block_all":
    case "remove_all":
    case "unblock_all":
    case "purge":
    case "sweep":
      return { action: step.step }
    case "unblock": {
      const blocked = Array.from(rows.keys.values()).flatMap((key) => (key.state === "blocked" ? [key] : []))
      const id = pick(blocked, step.which)?.blacklist_id
      return id && { action: "unblock", id }
    }
    case "restart":
      return { action: "restart", preseeded: step.preseeded }
    case "reset_clock":
    case "remove_check": {
      const check = pick(rows.checks.values(), step.which)
      return check && { action: step.step, check }
    }
    case "deliver": {
      const moves = Array.from(rows.outbox.values()).flatMap((item) => {
        const trigger = deliveryTrigger(rows, item, step.answer)
        return trigger === undefined ? [] : [{ action: "deliver", item, trigger } as const]
      })
      return pick(moves, step.which)
    }
  }
}
