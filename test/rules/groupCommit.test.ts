import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import type { Action, Observation } from "./Action.ts"
import { integer } from "../properties/arbitraries.ts"
import { gatheringStorage } from "./gatheringStorage.ts"
import type { Rows } from "../service/Rows.ts"
import { admission, crowd, enrollment, lifeWithRemovals, notifiers, SIZE, type Step } from "./Scenario.ts"
import { viewOfRows } from "./views.ts"
import type { ServiceOptions } from "../service/Service.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(150), size: SIZE, maxShrinks: 2_000 }

/**
 * Actions that are one command each and name the rows that they need. A command that searches the
 * tables, such as a sweep, would not find its group's changes, so storages give it a separate
 * transaction.
 */
const ONE_COMMAND: ReadonlySet<Action["action"]> = new Set([
  "heartbeat",
  "events",
  "accept",
  "block",
  "remove",
  "reset_clock",
  "remove_check",
  "deliver",
])

/** Runs of at most `longest` actions that can share a transaction; others by themselves. */
const groupsOf = (observations: ReadonlyArray<Observation>, longest: number) => {
  const groups: Array<Array<Observation>> = []
  for (const observed of observations) {
    const last = groups.at(-1)
    const share = [...(last ?? []), observed]
    const mayJoin = share.length <= longest && share.every(({ action }) => ONE_COMMAND.has(action.action))
    if (last !== undefined && mayJoin) last.push(observed)
    else groups.push([observed])
  }
  return groups
}

/**
 * All rows, but for ids that are drawn in the order in which a search happens to find several
 * agents.
 */
const allOf = (rows: Rows) => ({
  ...viewOfRows(rows),
  agents: new Map(
    Array.from(rows.agents.values(), ({ heartbeat_incident_id, ...agent }) => [
      agent.agent_id,
      { ...agent, isDead: heartbeat_incident_id !== undefined },
    ]),
  ),
  keys: rows.keys,
})

/** Another hostname raises a stamp, whose ID is drawn last in its transaction: no agent changes its name. */
const withOneHostname = (step: Step): Step => (step.step === "heartbeat" ? { ...step, hostname: "h1" } : step)

const comesToTheSame = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  longest: number,
  options: ServiceOptions,
) {
  const single = yield* driveService(options)
  const observations = yield* single.play(steps.map(withOneHostname))

  let expect = (_: number): void => {}
  const clientOf = (storage: Storage["Service"]) => {
    const gathering = gatheringStorage(storage)
    expect = gathering.expect
    return gathering.storage
  }
  const grouped = yield* driveService({ ...options, clientOf })
  for (const group of groupsOf(observations, longest)) {
    expect(group.length)
    const replies = yield* Effect.forEach(group, ({ action }) => grouped.perform(action), {
      concurrency: "unbounded",
    })
    assert.deepStrictEqual(
      replies.map(({ reply }) => reply),
      group.map(({ reply }) => reply),
    )
  }
  assert.deepStrictEqual(allOf(grouped.rows()), allOf(single.rows()))
})

describe("commands that share a transaction", () => {
  it.effect.prop(
    "have the answers and rows of separate transactions: results",
    { steps: lifeWithRemovals, notifiers, longest: integer(2, 8) },
    ({ steps, notifiers, longest }) => comesToTheSame([...enrollment, ...steps], longest, { notifiers }),
    { arbitrary },
  )

  it.effect.prop(
    "have the answers and rows of separate transactions: keys",
    { steps: admission, longest: integer(2, 8) },
    ({ steps, longest }) => comesToTheSame(steps, longest, { maxPendingAgents: 2 }),
    { arbitrary },
  )

  it.effect(
    "have the answers and rows of separate transactions: an unblocked key that registers another agent",
    () => {
      const heartbeat = (agent_id: string, key: string): Step => {
        return { step: "heartbeat", agent_id, key, lagSeconds: 0, hostname: "h1" }
      }
      const steps: ReadonlyArray<Step> = [
        heartbeat("a", "key 1"),
        { step: "block_all" },
        heartbeat("a", "key 2"),
        { step: "unblock", which: 0 },
        heartbeat("b", "key 1"),
        { step: "remove", agent_id: "a" },
      ]
      return comesToTheSame(steps, steps.length, {})
    },
  )

  it.effect.prop(
    "have the answers and rows of separate transactions: many members in one incident",
    { steps: crowd, longest: integer(2, 8) },
    ({ steps, longest }) => comesToTheSame([...enrollment, ...steps], longest, {}),
    { arbitrary: { ...arbitrary, runs: propertyRuns(20) } },
  )
})
