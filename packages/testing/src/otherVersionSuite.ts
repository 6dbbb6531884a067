import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import { IntegrationName, type ShownKind } from "@tocsin/contract/integrations/Integrations"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { KNOWN_NAMES } from "@tocsin/core/heart/replicas/knownNames"
import { reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import { commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sweeps } from "./alertSender.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { start } from "./samples.ts"

const HOOKS = IntegrationName.make("hooks")

const reports = ({ commits }: Replica, known_names: ReplicaRecord["known_names"]) =>
  commits.transact(
    reportReplica(
      {
        id: "other",
        version: "0.9.9",
        policy_hash: "",
        started_at: start,
        receivers: [],
        probes: false,
        isEmptyPolicy: true,
        known_names,
      },
      signedBy("system"),
    ),
  )

/** Creates and changes things that a former version may not know; each is `made` or the tag of its error. */
const attempts = (replica: Replica) => {
  const { integrations, watches } = replica
  const made = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
    outcomeOf(Effect.as(effect, "made"))
  return Effect.gen(function* () {
    const name = IntegrationName.make(`sentry-${(yield* rowsOf(replica, "integrations")).length}`)
    return {
      watch: yield* made(watches.create({ name: CheckId.make(name), ping: { host: "shop.example" } })),
      condition: yield* made(
        watches.create({
          name: CheckId.make(`${name}-mail`),
          tcp: { host: "shop.example", port: 25, send: "QUIT" },
        }),
      ),
      kind: yield* made(integrations.create({ name, kind: "sentry" })),
      option: yield* made(integrations.change(HOOKS, { options: { lapse_after: "90h" } })),
      part: yield* made(
        integrations.change(HOOKS, { options: { map: { list: "", check: "/c", status: "/s" } } }),
      ),
      usual: yield* made(integrations.change(HOOKS, { options: { map: { check: "/c", status: "/s" } } })),
    }
  })
}

const refusesUnknown = Effect.fnUntraced(function* (replica: Replica) {
  yield* replica.integrations.create({ name: HOOKS, kind: "webhook" })
  // A version that does not say what it knows knows what 0.3.0 knew.
  yield* reports(replica, undefined)
  assert.deepStrictEqual(yield* attempts(replica), {
    watch: "StateConflict",
    condition: "StateConflict",
    kind: "StateConflict",
    option: "StateConflict",
    part: "StateConflict",
    usual: "made",
  })
  const conflict = yield* Effect.flip(
    replica.integrations.create({ name: IntegrationName.make("new"), kind: "sentry" }),
  )
  assert.strictEqual(
    conflict.message,
    "a running server of version 0.9.9 does not know the integration kind sentry: upgrade or stop it, then repeat this",
  )
  yield* reports(
    replica,
    KNOWN_NAMES.filter((name) => name !== "the integration option map.list" && name !== "watches.tcp.send"),
  )
  assert.deepStrictEqual(yield* attempts(replica), {
    watch: "made",
    condition: "StateConflict",
    kind: "made",
    option: "made",
    part: "StateConflict",
    usual: "made",
  })
  const agent = IntegrationName.make(replica.watchAgent.name)
  assert.strictEqual(yield* outcomeOf(Effect.as(replica.integrations.rotate(agent, {}), "made")), "made")
  // It has ended without a word.
  yield* reports(replica, [])
  yield* TestClock.adjust("61 seconds")
  assert.deepStrictEqual(new Set(Object.values(yield* attempts(replica))), new Set(["made"]))
})

/** Gives an integration a kind that only a later version has. */
const withLaterKind = commandOf(function* (unit) {
  yield* load(unit, { rows: { integration: [HOOKS] } })
  const row = unit.of("integration").get(HOOKS)
  // No version has this kind.
  if (row !== undefined) unit.of("integration").put({ ...row, kind: "pigeon" as ShownKind })
})

const leavesUnknown = Effect.fnUntraced(function* (replica: Replica) {
  const { commits, integrations, queries } = replica
  yield* integrations.create({ name: IntegrationName.make("cron"), kind: "ping" })
  const { key } = yield* integrations.create({ name: HOOKS, kind: "webhook" })
  const sender = yield* integrations.recognise(Redacted.make(key))
  const body = JSON.stringify({
    version: "4",
    alerts: [{ status: "firing", labels: { alertname: "Down" }, startsAt: "2026-01-01T00:00:00Z" }],
  })
  yield* integrations.report("webhook", sender, { method: "POST", path: [], query: [], body })
  yield* commits.transact(withLaterKind())
  const before = yield* rowsOf(replica, "checks")
  assert.lengthOf(before, 1)
  const listed = yield* integrations.list({ limit: 10 })
  assert.deepStrictEqual(
    listed.items.map(({ name }) => name),
    ["cron"],
  )
  assert.deepStrictEqual(
    (yield* integrations.unknown).map(({ kind, name }) => `${name} ${kind}`),
    ["hooks pigeon"],
  )
  for (const attempt of [
    integrations.get(HOOKS),
    integrations.change(HOOKS, { options: {} }),
    integrations.rotate(HOOKS, {}),
  ])
    assert.strictEqual(yield* outcomeOf(Effect.as(attempt, "made")), "StateConflict")
  for (let hour = 0; hour < 100; hour++) {
    yield* TestClock.adjust("1 hour")
    yield* sweeps(replica, HOOKS)
  }
  assert.strictEqual((yield* queries.overview).integration_agents, 2)
  assert.deepStrictEqual(yield* rowsOf(replica, "checks"), before)
})

/** Servers of several versions on one storage (docs/rules.md#replicas). */
export const otherVersionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("a server of another version", () => {
    it.effect("is given nothing that it does not know", () =>
      Effect.flatMap(openReplica(subject), refusesUnknown),
    )
    it.effect("has integrations of its own kinds, which stay as they are", () =>
      Effect.flatMap(openReplica(subject), leavesUnknown),
    )
  })
}
