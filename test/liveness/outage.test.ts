import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { AgentStatus } from "@tocsin/contract/formats/Status"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { AGENT, heartbeat, enroll } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openService, type Process, type Service, whileTimePasses } from "../service/Service.ts"
import { openTimeline } from "../service/Timeline.ts"
import { integer, oneOf, weighted } from "../properties/arbitraries.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const openProcess = Effect.fnUntraced(function* (service: Service, name: string) {
  const process = yield* service.open(name, { keepsHouse: true })
  yield* settled
  return process
})

const open = Effect.gen(function* () {
  const service = yield* openService()
  return { service, process: yield* openProcess(service, "process 1") }
})

const statusOf = ({ queries }: Process, agent: AgentId = AGENT) =>
  Effect.map(queries.agent(agent), ({ status }): AgentStatus => status)

const incidentsOf = ({ rows }: Service) => Array.from(rows().incidents.values())
const openIncidentsOf = (service: Service) =>
  incidentsOf(service).filter((incident) => incident.state === "open")

const openKept = openTimeline({ process: { keepsHouse: true } })

const test = testsFrom(openKept, it.effect)

describe("an agent's status", () => {
  test("is alive for two minutes, then stale, and dead after five", function* ({ front, agent, after }) {
    yield* agent().is("alive")
    yield* after(119_999)
    yield* agent().is("alive")
    yield* after(1)
    yield* agent().is("stale")
    yield* after(179_999)
    yield* agent().is("stale")
    yield* after(1)
    yield* agent().is("dead")
    yield* after("1 hour")
    yield* agent().is("dead")
    const { agents_online, agents_offline } = yield* front.queries.summary
    assert.deepStrictEqual([agents_online, agents_offline], [0, 1])
    yield* agent().heartbeats
    yield* agent().is("alive")
  })
})

describe("after an outage of the service", () => {
  test("agents are at most stale for one dead threshold, and open no incident", function* (opened) {
    const { agent, after, isDownFor, incidents } = opened
    yield* isDownFor("10 minutes")
    yield* agent().is("stale")
    yield* after("298 seconds")
    yield* agent().is("stale")
    yield* incidents.areOpen()
    yield* after("17 seconds")
    yield* agent().is("dead")
    yield* incidents.areOpen("a/@heartbeat")
  })

  test("returning agents open no incident, and dead agents keep theirs", function* (opened) {
    const { service, front, agent, after, isDownFor, incidents } = opened
    const back = AgentId.make("back")
    yield* after("6 minutes")
    yield* enroll(front, back)
    yield* incidents.areOpen("a/@heartbeat")
    yield* isDownFor("10 minutes")
    yield* after("4 minutes")
    yield* agent(back).heartbeats
    yield* after("3 minutes")
    yield* agent().is("dead")
    yield* incidents.areOpen("a/@heartbeat")
    assert.strictEqual(service.rows().incidents.size, 1)
  })

  test("no longer than the stale threshold, agents turn dead as usual", function* (opened) {
    const { agent, after, isDownFor, incidents } = opened
    yield* after("3 minutes")
    yield* isDownFor("110 seconds")
    yield* after("26 seconds")
    yield* incidents.areOpen("a/@heartbeat")
    yield* agent().is("dead")
  })

  test("an outage of writes alone also opens incidents after two minutes", function* (opened) {
    const { front, agent, after, incidents } = opened
    front.faults.isReadOnly = true
    yield* after("7 minutes")
    yield* agent().is("stale")
    front.faults.isReadOnly = false
    yield* after("290 seconds")
    yield* agent().is("stale")
    yield* incidents.areOpen()
    yield* after("30 seconds")
    yield* agent().is("dead")
    yield* incidents.areOpen("a/@heartbeat")
  })

  test("there was no outage while another process was running", function* ({ service, front, after }) {
    yield* openProcess(service, "process 2")
    yield* whileTimePasses(front.close)
    yield* after("316 seconds")
    assert.strictEqual(openIncidentsOf(service).length, 1)
  })
})

