import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { openReplica } from "@tocsin/testing/Replica"
import { enroll, eventOf, heartbeatOf, keyOf, send } from "@tocsin/testing/samples"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { PgConnection } from "../src/client/PgConnection.ts"
import * as PgStorage from "../src/PgStorage.ts"
import { planNodes } from "@tocsin/test/postgres/planNodes"

/** Tables that a distribution by `agent_id` would spread (docs/scaling.md). */
const DISTRIBUTED = new Set(["agent", "check_state", "check_event", "expectation", "removed_registration"])

/** Tables that stay on the coordinator, with the reason. */
const OF_COORDINATOR: Readonly<Record<string, string>> = {
  incident: "has members of many agents, and its key is unique",
  incident_member: "belongs to its incident",
  incident_change: "belongs to its incident",
  outbox: "is sent in the order of its incident",
  alert: "belongs to its incident",
  silence: "covers checks of many agents, and is read where an incident is",
}

/** Parts of statements that find a row in another way, with the reason. */
const OTHERWISE: Readonly<Record<string, string>> = {
  "stored_1.ctid": "compare_and_swap writes where it has locked, by agent_id, in the same statement",
}

/** The plan that PostgreSQL makes of a statement, for any parameters. */
const planOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string, text: string) {
  const numbers = Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number))
  const parameters = Array.from({ length: Math.max(0, ...numbers) }, () => "NULL").join()
  yield* sql.unsafe(`PREPARE ${name} AS ${text}`).unprepared
  const execute = parameters === "" ? name : `${name}(${parameters})`
  const rows = yield* sql.unsafe<{ readonly "QUERY PLAN": unknown }>(
    `EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE ${execute}`,
  ).unprepared
  return rows[0]?.["QUERY PLAN"]
})

/** Where a statement reads or changes a distributed table without naming the agent. */
const unroutable = (plan: unknown): ReadonlyArray<string> => {
  const text = JSON.stringify(plan)
  return planNodes(plan).flatMap((node) => {
    const { Alias: alias = "", "Relation Name": table } = node
    // A new row brings its agent, and the rows of a change are found by the scan below it.
    if (table === undefined || node["Node Type"] === "ModifyTable") return []
    if (!DISTRIBUTED.has(table)) return table in OF_COORDINATOR ? [] : [`${table} has no place`]
    const isNamed = new RegExp(String.raw`\b${alias}\.agent_id = |= ${alias}\.agent_id\b`).test(text)
    const isOtherwise = Object.keys(OTHERWISE).some((part) => node["TID Cond"]?.includes(part))
    return isNamed || isOtherwise ? [] : [`${table} as ${alias} without its agent`]
  })
}

const METHODS = ["execute", "executeUnprepared", "executeRaw", "executeValues"] as const

/** The texts of all statements from now on, until the scope ends. */
const recordStatements = Effect.acquireRelease(
  Effect.sync(() => {
    const texts = new Set<string>()
    const originals = METHODS.map((name) => [name, Reflect.get(PgConnection.prototype, name)] as const)
    for (const [name, original] of originals) {
      Reflect.set(PgConnection.prototype, name, function (this: PgConnection, ...args: [string]) {
        texts.add(args[0])
        return Reflect.apply(original, this, args)
      })
    }
    return { texts, originals }
  }),
  ({ originals }) =>
    Effect.sync(() => {
      for (const [name, original] of originals) Reflect.set(PgConnection.prototype, name, original)
    }),
).pipe(Effect.map(({ texts }) => texts))

/**
 * The daily traffic of agents: heartbeats, unchanged results, and results that change, of several
 * agents at a time.
 */
const hotStatements = Effect.gen(function* () {
  const { url } = yield* ScratchPostgres
  const replica = yield* openReplica({
    name: "PostgreSQL",
    place: Layer.empty,
    client: PgStorage.layer({ url }),
  })
  const agents = ["a", "b", "c"]
  yield* enroll(replica, ...agents)
  const texts = yield* recordStatements
  const atOnce = { concurrency: "unbounded" } as const
  for (let round = 1; round <= 4; round++) {
    const status = round % 2 === 0 ? "ok" : "critical"
    const events = [
      eventOf(round * 10, { status: "ok" }),
      eventOf(round * 10 + 1, { check_id: "load", status, incident_key: "shared" }),
    ]
    yield* Effect.forEach(
      agents,
      (agent) => replica.ingest.heartbeat(keyOf(agent), heartbeatOf(agent)),
      atOnce,
    )
    yield* Effect.forEach(agents, (agent) => send(replica, agent, events), atOnce)
  }
  return Array.from(texts)
}).pipe(Effect.scoped)

layer(ScratchPostgres.layer)("a distribution by agent_id", (it) => {
  it.effect("suits each statement of the write path: it names the agents whose rows it touches", () =>
    Effect.gen(function* () {
      const texts = yield* hotStatements
      const { replica } = yield* ScratchPostgres
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* sql.unsafe("SET plan_cache_mode = force_generic_plan").unprepared
      assert.isAtLeast(texts.length, 10)
      const found = yield* Effect.forEach(texts, (text, index) =>
        Effect.map(planOf(sql, `hot_${index}`, text), (plan) =>
          unroutable(plan).map((problem) => `${problem}: ${text}`),
        ),
      )
      assert.deepStrictEqual(found.flat(), [])
      const sweep = yield* planOf(
        sql,
        "sweep",
        "SELECT agent_id FROM agent AS a WHERE last_seen_at <= $1::int8",
      )
      assert.deepStrictEqual(unroutable(sweep), ["agent as a without its agent"])
    }),
  )
})
