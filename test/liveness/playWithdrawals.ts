import { assert } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { checksOf } from "@tocsin/core/kernel/model/CheckRef"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { keyOf, START_MILLIS } from "@tocsin/testing/samples"
import { Context, Duration, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { InterruptedStorage } from "../passes/InterruptedStorage.ts"
import { AGENT, enroll, heartbeat, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { openIncidents } from "../service/Timeline.ts"
import { VirtualTime } from "../system/VirtualTime.ts"

const CHECKS = ["x", "y"] as const
type Name = (typeof CHECKS)[number]

/** Seconds between two steps: no check is withdrawn on one, whatever began with another. */
const STEP = 50
const WITHDRAWN_AFTER = 120

/** When a result was observed, or a list made: "before the list" is what waited while a newer list came. */
type Made = "now" | "ahead" | "a minute ago" | "before the list"

interface Reported {
  readonly check: Name
  readonly status: "ok" | "critical"
  readonly observed: Made
}

type Step =
  | { readonly waits: number }
  | { readonly reports: ReadonlyArray<Reported> }
  /** Of the agent, or of another one with its name and its key. */
  | { readonly list: ReadonlyArray<Name>; readonly made: Made }
  | "sends its list again"
  | "the server restarts"
  | "is deleted and enrols again"

/** The sentences of docs/rules.md#withdrawn-checks about one agent, in seconds, as plainly as they stand there. */
class NaiveAgent {
  newest: number | undefined
  listed: ReadonlyArray<Name> = []
  readonly had = new Set<Name>()
  readonly leavingAt = new Map<Name, number>()
  readonly withdrawn = new Set<Name>()
  readonly observed = new Map<Name, number>()
  readonly status = new Map<Name, Reported["status"]>()
  readonly failing = new Set<Name>()
  /** How its incidents ended. */
  readonly ends: Array<"recovered" | "withdrawn"> = []

  takesList(ids: ReadonlyArray<Name>, madeAt: number, now: number): void {
    const before = this.newest
    const asOf = Math.min(madeAt, now)
    if (before !== undefined && asOf < before) return
    this.newest = asOf
    this.listed = ids
    for (const id of ids) {
      this.had.add(id)
      this.leavingAt.delete(id)
      this.withdrawn.delete(id)
    }
    for (const id of this.had) {
      if (ids.includes(id) || this.withdrawn.has(id)) continue
      const isWaiting = this.leavingAt.has(id) && (this.observed.get(id) ?? -Infinity) < (before ?? 0)
      if (!isWaiting) this.leavingAt.set(id, now + WITHDRAWN_AFTER)
    }
  }

  passes(now: number): void {
    for (const [id, at] of this.leavingAt) {
      if (at > now) continue
      this.leavingAt.delete(id)
      if ((this.observed.get(id) ?? -Infinity) >= (this.newest ?? 0)) continue
      this.withdrawn.add(id)
      if (this.failing.delete(id)) this.ends.push("withdrawn")
    }
  }

  reports(id: Name, status: Reported["status"], observedAt: number): void {
    if (observedAt < (this.observed.get(id) ?? -Infinity)) return
    const isBefore = this.newest !== undefined && observedAt < this.newest
    const isOld = isBefore && this.had.has(id) && !this.listed.includes(id)
    if (!isOld) this.withdrawn.delete(id)
    this.observed.set(id, observedAt)
    this.status.set(id, status)
    if (status === "critical" && !isOld) this.failing.add(id)
    if (status === "ok" && this.failing.delete(id)) this.ends.push("recovered")
  }

  view() {
    const reported = CHECKS.filter((id) => this.status.has(id))
    const present = reported.filter((id) => !this.withdrawn.has(id))
    return {
      withdrawn: reported.filter((id) => this.withdrawn.has(id)),
      toBeDeleted: Array.from(this.withdrawn, String).toSorted(),
      open: reported.filter((id) => this.failing.has(id)).map((id) => `${AGENT}/${id}`),
      ends: this.ends.toSorted(),
      counts: {
        ok: present.filter((id) => this.status.get(id) === "ok").length,
        critical: present.filter((id) => this.status.get(id) === "critical").length,
        withdrawn: reported.length - present.length,
      },
    }
  }
}

const reported = fc.record({
  // Mostly the same, so that several steps are about one check.
  check: fc.constantFrom<Name>("x", "x", "y"),
  status: fc.constantFrom<Reported["status"]>("critical", "critical", "ok"),
  observed: fc.constantFrom<Made>(
    ...(["now", "now", "now", "before the list", "before the list", "a minute ago", "ahead"] as const),
  ),
})

export const withdrawals: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ waits: fc.constantFrom(1, 1, 2, 3) }) },
    {
      weight: 7,
      arbitrary: fc.record({
        list: fc.constantFrom<ReadonlyArray<Name>>([], [], ["y"], ["x", "y"]),
        // One whose clock is ahead counts as now.
        made: fc.constantFrom<Made>("now", "now", "now", "before the list", "before the list", "ahead"),
      }),
    },
    { weight: 9, arbitrary: fc.record({ reports: fc.array(reported, { minLength: 1, maxLength: 3 }) }) },
    { weight: 5, arbitrary: fc.constant<Step>("sends its list again") },
    { weight: 3, arbitrary: fc.constant<Step>("the server restarts") },
    { weight: 2, arbitrary: fc.constant<Step>("is deleted and enrols again") },
  ),
  { minLength: 15, maxLength: 35, size: "max" },
)