describe("with the shortest thresholds", () => {
  it.effect("a silent agent is dead in time, and alive after its next contact", () =>
    Effect.gen(function* () {
      const { agent, after, incidents } = yield* openTimeline({
        process: { keepsHouse: true },
        staleAfter: Duration.seconds(2),
        deadAfter: Duration.seconds(3),
      })
      for (let halfSeconds = 1; halfSeconds <= 36; halfSeconds++) {
        yield* after(500)
        yield* agent().is(halfSeconds < 4 ? "alive" : halfSeconds < 6 ? "stale" : "dead")
      }
      yield* incidents.areOpen("a/@heartbeat")
      yield* agent().heartbeats
      yield* agent().is("alive")
      yield* incidents.areOpen()
    }),
  )
})

describe("the service heartbeat", () => {
  it.effect("is written every five seconds by any running process, and never goes back", () =>
    Effect.gen(function* () {
      const { service, process } = yield* open
      yield* openProcess(service, "process 2")
      let before = yield* process.storage.serviceHeartbeat
      for (let seconds = 0; seconds < 60; seconds++) {
        yield* TestClock.adjust("1 second")
        const serviceHeartbeat = yield* process.storage.serviceHeartbeat
        if (serviceHeartbeat === undefined || before === undefined)
          return assert.fail("there is no service heartbeat")
        assert.isTrue(serviceHeartbeat.beat_at >= before.beat_at)
        assert.isTrue(Instant.plus(serviceHeartbeat.beat_at, Duration.seconds(5)) >= (yield* Instant.now))
        assert.strictEqual(serviceHeartbeat.outage_ended_at, undefined)
        before = serviceHeartbeat
      }
    }),
  )

  it.effect("is read at most once a second for operators' requests", () =>
    Effect.gen(function* () {
      const { service } = yield* open
      const reader = yield* service.open("reader", { delivers: false })
      yield* enroll(reader, AGENT)
      const before = reader.faults.serviceHeartbeatsRead
      for (let times = 0; times < 50; times++) {
        yield* statusOf(reader)
        yield* reader.queries.agents({ limit: 10 })
      }
      assert.strictEqual(reader.faults.serviceHeartbeatsRead, before + 1)
      yield* TestClock.adjust("1 second")
      yield* statusOf(reader)
      assert.strictEqual(reader.faults.serviceHeartbeatsRead, before + 2)
      // A failure is not kept.
      yield* TestClock.adjust("1 second")
      reader.faults.isUnreachable = true
      assert.strictEqual((yield* Effect.flip(reader.queries.agent(AGENT)))._tag, "StorageError")
      reader.faults.isUnreachable = false
      assert.strictEqual(yield* statusOf(reader), "alive")
    }),
  )
})

const AGENTS = [AgentId.make("a"), AgentId.make("b"), AgentId.make("c")] as const
const STALE = 120
const DEAD = 300
// Sweeps are five seconds apart, and the law gives them fifteen.
const PATIENCE = 15

type Step =
  | { readonly step: "heartbeat"; readonly agent: AgentId }
  | { readonly step: "wait"; readonly seconds: number }
  /** All processes are stopped and started again. */
  | { readonly step: "down"; readonly seconds: number }
  /** Nothing can be committed. */
  | { readonly step: "read_only"; readonly seconds: number }

const agent = oneOf(...AGENTS)
const step = weighted<Step>(
  [6, Arbitrary.map(agent, (agent) => ({ step: "heartbeat", agent }) as const)],
  [
    6,
    Arbitrary.map(
      oneOf(1, 14, 60, 119, 121, 200, 299, 301, 400),
      (seconds) => ({ step: "wait", seconds }) as const,
    ),
  ],
  [1, Arbitrary.map(oneOf(10, 100, 140, 400), (seconds) => ({ step: "down", seconds }) as const)],
  [1, Arbitrary.map(oneOf(10, 100, 140, 400), (seconds) => ({ step: "read_only", seconds }) as const)],
)

const secondsBetween = (from: Instant.Instant, to: Instant.Instant): number => Number(to - from) / 1_000_000

