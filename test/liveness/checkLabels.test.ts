import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const NAMES = ["webhook", "messenger"]

/** The agent `a`, its declarations, and the labels that its check `disk` has. */
const open = Effect.fnUntraced(function* (policy: object = {}, agents: ReadonlyArray<AgentId> = [AGENT]) {
  const timeline = yield* openTimeline({
    agents,
    deadAfter: Duration.days(30),
    notifiers: NAMES,
    process: { keepsHouse: true },
  })
  const { front, service } = timeline
  yield* front.policy.replace(compilePolicy(Result.getOrThrow(readPolicy(policy, NAMES)), NAMES))
  yield* settled
  const declare = (checks: ReadonlyArray<object>, { complete = false, agent = AGENT } = {}) => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete }))
    return Effect.orDie(front.ingest.expectations(keyOf(agent), { agent_id: agent, request })).pipe(
      Effect.tap(settled),
    )
  }
  const row = () => service.rows().labels.get("a/disk")
  const silenceOf = (value: string) =>
    Effect.orDie(
      front.operations.silence({
        matchers: [{ field: "label:team", op: "=", value }],
        for: Duration.hours(1),
        comment: "new disks",
      }),
    )
  return { ...timeline, declare, row, silenceOf, labels: () => row()?.labels }
})

const labelled = (team: string) => ({ check_id: "disk", labels: { team } })

const test = testsFrom(open(), it.effect)

