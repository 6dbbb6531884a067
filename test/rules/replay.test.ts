import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { CheckResultEvent } from "@tocsin/core/contract/EventBatchRequest"
import * as Instant from "@tocsin/core/contract/Instant"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventId } from "../storage/samples.ts"
import { batchReply, type EventsAction, type Observation } from "./Action.ts"
import { integer } from "./arbitraries.ts"
import { membersEver, moved, type Moved, type Rows } from "./Rows.ts"
import { AGENTS, enrollment, KEYS, life, notifiers, properLife, SIZE, type Step } from "./Scenario.ts"
import { openWorld, type World } from "./World.ts"

const arbitrary = { runs: 200, size: SIZE, maxShrinks: 2_000 }

/** Names of the fields of a row that changed, after what kind of row it is; `gone` and `new` for whole rows. */
const changedFields = (before: Rows, after: Rows): ReadonlyArray<string> => {
  const fields = <Row extends object>(kind: string, rows: ReadonlyArray<Moved<Row>>) =>
    rows.flatMap((row) => {
      if (row.before === undefined) return [`${kind} new`]
      if (row.after === undefined) return [`${kind} gone`]
      const was = new Map(Object.entries(row.before))
      return Object.entries(row.after).flatMap(([name, value]) => (was.get(name) === value ? [] : [`${kind} ${name}`]))
    })
  return [
    ...fields("agent", moved(before.agents, after.agents)),
    ...fields("key", moved(before.keys, after.keys)),
    ...fields("check", moved(before.checks, after.checks)),
    ...fields("incident", moved(before.incidents, after.incidents)),
    ...fields("member", moved(before.members, after.members)),
    ...fields("outbox item", moved(before.outbox, after.outbox)),
    ...(before.history.length === after.history.length ? [] : ["history"]),
    ...(before.stories.length === after.stories.length ? [] : ["story"]),
  ].toSorted()
}

/** All agents make contact, so that none of them is dead. */
const contacts: ReadonlyArray<Step> = AGENTS.map((agent_id, at) => ({
  step: "heartbeat",
  agent_id,
  key: KEYS[at] ?? KEYS[0],
  lagSeconds: 0,
  hostname: "h1",
}))

/** The batches that were applied since their agent registered last. */
const repeatable = (world: World, observations: ReadonlyArray<Observation>): ReadonlyArray<EventsAction> => {
  const isOfPresentAgent = (agentId: string, at: number): boolean =>
    observations.slice(at).every(({ after }) => after.agents.get(agentId) === undefined || true) &&
    new Set(observations.slice(at).map(({ after }) => after.agents.get(agentId)?.registration_id)).size === 1
  return observations.flatMap(({ action, reply }, at) =>
    action.action === "events" && batchReply(reply) !== undefined && isOfPresentAgent(action.request.agent_id, at)
      ? [action]
      : [],
  )
}
