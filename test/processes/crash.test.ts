import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { type Agent, enroll, type Event, eventOf, push, report } from "./Agent.ts"
import { historyOf, incidentsOf, OPERATOR_TOKEN, outboxOf } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { seeded } from "./seeded.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"
import { scenarioFaults } from "./scenarioFaults.ts"
import { until } from "./until.ts"
import { startReceiver, type WebhookReceiver } from "./WebhookReceiver.ts"

const SEED = 7001
const LIVES = AT_LENGTH ? 2 : 1
const AGENTS = 4
/** How many batches a life acknowledges before it is ended in the middle of others. */
const BATCHES_A_LIFE = 30

const environmentOf = (receiver: WebhookReceiver) => ({
  SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
  SERVICE_NOTIFIERS: "webhook",
  // Leases of a dead process end sooner.
  SERVICE_DELIVERY_LEASE: "3s",
  ...receiver.settings("hooks"),
})

/** An agent that reports without a pause, each result another than the one before. */
interface Reporter {
  readonly agent: Agent
  /** Batches that were acknowledged. */
  readonly acknowledged: Array<ReadonlyArray<Event>>
  /** The batch of which it is not known whether it was. */
  open: ReadonlyArray<Event> | undefined
  turn: number
}

const nextBatch = (reporter: Reporter): ReadonlyArray<Event> => {
  reporter.turn += 1
  const status = reporter.turn % 2 === 0 ? "ok" : "critical"
  return ["disk", "load", "swap"].map((check_id) => eventOf({ check_id, status }))
}

/** Sends batches, the unanswered one first, until the server ends. */
const reportOn = Effect.fnUntraced(function* (server: ServerProcess, reporter: Reporter) {
  for (;;) {
    const isRepeated = reporter.open !== undefined
    const events = reporter.open ?? nextBatch(reporter)
    reporter.open = events
    const { text } = yield* push(server, reporter.agent, events)
    // A batch is kept whole or not at all; only that of which the answer was lost may be known
    // already.
    if (!isRepeated || text !== '{"accepted":0,"deduplicated":3}') {
      assert.strictEqual(text, '{"accepted":3,"deduplicated":0}')
    }
    reporter.acknowledged.push(events)
    reporter.open = undefined
  }
})

const acknowledgedBy = (reporters: ReadonlyArray<Reporter>) =>
  reporters.flatMap(({ acknowledged }) => acknowledged)

const isEnded = (state: string): boolean => state === "sent" || state === "failed" || state === "discarded"

describe.concurrent("a server that is killed", () => {
  it.live("under load keeps acknowledged data, and continues to notify", () =>
    Effect.gen(function* () {
      const random = seeded(SEED)
      // Slow, so that much is under way when the server dies; a refusal besides could make a retry
      // wait for 30 s.
      const receiver = yield* startReceiver(() => ({ status: 200, afterMillis: 200 * random() }))
      const cwd = yield* scratchFolder
      const start = startServer({ cwd, environment: environmentOf(receiver) })
      let server = yield* start
      const agents = yield* Effect.forEach(Array.from({ length: AGENTS }), (_, n) =>
        enroll(server, `agent-${n}`),
      )
      const reporters = agents.map((agent): Reporter => ({
        agent,
        acknowledged: [],
        open: undefined,
        turn: 0,
      }))
      for (let life = 1; life <= LIVES; life++) {
        const load = yield* Effect.forkScoped(
          Effect.forEach(reporters, (reporter) => Effect.exit(reportOn(server, reporter)), {
            concurrency: "unbounded",
          }),
        )
        const enough = Effect.sync(() => acknowledgedBy(reporters).length >= life * BATCHES_A_LIFE)
        yield* until("enough is acknowledged", enough)
        yield* server.kill
        for (const exit of yield* Fiber.join(load)) assert.match(String(exit), /Unanswered/)
        assert.isTrue(reporters.some(({ open }) => open !== undefined))
        server = yield* start
      }
      const kept = (yield* historyOf(server)).map(({ event_id }) => String(event_id))
      assert.includeMembers(
        kept,
        acknowledgedBy(reporters)
          .flat()
          .map(({ event_id }) => event_id),
      )
      assert.strictEqual(new Set(kept).size, kept.length)
      // Acknowledged batches are duplicates; the unanswered one is applied now or was before.
      for (const { agent, acknowledged, open } of reporters) {
        for (const events of acknowledged) {
          const { text } = yield* Effect.orDie(push(server, agent, events))
          assert.strictEqual(text, '{"accepted":0,"deduplicated":3}')
        }
        if (open !== undefined) yield* Effect.orDie(push(server, agent, open))
        yield* Effect.orDie(
          push(
            server,
            agent,
            ["disk", "load", "swap"].map((check_id) => eventOf({ check_id, status: "ok" })),
          ),
        )
      }
      const outbox = yield* until(
        "all notifications have ended",
        Effect.map(outboxOf(server), (items) => items.every(({ state }) => isEnded(state)) && items),
      )
      const incidents = yield* incidentsOf(server)
      assert.isAbove(incidents.length, LIVES * AGENTS)
      assert.deepStrictEqual(scenarioFaults({ incidents, outbox, arrivals: receiver.arrivals }), [])
    }),
  )

  it.live.skipIf(!AT_LENGTH)(`delivers what a receiver missed while it was down${unlessAtLength}`, () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 200 }))
      yield* receiver.close
      const options = { cwd: yield* scratchFolder, environment: environmentOf(receiver) }
      const first = yield* startServer(options)
      const agent = yield* enroll(first, "web-1")
      yield* report(
        first,
        agent,
        { check_id: "disk", status: "warning" },
        { check_id: "load", status: "critical" },
      )
      const retried = Effect.map(
        outboxOf(first),
        (items) => items.every(({ state }) => state === "retry") && items,
      )
      for (const { last_error } of yield* until("both attempts have failed", retried)) {
        assert.match(last_error ?? "", /ECONNREFUSED|connect/)
      }
      yield* report(first, agent, { check_id: "disk", status: "ok" }, { check_id: "load", status: "warning" })
      yield* first.kill
      yield* receiver.open
      const second = yield* startServer(options)
      const sent = Effect.map(
        outboxOf(second),
        (items) => items.every(({ state }) => state === "sent") && items,
      )
      assert.lengthOf(yield* until("all is delivered", sent), 3)
      assert.sameMembers(
        Array.from(
          // A receiver that answers too late gets a notification again.
          new Set(
            receiver.arrivals.map(
              ({ message: { type, data } }) => `${type} ${data.incident.incident_key} ${data.severity}`,
            ),
          ),
        ),
        [
          "incident.firing web-1/disk warning",
          "incident.resolved web-1/disk warning",
          "incident.firing web-1/load critical",
        ],
      )
      assert.deepStrictEqual(
        receiver.arrivals.filter(({ fault }) => fault !== undefined),
        [],
      )
    }),
  )
})
