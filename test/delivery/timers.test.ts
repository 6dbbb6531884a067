import { assert, describe, it } from "@effect/vitest"
import { acknowledge, withdraw } from "@tocsin/core/heart/acknowledgements/acknowledge"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { signedBy } from "@tocsin/testing/signedBy"
import { AGENT, enroll, report, type Result as Reported } from "../service/agents.ts"
import { openService, type Process } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const NAMES = ["chat", "pager"]

/** Chat first; the pager after a quarter of an hour; a reminder every hour. */
const STEPS = {
  remind: "30m",
  steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }],
}

const documentOf = (...routes: ReadonlyArray<object>) => Result.getOrThrow(readPolicy({ routes }, NAMES))
const policyOf = (...routes: ReadonlyArray<object>) => compilePolicy(documentOf(...routes), NAMES)

const openTimers = Effect.fnUntraced(function* (...routes: ReadonlyArray<object>) {
  // Agents send no heartbeats here.
  const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
  const open = (name: string, ...others: ReadonlyArray<object>) => {
    const under = others.length > 0 ? others : routes
    const rules = under.length > 0 ? { policy: documentOf(...under) } : {}
    return Effect.tap(service.open(name, { keepsHouse: true, rules }), settled)
  }
  const process = yield* open("first")
  yield* enroll(process, AGENT)
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  const turns = (status: Reported["status"], more: Partial<Reported> = {}) =>
    Effect.andThen(Effect.orDie(report(process, [{ check: "disk", status, ...more }])), settled)
  const messages = () =>
    service.receivers.arrivals.map(({ at, notification: { cause, event_type, receiver, severity } }) => {
      const minutes = Math.floor((Number(at) / 1_000 - START_MILLIS) / 60_000)
      return `${minutes} min: ${receiver} ${cause ?? event_type} ${severity}`
    })
  const silence = (duration: Duration.Duration) =>
    process.operations.silence({
      matchers: [{ field: "check_id", op: "=", value: "disk" }],
      for: duration,
      comment: "a new disk",
    })
  const incident = () => Array.from(service.rows().incidents.values()).at(-1) ?? assert.fail("no incident")
  const acknowledges = (minutes: number, by: Process = process) =>
    Effect.flatMap(Instant.now, (now) =>
      by.commits.transact(
        acknowledge(
          {
            id: incident().id,
            note: undefined,
            until: Instant.plus(now, Duration.minutes(minutes)),
            severity: undefined,
          },
          signedBy("eva"),
        ),
      ),
    )
  return { service, process, open, after, turns, messages, incident, acknowledges, silence }
})

const stepped = testsFrom(openTimers({ steps: STEPS.steps }), it.effect)

describe("a later step", () => {
  stepped("is notified once, within 15 s of its time, however many replicas look", function* (opened) {
    const { after, messages, open, turns } = opened
    yield* open("second")
    yield* turns("critical")
    yield* after("899 seconds")
    assert.deepStrictEqual(messages(), ["0 min: chat opened critical"])
    yield* after("16 seconds")
    assert.deepStrictEqual(messages().slice(1), ["15 min: pager escalation critical"])
    yield* after("45 minutes")
    assert.strictEqual(messages().length, 2)
    yield* turns("ok")
    // Receivers are told at the same time.
    assert.deepStrictEqual(messages().slice(2).toSorted(), [
      "60 min: chat resolved critical",
      "60 min: pager resolved critical",
    ])
  })

  it.effect("is not notified of an incident that resolved before", () =>
    Effect.gen(function* () {
      const { after, incident, messages, turns } = yield* openTimers(STEPS)
      yield* turns("critical")
      yield* after("10 minutes")
      yield* turns("ok")
      assert.isUndefined(incident().next_evaluation_at)
      yield* after("1 hour")
      assert.deepStrictEqual(messages(), ["0 min: chat opened critical", "10 min: chat resolved critical"])
    }),
  )

  stepped("is not notified of an incident without a loud member, until one joins", function* (opened) {
    const { after, messages, turns } = opened
    yield* turns("warning", { loud: false })
    yield* after("30 minutes")
    assert.deepStrictEqual(messages(), [])
    yield* turns("critical")
    yield* after("16 minutes")
    assert.deepStrictEqual(messages(), ["30 min: chat opened critical", "45 min: pager escalation critical"])
  })

  it.effect("waits while the incident is acknowledged, and begins when that is withdrawn", () =>
    Effect.gen(function* () {
      const { acknowledges, after, incident, messages, process, turns } = yield* openTimers({
        steps: STEPS.steps,
      })
      yield* turns("critical")
      yield* after("5 minutes")
      yield* acknowledges(120)
      yield* after("30 minutes")
      assert.strictEqual(messages().length, 1)
      yield* process.commits.transact(withdraw(incident().id, signedBy("eva")))
      yield* after("899 seconds")
      assert.strictEqual(messages().length, 1)
      yield* after("16 seconds")
      assert.deepStrictEqual(messages().slice(1), ["50 min: pager escalation critical"])
    }),
  )
})

