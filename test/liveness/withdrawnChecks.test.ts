import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { keyOf } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

/** The agent `a`, whose lists and results may be of another moment than now. Lists go to a server that stays. */
const open = Effect.fnUntraced(function* () {
  const timeline = yield* openTimeline({
    deadAfter: Duration.days(1),
    process: { keepsHouse: true, retention: { history: Duration.hours(1) } },
  })
  const { agent, after, service } = timeline
  const front = yield* service.open("second", { keepsHouse: false, delivers: false })
  const ago = (seconds: number) =>
    Effect.map(Instant.now, (now) => Instant.minus(now, Duration.seconds(seconds)))
  const lists = Effect.fnUntraced(function* (ids: ReadonlyArray<string | object>, secondsAgo = 0) {
    const checks = ids.map((one) => (typeof one === "string" ? { check_id: one } : one))
    const as_of = Instant.format(yield* ago(secondsAgo))
    const request = Result.getOrThrow(decodeExpectationsRequest({ complete: true, as_of, checks }))
    yield* front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
    yield* settled
  })
  const reports = Effect.fnUntraced(function* (check: string, status: CheckStatus, secondsAgo = 0) {
    yield* agent().reports({ check, status, observedAt: yield* ago(secondsAgo) })
  })
  const row = (check: string) =>
    Array.from(service.rows().checks.values()).find(({ check_id }) => check_id === CheckId.make(check))
  const counts = Effect.map(front.queries.overview, ({ states }) => states)
  const alive = Effect.fnUntraced(function* (minutes: number) {
    for (let minute = 0; minute < minutes; minute++) {
      yield* agent().heartbeats
      yield* after("1 minute")
    }
  })
  return { ...timeline, ago, alive, counts, front, lists, reports, row }
})

describe("a check that its agent no longer lists", () => {
  it.effect(
    "leaves its incident after two minutes, without a recovery, and is deleted after its history",
    () =>
      Effect.gen(function* () {
        const { after, alive, counts, incidents, lists, outbox, reports, row, service, webhook } =
          yield* open()
        yield* lists(["disk", "load"])
        yield* reports("disk", "critical")
        yield* reports("by-hand", "warning")
        yield* after("1 minute")
        yield* lists(["load"])
        yield* alive(1)
        yield* incidents.areOpen("a/disk", "a/by-hand")
        yield* alive(2)
        yield* incidents.areOpen("a/by-hand")
        assert.isDefined(row("disk")?.withdrawn_at)
        assert.deepInclude(yield* counts, { critical: 0, warning: 1, withdrawn: 1 })
        yield* webhook.has("firing critical a/disk", "firing warning a/by-hand", "resolved critical a/disk")
        assert.deepStrictEqual(
          Array.from(service.rows().incidents.values()).find(({ state }) => state === "resolved")?.resolution,
          { reason: "withdrawn", of: "check" },
        )
        assert.lengthOf(outbox.items(), 3)
        yield* after("62 minutes")
        assert.isUndefined(row("disk"))
        assert.isDefined(row("by-hand"))
      }),
  )

  it.effect(
    "opens nothing by a result of before the list, and opens an incident again by a later equal one",
    () =>
      Effect.gen(function* () {
        const { alive, counts, incidents, lists, reports, row } = yield* open()
        yield* lists(["disk", "new"])
        yield* reports("disk", "critical")
        yield* alive(1)
        yield* lists([])
        yield* alive(3)
        yield* reports("disk", "critical", 200)
        yield* reports("new", "critical", 200)
        yield* incidents.areOpen()
        assert.deepInclude(yield* counts, { critical: 0, withdrawn: 2 })
        yield* reports("disk", "critical")
        yield* incidents.areOpen("a/disk")
        assert.isUndefined(row("disk")?.withdrawn_at)
        assert.deepInclude(yield* counts, { critical: 1, withdrawn: 1 })
        yield* alive(5)
        yield* incidents.areOpen("a/disk")
      }),
  )

  it.effect("stays by a result observed after the list, and an older list withdraws nothing", () =>
    Effect.gen(function* () {
      const { alive, incidents, lists, reports, row } = yield* open()
      yield* lists(["disk"])
      yield* reports("disk", "critical")
      yield* alive(1)
      yield* lists([])
      yield* alive(1)
      yield* reports("disk", "critical")
      yield* alive(3)
      yield* incidents.areOpen("a/disk")
      assert.isUndefined(row("disk")?.withdrawn_at)
      yield* lists(["disk"])
      yield* lists([], 50)
      yield* alive(3)
      yield* incidents.areOpen("a/disk")
    }),
  )

  it.effect("comes back by its first result, and is then kept, and withdrawn by the next list", () =>
    Effect.gen(function* () {
      const { alive, counts, incidents, lists, reports, row } = yield* open()
      yield* lists(["new"])
      yield* alive(1)
      yield* lists([])
      yield* alive(3)
      yield* reports("new", "critical")
      yield* incidents.areOpen("a/new")
      // Longer than the history, after which withdrawn checks are deleted.
      yield* alive(65)
      yield* incidents.areOpen("a/new")
      assert.isDefined(row("new"))
      yield* lists([])
      yield* alive(3)
      yield* incidents.areOpen()
      assert.deepInclude(yield* counts, { critical: 0, withdrawn: 1 })
    }),
  )

  it.effect("is not withdrawn while an older server runs, beside which lists are refused", () =>
    Effect.gen(function* () {
      const { front, lists } = yield* open()
      const started_at = yield* Instant.now
      const older = {
        id: "older",
        version: "0.3.0",
        policy_hash: "",
        receivers: [],
        probes: false,
        started_at,
        isEmptyPolicy: true,
      }
      yield* front.commits.transact(reportReplica(older, signedBy("system")))
      const refused = yield* Effect.flip(lists(["disk"]))
      assert.match(refused.message, /^as_of must be absent/)
    }),
  )

  it.effect("is no longer expected, and leaves the incident of late checks as no longer checked", () =>
    Effect.gen(function* () {
      const { alive, incidents, lists, service } = yield* open()
      yield* lists([{ check_id: "backup", every: "1m", incident: "own" }])
      yield* alive(5)
      yield* incidents.areOpen("a/backup/@overdue")
      yield* lists([])
      yield* alive(1)
      yield* incidents.areOpen("a/backup/@overdue")
      yield* alive(2)
      yield* incidents.areOpen()
      assert.strictEqual(service.rows().expectations.size, 0)
      assert.deepStrictEqual(
        Array.from(service.rows().incidents.values(), ({ resolution }) => resolution),
        [{ reason: "withdrawn", of: "check" }],
      )
    }),
  )
})
