import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { EventId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import { quoted } from "../tables/columnArrays.ts"
import type { Versioned } from "./AgentCache.ts"

/** What a group of decisions made of one agent, and the versions they rely on. */
export interface AgentUpdate {
  readonly agent: Versioned<AgentRecord>
  readonly checks: ReadonlyArray<Versioned<CheckRecord>>
}

// Written out, not made by columnArrays from objects of these columns: each unchanged result comes by here, and it takes a
// quarter of the time.

/** The columns of the agents of updates as array literals, in the order of the verifying statement's parameters. */
export const agentArrays = (updates: ReadonlyArray<AgentUpdate>): ReadonlyArray<string> => {
  let agentIds = ""
  let versions = ""
  let observed = ""
  let seen = ""
  let counts = ""
  for (const { agent, checks } of updates) {
    agentIds += `,${quoted(agent.row.agent_id)}`
    versions += `,${agent.version}`
    observed += `,${agent.row.observed_at}`
    seen += `,${agent.row.last_seen_at}`
    counts += `,${checks.length}`
  }
  return [agentIds, versions, observed, seen, counts].map(literal)
}

/** The columns of their checks, each with the place of its agent among the updates, from 1 on. */
export const checkArrays = (updates: ReadonlyArray<AgentUpdate>): ReadonlyArray<string> => {
  let places = ""
  let checkIds = ""
  let versions = ""
  let observed = ""
  let received = ""
  let summaries = ""
  let eventIds = ""
  let place = 0
  for (const { checks } of updates) {
    place += 1
    const instant = rememberingDigits()
    for (const { row, version } of checks) {
      places += `,${place}`
      checkIds += `,${quoted(row.check_id)}`
      versions += `,${version}`
      observed += `,${row.last_observed_at}`
      received += `,${instant(row.received_at)}`
      summaries += row.summary === undefined ? ",NULL" : `,${quoted(row.summary)}`
      eventIds += `,${jsonOf(row.seen_event_ids)}`
    }
  }
  return [places, checkIds, versions, observed, received, summaries, eventIds].map(literal)
}

const literal = (elements: string): string => `{${elements.slice(1)}}`

/** The digits of an instant; those of the last one are at hand, because results of a batch are received at once. */
const rememberingDigits = () => {
  let last: Instant | undefined
  let digits = ""
  return (instant: Instant): string => {
    if (instant !== last) {
      last = instant
      digits = String(instant)
    }
    return digits
  }
}

/** Event ids as JSON in an element of an array literal. They are UUIDs: nothing in them needs an escape. */
const jsonOf = (eventIds: ReadonlyArray<EventId>): string =>
  `"[${eventIds.map((id) => `\\"${id}\\"`).join(",")}]"`