describe("an incident that worsens", () => {
  stepped("is told to receivers of later steps after their delay", function* (opened) {
    const { after, messages, turns } = opened
    yield* turns("warning")
    yield* after("16 minutes")
    yield* turns("critical")
    assert.deepStrictEqual(messages().toSorted(), [
      "0 min: chat opened warning",
      "15 min: pager escalation warning",
      "16 min: chat worsened critical",
    ])
    yield* after("16 minutes")
    assert.deepStrictEqual(messages().slice(3), ["31 min: pager escalation critical"])
  })
})

const test = testsFrom(openTimers({ to: ["chat"] }), it.effect)

describe("a reminder", () => {
  it.effect("follows each attempt after the time of the route", () =>
    Effect.gen(function* () {
      const { after, messages, turns } = yield* openTimers({ remind: "20m", to: ["chat"] })
      yield* turns("warning")
      yield* after("10 minutes")
      yield* turns("critical")
      yield* after("41 minutes")
      assert.deepStrictEqual(messages(), [
        "0 min: chat opened warning",
        "10 min: chat worsened critical",
        "30 min: chat reminder critical",
        "50 min: chat reminder critical",
      ])
    }),
  )

  it.effect("a longer route delay does not delay an existing escalation", () =>
    Effect.gen(function* () {
      const { after, messages, process, turns } = yield* openTimers({ remind: "15m", to: ["chat"] })
      yield* turns("critical")
      yield* process.policy.replace(policyOf({ after: "2h", remind: "15m", to: ["chat"] }))
      yield* after("16 minutes")
      assert.deepStrictEqual(messages().slice(1), ["15 min: chat reminder critical"])
    }),
  )

  it.effect("is not sent where the only member last changed silently", () =>
    Effect.gen(function* () {
      const { after, messages, turns } = yield* openTimers({ remind: "15m", to: ["chat"] })
      yield* turns("warning")
      yield* turns("critical", { loud: false })
      yield* after("16 minutes")
      assert.deepStrictEqual(messages(), ["0 min: chat opened warning"])
    }),
  )

  it.effect("comes soon after a silence over it is ended by hand", () =>
    Effect.gen(function* () {
      const { after, messages, process, silence, turns } = yield* openTimers({ remind: "15m", to: ["chat"] })
      yield* turns("critical")
      const { id } = yield* silence(Duration.hours(10))
      yield* after("32 minutes")
      yield* process.operations.expireSilence(id)
      yield* after("15 seconds")
      assert.deepStrictEqual(messages().slice(1), ["32 min: chat reminder critical"])
    }),
  )

  test("follows the routes of a policy that is new at a start", function* (opened) {
    const { after, messages, open, process, turns } = opened
    yield* turns("critical")
    yield* process.close
    yield* after("30 minutes")
    yield* open("second", { remind: "15m", to: ["chat"] })
    yield* after("135 seconds")
    assert.deepStrictEqual(messages().slice(1), ["32 min: chat reminder critical"])
  })

  test("follows the routes of the policy that is in force now", function* (opened) {
    const { after, messages, process, turns } = opened
    yield* turns("critical")
    yield* after("30 minutes")
    assert.strictEqual(messages().length, 1)
    yield* process.policy.replace(policyOf({ remind: "20m", to: ["chat"] }))
    yield* after("15 seconds")
    assert.deepStrictEqual(messages().slice(1), ["30 min: chat reminder critical"])
  })

  it.effect("follows the routes of each loud member", () =>
    Effect.gen(function* () {
      const { after, messages, turns } = yield* openTimers(
        { match: ["severity = critical"], to: ["pager"] },
        { match: ["severity = warning"], remind: "20m", to: ["chat"] },
      )
      const shared = { key: "shared" }
      yield* turns("warning", { ...shared, check: "memory" })
      yield* turns("critical", shared)
      yield* after("41 minutes")
      assert.deepStrictEqual(messages().toSorted(), [
        "0 min: chat opened warning",
        "0 min: chat worsened critical",
        "0 min: pager opened critical",
        "20 min: chat reminder critical",
        "40 min: chat reminder critical",
      ])
    }),
  )
})