describe("with any behavior of agents and service", () => {
  it.effect.prop(
    "a dead agent has one open incident in time, others have none, and outages excuse",
    { steps: Arbitrary.array(step, { minLength: 4, maxLength: 20 }), processes: integer(1, 2) },
    ({ steps, processes }) =>
      Effect.gen(function* () {
        const service = yield* openService()
        let opened = 0
        const start = Effect.forEach(Array.from({ length: processes }), () =>
          Effect.suspend(() => openProcess(service, `process ${(opened += 1)}`)),
        )
        let running = yield* start
        const [first] = running
        if (first === undefined) return
        yield* enroll(first, ...AGENTS)
        const enrolledAt = yield* Instant.now
        const seen = new Map(AGENTS.map((agent) => [agent, enrolledAt]))
        /** Ends of outages, by the rule: nothing committed for longer than the stale threshold. */
        const outageEnds: Array<Instant.Instant> = []
        const noteOutage = Effect.fnUntraced(function* (seconds: number) {
          if (seconds > STALE) outageEnds.push(yield* Instant.now)
        })
        for (const one of steps) {
          const [process] = running
          if (process === undefined) return
          switch (one.step) {
            case "heartbeat":
              yield* heartbeat(process, one.agent)
              seen.set(one.agent, yield* Instant.now)
              break
            case "wait":
              yield* TestClock.adjust(Duration.seconds(one.seconds))
              break
            case "down":
              yield* Effect.forEach(running, ({ close }) => whileTimePasses(close))
              yield* TestClock.adjust(Duration.seconds(one.seconds))
              running = yield* start
              yield* noteOutage(one.seconds)
              break
            case "read_only":
              for (const { faults } of running) faults.isReadOnly = true
              yield* TestClock.adjust(Duration.seconds(one.seconds))
              for (const { faults } of running) faults.isReadOnly = false
              yield* TestClock.adjust("6 seconds")
              yield* noteOutage(one.seconds)
              break
          }
          yield* settled
          yield* judge(service, running[0] ?? process, seen, outageEnds)
        }
      }),
    { arbitrary: { runs: propertyRuns(60), size: 20, maxShrinks: 300 } },
  )
})

const judge = Effect.fnUntraced(function* (
  service: Service,
  process: Process,
  seen: ReadonlyMap<AgentId, Instant.Instant>,
  outageEnds: ReadonlyArray<Instant.Instant>,
) {
  const now = yield* Instant.now
  const sinceOutage = Math.min(...outageEnds.map((end) => secondsBetween(end, now)))
  for (const [agent, seenAt] of seen) {
    const silence = secondsBetween(seenAt, now)
    const incidents = incidentsOf(service).filter(
      (incident) => incident.incident_key === `${agent}/@heartbeat`,
    )
    const open = incidents.filter((incident) => incident.state === "open")
    assert.isAtMost(open.length, 1)
    if (silence < DEAD) assert.strictEqual(open.length, 0, `${agent} was seen ${silence} s ago`)
    const isDue = silence >= DEAD + PATIENCE && sinceOutage >= DEAD + PATIENCE + 6
    if (isDue) assert.strictEqual(open.length, 1, `${agent} was seen ${silence} s ago`)
    for (const { opened_at } of open) {
      assert.isAtLeast(secondsBetween(seenAt, opened_at), DEAD)
      for (const end of outageEnds) {
        const grace = secondsBetween(end, opened_at)
        assert.isTrue(grace < 0 || grace >= DEAD - 6, `${agent}'s incident opened ${grace} s after an outage`)
      }
    }
    const status = yield* statusOf(process, agent)
    const inGrace = sinceOutage < DEAD - 6
    const expected = silence < STALE ? "alive" : silence < DEAD || inGrace ? "stale" : "dead"
    // Within the seconds between two service heartbeats either is right.
    const isDoubtful = sinceOutage >= DEAD - 6 && sinceOutage <= DEAD + 6 && silence >= DEAD
    if (!isDoubtful) assert.strictEqual(status, expected, `${agent} was seen ${silence} s ago`)
  }
})