/** Each story begins with two checks of which one fails. */
const BEGINNING: ReadonlyArray<Step> = [
  { list: ["x", "y"], made: "now" },
  { reports: [{ check: "x", status: "critical", observed: "now" }] },
]

/** Virtual time that stands still while the storage answers. */
class Playground {
  readonly time = new VirtualTime()
  readonly calls = new InterruptedStorage()
  #reads = 0

  /** Reads, or changes, in no time. */
  readonly atOnce = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.#reads += 1
      return effect
    }).pipe(Effect.ensuring(Effect.sync(() => (this.#reads -= 1))))

  readonly run = (program: Effect.Effect<void>): Promise<void> =>
    this.time.run(
      program,
      this.time.clock(() => 0),
      () => this.#reads > 0 || this.calls.isUnderWay(),
    )
}

/** A service whose front takes requests while the server that withdraws restarts, and its model, after each step. */
const play = Effect.fnUntraced(
  function* (steps: ReadonlyArray<Step>, { atOnce, calls, time }: Playground) {
    const storage = yield* Storage
    const service = yield* openService({
      storage,
      clientOf: calls.clientOf,
      deadAfter: Duration.days(1),
      notifiers: [],
    })
    const front = yield* service.open("front", { delivers: false })
    const openServer = (n: number) => service.open(`server ${n}`, { delivers: false, keepsHouse: true })
    let server = yield* openServer(0)
    let model = new NaiveAgent()
    const ended: Array<string> = []
    const now = () => (START_MILLIS + time.now) / 1_000
    const at = (seconds: number) => Instant.fromMillis(seconds * 1_000)
    const waits = Effect.gen(function* () {
      yield* heartbeat(front)
      yield* TestClock.adjust(Duration.seconds(STEP))
      yield* time.settled
      model.passes(now())
    })
    const sendsList = Effect.fnUntraced(function* (ids: ReadonlyArray<Name>, asOf: number) {
      const checks = ids.map((check_id) => ({ check_id }))
      const list = { complete: true, as_of: Instant.format(at(asOf)), checks }
      const request = Result.getOrThrow(decodeExpectationsRequest(list))
      yield* front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
      model.takesList(ids, asOf, now())
    })
    const momentOf = (made: Made): number =>
      made === "before the list"
        ? (model.newest ?? now()) - 10
        : now() + { now: 0, ahead: 30, "a minute ago": -60 }[made]
    const take = Effect.fnUntraced(function* (step: Step) {
      if (step === "the server restarts") {
        yield* server.close
        yield* waits
        server = yield* openServer(now())
      } else if (step === "is deleted and enrols again") {
        yield* atOnce(front.admission.remove(AGENT))
        ended.push(...model.ends, ...Array.from(model.failing, () => "deleted"))
        model = new NaiveAgent()
        yield* atOnce(enroll(front, AGENT))
        yield* sendsList(CHECKS, now())
      } else if (step === "sends its list again") yield* sendsList(model.listed, now())
      else if ("waits" in step) for (let n = 0; n < step.waits; n += 1) yield* waits
      else if ("list" in step) yield* sendsList(step.list, momentOf(step.made))
      else {
        const results = step.reports.map((one) => ({ ...one, observedAt: momentOf(one.observed) }))
        yield* report(
          front,
          results.map((one) => ({ ...one, observedAt: at(one.observedAt) })),
        )
        for (const one of results) model.reports(one.check, one.status, one.observedAt)
      }
      yield* time.settled
    })
    const seen = Effect.gen(function* () {
      const { agents, checks, incidents } = service.rows()
      const registration_id = agents.get(AGENT)?.registration_id ?? assert.fail("no agent")
      const refs = checksOf(
        { agent_id: AGENT, registration_id },
        CHECKS.map((id) => CheckId.make(id)),
      )
      const leaving = (yield* storage.rows("listed_check", refs)).filter(({ state }) => state === "withdrawn")
      const { critical, ok, withdrawn } = (yield* front.queries.overview).states
      return {
        withdrawn: CHECKS.filter((id) => checks.get(`${AGENT}/${id}`)?.withdrawn_at !== undefined),
        // After the retention of history; also what never reported.
        toBeDeleted: leaving.map(({ check_id }) => String(check_id)).toSorted(),
        open: (yield* openIncidents(front)).map(({ incident_key }) => String(incident_key)).toSorted(),
        ends: Array.from(incidents.values())
          .flatMap(({ resolution, state }) => (state === "open" ? [] : String(resolution?.reason)))
          .toSorted(),
        counts: { ok, critical, withdrawn },
      }
    })

    yield* atOnce(enroll(front, AGENT))
    for (const [n, step] of [...BEGINNING, ...steps].entries()) {
      yield* take(step)
      const { ends, ...expected } = model.view()
      assert.deepStrictEqual(
        yield* atOnce(seen),
        { ...expected, ends: [...ended, ...ends].toSorted() },
        `after step ${n - BEGINNING.length}: ${JSON.stringify(step)}`,
      )
    }
  },
  Effect.scoped,
  Effect.orDie,
)

/** Plays a story on an empty storage, and fails at the first step after which the service is not as the model is. */
export const playWithdrawals = (steps: ReadonlyArray<Step>, storage: Layer.Layer<Storage, unknown>) =>
  Effect.gen(function* () {
    const opened = Context.get(yield* Layer.build(Layer.fresh(storage)), Storage)
    const playground = new Playground()
    const played = Effect.provideService(play(steps, playground), Storage, opened)
    yield* Effect.promise(() => playground.run(played))
  }).pipe(Effect.scoped)
