import { assert, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { MOST_EVALUATED, MOST_MEMBERS } from "@tocsin/core/heart/firings/loudMembers"
import { isHeld } from "@tocsin/core/heart/model/OutboxRecord"
import { evaluationPass } from "@tocsin/core/heart/evaluation/evaluationPass"
import { incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { incidentRecord } from "@tocsin/testing/records"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { enroll, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { documentOf, NAMES } from "./Pass.ts"

const AGENTS = ["a", "b", "c", "d", "e"].map((id) => AgentId.make(id))
const LIMIT = 2

/** Five incidents of one process, whose looks the test runs piece by piece. */
const openIncidents = Effect.gen(function* () {
  const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
  const process = yield* service.open("only")
  const { commits, operations, policy, rules, storage } = process
  const options = {
    incidents: incidentOptions(service.ids, policy, rules, service.hashing),
    labels: Effect.succeed(""),
    parentChanges: () => 0,
  }
  const silence = (check: string) =>
    operations.silence({
      matchers: [{ field: "check_id", op: "=", value: check }],
      for: Duration.hours(1),
      comment: "for a test",
    })
  yield* enroll(process, ...AGENTS)
  const opened = Effect.forEach(
    AGENTS,
    (agent) => report(process, [{ check: "disk", status: "critical" }], agent),
    { discard: true },
  ).pipe(Effect.andThen(settled))
  return { ...service, commits, operations, opened, options, policy, silence, storage }
})

it.effect("a silence that ends while held firings are looked at frees all of them in this look", () =>
  Effect.gen(function* () {
    const { commits, opened, operations, options, rows, silence, storage } = yield* openIncidents
    const { id } = yield* silence("disk")
    yield* opened
    const held = () => Array.from(rows().outbox.values()).filter(isHeld).length
    assert.strictEqual(held(), AGENTS.length * NAMES.length)
    const look = evaluationPass(storage, commits, { ...options, limit: LIMIT })
    assert.isTrue(yield* look)
    yield* operations.expireSilence(id)
    while (yield* look);
    assert.strictEqual(held(), 0)
  }),
)

it.effect("a look at incidents under another policy ends, though silences change at each piece", () =>
  Effect.gen(function* () {
    const { commits, opened, options, policy, rows, silence, storage } = yield* openIncidents
    yield* opened
    const look = evaluationPass(storage, commits, { ...options, limit: LIMIT })
    while (yield* look);
    yield* policy.replace(compilePolicy(documentOf({ routes: [{ remind: "1h" }] }), NAMES))
    for (let piece = 0; piece * LIMIT < AGENTS.length; piece++) {
      yield* silence(`other${piece}`)
      assert.strictEqual(yield* look, (piece + 1) * LIMIT < AGENTS.length)
    }
    for (const { next_evaluation_at } of rows().incidents.values()) assert.isDefined(next_evaluation_at)
    // Nothing is held, so the silences that came meanwhile are of no account.
    assert.isFalse(yield* look)
  }),
)

it.effect("held firings are evaluated after silences or labels changed, and again a minute later", () =>
  Effect.gen(function* () {
    const { commits, opened, options, silence, storage } = yield* openIncidents
    yield* silence("disk")
    yield* opened
    let stamp = ""
    const labels = Effect.sync(() => stamp)
    const look = evaluationPass(storage, commits, { ...options, labels, limit: LIMIT })
    const isDueAfter = Effect.fnUntraced(function* (time: Duration.Input) {
      yield* TestClock.adjust(time)
      const isDue = yield* look
      while (yield* look);
      return isDue
    })
    const changes = [Effect.void, silence("load"), Effect.sync(() => (stamp = "others"))]
    for (const change of changes) {
      yield* change
      const times = ["0 seconds", "59 seconds", "1 second", "10 minutes"] as const
      assert.deepStrictEqual(yield* Effect.forEach(times, isDueAfter), [true, false, true, false])
    }
  }),
)

it.effect("once labels changed, routes that compare labels have each incident evaluated once", () =>
  Effect.gen(function* () {
    const { commits, opened, options, policy, storage } = yield* openIncidents
    const byLabel = [{ match: ["label:team = db"], to: [...NAMES], after: "1d" }, { after: "1d" }]
    yield* policy.replace(compilePolicy(documentOf({ routes: byLabel }), NAMES))
    yield* opened
    const read = new Set<string>()
    const watched: typeof storage = {
      ...storage,
      page: (request) => {
        read.add(request.list)
        return storage.page(request)
      },
    }
    let digest = ""
    const labels = Effect.sync(() => digest)
    const look = evaluationPass(watched, commits, { ...options, labels, limit: LIMIT })
    const readAfter = Effect.fnUntraced(function* (seconds: number) {
      yield* TestClock.adjust(Duration.seconds(seconds))
      read.clear()
      while (yield* look);
      return Array.from(read).toSorted().join()
    })
    assert.deepStrictEqual(yield* Effect.forEach([0, 60, 3_600], readAfter), [
      "incidents,outbox",
      "outbox",
      "",
    ])
    digest = "other labels"
    assert.deepStrictEqual(yield* Effect.forEach([0, 60, 3_600], readAfter), ["incidents", "", ""])
  }),
)

it.effect("a look at incidents with many members evaluates all of them", () =>
  Effect.gen(function* () {
    const { commits, opened, options, policy, storage } = yield* openIncidents
    yield* opened
    // Each has an acknowledgement that ends now, which an evaluation takes away.
    const acknowledged = {
      ack_by: "ann",
      ack_at: yield* Instant.now,
      ack_until: yield* Instant.now,
      ack_severity: "critical",
    } as const
    yield* transact(storage, function* (unit) {
      yield { incidents: [] }
      for (let n = 0; n <= MOST_EVALUATED / MOST_MEMBERS; n++)
        unit.incidents.put(incidentRecord(`${n}`, { members_critical: MOST_MEMBERS, ...acknowledged }))
    })
    yield* policy.replace(compilePolicy(documentOf({ routes: [{ remind: "1h" }] }), NAMES))
    const look = evaluationPass(storage, commits, { ...options, limit: 100 })
    while (yield* look);
    const incidents = yield* rowsOf({ storage }, "incidents")
    assert.isEmpty(incidents.filter(({ ack_until }) => ack_until !== undefined))
  }),
)