describe("an acknowledgement that runs out", () => {
  stepped("notifies the receivers that know, and begins later steps again", function* (opened) {
    const { acknowledges, after, incident, messages, turns } = opened
    yield* turns("critical")
    yield* after("5 minutes")
    yield* acknowledges(20)
    yield* after("1199 seconds")
    assert.strictEqual(messages().length, 1)
    yield* after("16 seconds")
    assert.deepStrictEqual(messages().slice(1).toSorted(), ["25 min: chat ack_ran_out critical"])
    assert.isUndefined(incident().ack_until)
    yield* after("30 minutes")
    assert.deepStrictEqual(messages().slice(2), ["40 min: pager escalation critical"])
  })

  it.effect("does so without a policy too", () =>
    Effect.gen(function* () {
      const { acknowledges, after, messages, turns } = yield* openTimers()
      yield* turns("critical")
      yield* acknowledges(10)
      yield* after("11 minutes")
      assert.deepStrictEqual(messages().slice(2).toSorted(), [
        "10 min: chat ack_ran_out critical",
        "10 min: pager ack_ran_out critical",
      ])
    }),
  )

  test("an expired acknowledgement sends the firing that it held, once", function* (opened) {
    const { acknowledges, after, messages, service, turns } = opened
    yield* turns("critical", { loud: false, key: "shared" })
    yield* acknowledges(30)
    yield* turns("critical", { check: "memory", key: "shared" })
    yield* after("1 minute")
    assert.deepStrictEqual(messages(), [])
    yield* after("30 minutes")
    assert.deepStrictEqual(messages(), ["30 min: chat ack_ran_out critical"])
    assert.strictEqual(service.rows().outbox.size, 1)
  })

  it.effect("ends within 15 s under a longer silence, which holds its firing", () =>
    Effect.gen(function* () {
      const { acknowledges, after, incident, messages, service, silence, turns } = yield* openTimers({
        remind: "1h",
        to: ["chat"],
      })
      yield* turns("critical")
      yield* silence(Duration.minutes(10))
      yield* acknowledges(2)
      yield* after("135 seconds")
      assert.isUndefined(incident().ack_until)
      const causes = Array.from(service.rows().outbox.values(), ({ cause, state }) => `${cause} ${state}`)
      assert.deepStrictEqual(causes, ["opened sent", "ack_ran_out pending"])
      yield* after("9 minutes")
      assert.deepStrictEqual(messages().slice(1), ["10 min: chat ack_ran_out critical"])
    }),
  )

  test("notifies nobody where no loud member is present", function* (opened) {
    const { acknowledges, after, incident, messages, turns } = opened
    yield* turns("critical", { loud: false })
    yield* acknowledges(30)
    yield* after("1 hour")
    assert.deepStrictEqual(messages(), [])
    assert.isUndefined(incident().ack_until)
  })
})

it.effect("without a policy no incident is scheduled for evaluation", () =>
  Effect.gen(function* () {
    const { after, incident, turns } = yield* openTimers()
    yield* turns("warning")
    yield* turns("critical")
    yield* after("1 minute")
    assert.isUndefined(incident().next_evaluation_at)
  }),
)
