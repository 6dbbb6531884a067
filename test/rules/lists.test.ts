import type { Incident } from "@tocsin/contract/v1/Resources"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { OutboxState, Severity } from "@tocsin/contract/formats/Status"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { membersEver } from "../service/Rows.ts"
import { AGENTS, enrollment, life, type Step, SIZE } from "./Scenario.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(80), size: SIZE, maxShrinks: 1_000 }
const limit = 500

/**
 * Asserts that no item comes before one that ranks higher: by the first of these numbers that
 * differs.
 */
const assertDescending = <Item>(
  items: ReadonlyArray<Item>,
  ...ranks: ReadonlyArray<(item: Item) => number | bigint>
): void => {
  for (const [at, item] of items.entries()) {
    const next = items[at + 1]
    const rank = next && ranks.find((of) => of(item) !== of(next))
    if (next !== undefined && rank !== undefined) assert.isTrue(rank(item) > rank(next), `place ${at}`)
  }
}

const SEVERITY: Readonly<Record<Severity, number>> = { warning: 1, unknown: 2, critical: 3 }
const openFirst = (incident: Incident): number => (incident.state === "open" ? 1 : 0)
const worstFirst = (incident: Incident): number => SEVERITY[incident.severity]
const newestFirst = (incident: Incident): bigint => incident.opened_at
const unresolvedFirst = (incident: Incident): bigint => incident.resolved_at ?? 2n ** 80n

const lived = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const driven = yield* driveService({ notifiers: ["debug", "webhook"] })
  yield* driven.play([...enrollment, ...steps])
  return { queries: driven.queries(), rows: driven.rows() }
})

describe("the order", () => {
  it.effect.prop(
    "of agents and checks is bytewise by their ids",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const { queries, rows } = yield* lived(steps)
        const agents = (yield* queries.agents({ limit })).items.map((agent) => agent.agent_id)
        assert.deepStrictEqual<ReadonlyArray<string>>(agents, Array.from(rows.agents.keys()).toSorted())
        const checks = (yield* queries.checks({ limit })).items.map((check) => [
          check.agent_id,
          check.check_id,
        ])
        const expected = agents.flatMap((agentId) =>
          Array.from(rows.checks.values())
            .filter((check) => check.agent_id === agentId)
            .map((check) => check.check_id)
            .toSorted()
            .map((checkId) => [agentId, checkId]),
        )
        assert.deepStrictEqual(checks, expected)
      }),
    { arbitrary },
  )

  it.effect.prop(
    "of history and blacklist is newest stored first",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const { queries, rows } = yield* lived(steps)
        const history = (yield* queries.history({ limit })).items
        const expected = rows.history.toReversed().map(({ registration_id: _, ...event }) => event)
        assert.deepStrictEqual<ReadonlyArray<object>>(history, expected)
        const blacklist = (yield* queries.blacklist({ limit })).items
        const blocked = Array.from(rows.keys.values()).filter((key) => key.state === "blocked")
        assert.lengthOf(blacklist, blocked.length)
        assertDescending(blacklist, (item) => item.created_at)
      }),
    { arbitrary },
  )

  it.effect.prop(
    "of incidents is the requested one, and ascending is the reverse of descending",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const { queries, rows } = yield* lived(steps)
        const orders = {
          status: [openFirst, worstFirst, newestFirst],
          opened_at: [newestFirst],
          resolved_at: [unresolvedFirst],
        }
        for (const sort of ["status", "opened_at", "resolved_at"] as const) {
          const { items } = yield* queries.incidents({ limit, sort, direction: "desc" })
          assertDescending(items, ...orders[sort])
          assert.sameMembers(
            items.map((incident) => incident.id),
            Array.from(rows.incidents.values(), ({ id }) => id),
          )
          const ascending = yield* queries.incidents({ limit, sort, direction: "asc" })
          assert.deepStrictEqual(ascending.items, items.toReversed())
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "of the outbox is the requested one, and ascending is the reverse of descending",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const { queries, rows } = yield* lived(steps)
        for (const sort of ["created_at", "updated_at"] as const) {
          const { items } = yield* queries.outbox({ limit, sort, direction: "desc" })
          assertDescending(items, ({ id }) => rows.outbox.get(id)?.[sort] ?? 0n)
          assert.sameMembers(
            items.map((item) => item.id),
            Array.from(rows.outbox.values(), ({ id }) => id),
          )
          const ascending = yield* queries.outbox({ limit, sort, direction: "asc" })
          assert.deepStrictEqual(ascending.items, items.toReversed())
        }
      }),
    { arbitrary },
  )
})

describe("a filter", () => {
  const agent_id = AgentId.make(AGENTS[0])
  const check_id = CheckId.make("disk")

  it.effect.prop(
    "of incidents by agent or check finds those with such a present or former member, and both IDs in one member",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const { queries, rows } = yield* lived(steps)
        const ordered = { limit, sort: "opened_at", direction: "asc" } as const
        for (const wanted of [{ agent_id }, { check_id }, { agent_id, check_id }]) {
          const { items } = yield* queries.incidents({ ...ordered, ...wanted })
          const expected = Array.from(rows.incidents.keys()).filter((id) =>
            membersEver(rows, id).some(
              (member) =>
                (wanted.agent_id ?? member.agent_id) === member.agent_id &&
                (wanted.check_id ?? member.check_id) === member.check_id,
            ),
          )
          assert.sameMembers<string>(
            items.map((incident) => incident.id),
            expected,
          )
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "by state, severity, notifier or type returns exactly the matching rows",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const { queries, rows } = yield* lived(steps)
        const incidents = Array.from(rows.incidents.values())
        for (const state of ["open", "resolved"] as const) {
          for (const severity of ["warning", "unknown", "critical"] as const) {
            const found = yield* queries.incidents({
              limit,
              sort: "status",
              direction: "desc",
              state,
              severity,
            })
            const expected = incidents.filter(
              (incident) => incident.state === state && incident.severity === severity,
            )
            assert.sameMembers(
              found.items.map(({ id }) => id),
              expected.map(({ id }) => id),
            )
          }
        }
        const states: ReadonlyArray<OutboxState> = [
          "pending",
          "sending",
          "sent",
          "retry",
          "failed",
          "discarded",
        ]
        const wanted = [
          ...states.map((state) => ({ state })),
          ...(["debug", "webhook", "messenger"] as const).map((notifier) => ({ notifier })),
          ...(["firing", "resolved"] as const).map((event_type) => ({
            event_type,
            notifier: "debug" as const,
          })),
        ]
        for (const filter of wanted) {
          const found = yield* queries.outbox({ limit, sort: "updated_at", direction: "desc", ...filter })
          const expected = Array.from(rows.outbox.values()).filter((item) =>
            Object.entries(filter).every(
              ([name, value]) => new Map(Object.entries(item)).get(name) === value,
            ),
          )
          assert.sameMembers(
            found.items.map(({ id }) => id),
            expected.map(({ id }) => id),
          )
        }
      }),
    { arbitrary: { ...arbitrary, runs: propertyRuns(40) } },
  )
})