describe("the labels of a check", () => {
  test("are declared alone: nothing is expected of the check", function* (opened) {
    const { after, declare, disk, front, incidents, labels } = opened
    assert.deepStrictEqual(yield* declare([labelled("db")]), { expected: 0, withdrawn: 0 })
    assert.deepStrictEqual(labels(), { team: "db" })
    yield* disk.turns("ok")
    yield* after("1 hour")
    yield* incidents.areOpen()
    const { items } = yield* Effect.orDie(front.operations.expectedChecks({ is_overdue: false, limit: 100 }))
    assert.deepInclude(items[0], { expected_at: null, is_overdue: false, labels: { team: "db" } })
  })

  test("lack names that look like a secret", function* ({ declare, labels }) {
    yield* declare([{ check_id: "disk", labels: { team: "db", api_token: "x" } }])
    assert.deepStrictEqual(labels(), { team: "db" })
  })

  test("change at most once a minute, and equal ones write nothing", function* (opened) {
    const { after, declare, labels, row } = opened
    yield* declare([labelled("db")])
    const first = row()
    yield* after("2 minutes")
    yield* declare([labelled("db")])
    assert.strictEqual(row(), first)
    yield* declare([labelled("web")])
    yield* after("59 seconds")
    const kept = { expected: 0, withdrawn: 0, labels_kept: 1 }
    assert.deepStrictEqual(yield* declare([labelled("net")]), kept)
    assert.deepStrictEqual(labels(), { team: "web" })
    yield* after("1 second")
    assert.deepStrictEqual(yield* declare([labelled("net")]), { expected: 0, withdrawn: 0 })
    assert.deepStrictEqual(labels(), { team: "net" })
    assert.deepStrictEqual(yield* declare([{ check_id: "backup", cron: "0 3 * * 5-7", tz: "UTC" }]), {
      expected: 1,
      withdrawn: 0,
      warnings: [
        "checks[0].cron has the weekday 7, and systemd takes 5-7 for every day: write 0 for Sunday, and 0,5,6 for 5-7",
      ],
    })
  })

  test("stay when the check is no longer expected, and end with a complete declaration", function* (opened) {
    const { after, declare, labels, row } = opened
    assert.deepInclude(yield* declare([{ ...labelled("db"), every: "1m" }]), { expected: 1 })
    assert.deepStrictEqual(yield* declare([labelled("db")]), { expected: 0, withdrawn: 1 })
    assert.deepStrictEqual(labels(), { team: "db" })
    yield* after("1 minute")
    assert.deepStrictEqual(yield* declare([], { complete: true }), { expected: 0, withdrawn: 0 })
    assert.isUndefined(row())
  })

  test("hold a firing under a silence, and release it once they change", function* (opened) {
    const { after, declare, disk, silenceOf, webhook } = opened
    yield* declare([labelled("db")])
    yield* silenceOf("db")
    yield* after("1 minute")
    yield* disk.turns("critical")
    yield* after("1 minute")
    yield* webhook.has()
    yield* declare([labelled("web")])
    yield* after("15 seconds")
    yield* webhook.has("firing critical a/disk")
  })

  it.effect("come before those of the agent, in routes and in silences", () =>
    Effect.gen(function* () {
      const routes = [
        { match: ["label:team = db"], to: ["webhook"] },
        { match: ["label:team = web"], to: ["messenger"] },
      ]
      const { after, agent, declare, disk, front, messenger, silenceOf, webhook } = yield* open({ routes })
      const observed_at = yield* Instant.now
      const labels = { team: "web", env: "prod" }
      yield* Effect.orDie(front.ingest.heartbeat(keyOf(AGENT), heartbeatOf(AGENT, { observed_at, labels })))
      yield* declare([labelled("db")])
      yield* disk.turns("warning")
      yield* agent().reports({ check: "load", status: "warning" })
      yield* webhook.has("firing warning a/disk")
      yield* messenger.has("firing warning a/load")
      yield* silenceOf("web")
      yield* agent().reports({ check: "load", status: "critical" })
      yield* disk.turns("critical")
      yield* after("1 minute")
      yield* webhook.has("firing warning a/disk", "firing critical a/disk")
      yield* messenger.has("firing warning a/load")
    }),
  )

  it.effect("choose the parents of an incident, which is not its own", () =>
    Effect.gen(function* () {
      const dependencies = [{ parent: ["label:team != db"], child: ["check_id = disk"], equal: ["agent_id"] }]
      const { declare, disk, webhook } = yield* open({ dependencies })
      yield* declare([labelled("db")])
      yield* disk.turns("critical")
      yield* webhook.has("firing critical a/disk")
    }),
  )

  it.effect("make an incident a parent in the batch that opens it", () =>
    Effect.gen(function* () {
      const dependencies = [{ parent: ["label:team = db"], child: ["check_id = load"], equal: ["agent_id"] }]
      const { agent, declare, webhook } = yield* open({ dependencies })
      yield* declare([labelled("db")])
      yield* agent().reports({ check: "disk", status: "critical" }, { check: "load", status: "critical" })
      yield* webhook.has("firing critical a/disk")
    }),
  )

  it.effect("do not make a silence cover their agents, for its confirmation", () =>
    Effect.gen(function* () {
      const agents = Array.from({ length: 11 }, (_, n) => AgentId.make(`host-${n}`))
      const { agent, declare, front } = yield* open({}, [AGENT, ...agents])
      for (const id of [AGENT, ...agents]) {
        yield* declare([labelled("db")], { agent: id })
        yield* agent(id).reports({ check: "disk", status: "critical" })
      }
      const matchers = [{ field: "label:team", op: "=", value: "db" }] as const
      const request = { matchers, for: Duration.hours(1), comment: "new disks" }
      const preview = yield* Effect.orDie(front.operations.previewSilence(request))
      assert.deepInclude(preview, { agents: 0, needs_confirm: false, open_incidents: 12 })
    }),
  )

  it.effect("choose the routes and the rules of freshness", () =>
    Effect.gen(function* () {
      const { after, declare, disk, service, webhook } = yield* open({
        routes: [{ match: ["label:team = db"], after: "10m", to: ["webhook"] }],
        freshness: [{ match: ["label:team = web"], every: "5m" }],
      })
      yield* declare([labelled("db")])
      yield* disk.turns("critical")
      yield* after("9 minutes")
      yield* webhook.has()
      yield* after("1 minute")
      yield* webhook.has("firing critical a/disk")
      const expectation = () => service.rows().expectations.get("a/disk")
      assert.isUndefined(expectation())
      yield* declare([labelled("web")])
      assert.strictEqual(expectation()?.terms.every_millis, 300_000)
    }),
  )
})
