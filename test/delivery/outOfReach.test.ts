import { assert, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT, enroll, report } from "../service/agents.ts"
import { type Answer, deferred, delivered, hanging, refused } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const NAMES = ["chat", "pager"]
const ROTAS = { rotas: { primary: { order: NAMES, every: "31d", from: "2026-01-15T00:00" } } }
const documentTo = (...to: ReadonlyArray<string>) =>
  Result.getOrThrow(readPolicy({ ...ROTAS, routes: [{ to }] }, NAMES))
const DOCUMENT = documentTo("primary")

/** A server that lacks the secret of a receiver, or whose chat answers otherwise. */
const openWithout = Effect.fnUntraced(function* (
  receiver?: string,
  answer: Answer = delivered,
  lease?: Duration.Duration,
  document = DOCUMENT,
) {
  const service = yield* openService({
    notifiers: NAMES,
    deadAfter: Duration.days(365),
    answerTo: (notification) => (notification.receiver === "chat" ? answer : delivered),
  })
  const process = yield* service.open("first", {
    keepsHouse: true,
    reports: true,
    ...(lease && { lease }),
    rules: { policy: document },
  })
  const use = (...unavailable: ReadonlyArray<string>) => {
    const reasons = new Map(unavailable.map((name) => [name, "its secret cannot be read"]))
    const policy = { ...compilePolicy(document, NAMES), unavailable: reasons }
    const rest = NAMES.filter((name) => !unavailable.includes(name))
    return Effect.andThen(process.sendsTo(...rest), process.policy.replace(policy))
  }
  yield* enroll(process, AGENT)
  yield* use(...(receiver === undefined ? [] : [receiver]))
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  const messages = () =>
    service.receivers.arrivals.map(({ at, notification: { cause, event_type, receiver: to } }) => {
      const seconds = Math.floor((Number(at) / 1_000 - START_MILLIS) / 1_000)
      return [Math.floor(seconds / 30) / 2, to, cause ?? event_type].join(" ")
    })
  const reports = (status: "critical" | "ok") =>
    Effect.andThen(Effect.orDie(report(process, [{ check: "disk", status }])), settled)
  return { after, messages, reports, service, use }
})

it.effect("the next turn is on call beside a receiver that no server can use for two minutes", () =>
  Effect.gen(function* () {
    const { after, messages, reports, use } = yield* openWithout("chat")
    yield* reports("critical")
    yield* after("110 seconds")
    assert.deepStrictEqual(messages(), [])
    yield* after("30 seconds")
    assert.deepStrictEqual(messages(), ["2 pager escalation"])
    yield* use()
    yield* after("30 seconds")
    assert.deepStrictEqual(messages().slice(1), ["2 chat opened"])
    yield* reports("ok")
    yield* after("30 seconds")
    assert.deepStrictEqual(messages().slice(2).toSorted(), ["2.5 chat resolved", "2.5 pager resolved"])
  }),
)

it.effect("the next turn has an escalation though it knows the incident, as another route names it", () =>
  Effect.gen(function* () {
    const document = documentTo("pager", "primary")
    const { after, messages, reports, use } = yield* openWithout(undefined, delivered, undefined, document)
    yield* reports("critical")
    yield* after("1 minute")
    assert.deepStrictEqual(messages().toSorted(), ["0 chat opened", "0 pager opened"])
    yield* use("chat")
    yield* after("150 seconds")
    assert.deepStrictEqual(
      messages()
        .slice(2)
        .map((text) => text.slice(text.indexOf(" ") + 1)),
      ["pager escalation"],
    )
  }),
)

it.effect("the next turn is notified within 15 seconds of a refusal, though nothing else is due", () =>
  Effect.gen(function* () {
    const { after, messages, reports } = yield* openWithout(undefined, refused)
    yield* reports("critical")
    yield* after("15 seconds")
    assert.deepStrictEqual(messages(), ["0 pager escalation"])
    yield* after("1 hour")
    assert.deepStrictEqual(messages().slice(1), [])
  }),
)

it.effect("the next turn is notified within 15 seconds of a last attempt that was lost", () =>
  Effect.gen(function* () {
    const { after, reports, service } = yield* openWithout(undefined, hanging, Duration.hours(25))
    yield* reports("critical")
    yield* after("25 hours")
    const [arrival] = service.receivers.arrivals
    assert.deepInclude(arrival?.notification, { receiver: "pager", cause: "escalation" })
  }),
)

it.effect(
  "the next turn is notified of a mail that has been in retry for half an hour, not for five minutes",
  () =>
    Effect.gen(function* () {
      const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
      const url = { kind: "messenger", url_env: "URL" }
      const chat = { ...url, type: "email", from: "a@example.org", to: ["b@example.org"] }
      const document = { ...ROTAS, receivers: { chat, pager: url }, routes: [{ to: ["primary"] }] }
      const rules = { policy: Result.getOrThrow(readPolicy(document, [])) }
      const process = yield* service.open("first", { keepsHouse: true, rules })
      yield* enroll(process, AGENT)
      service.receivers.answerWith(deferred, { notifier: "chat" })
      yield* Effect.orDie(report(process, [{ check: "disk", status: "critical" }]))
      yield* service.passes("29 minutes")
      assert.deepStrictEqual(service.receivers.arrivals, [])
      yield* service.passes("75 seconds")
      const [arrival] = service.receivers.arrivals
      assert.deepInclude(arrival?.notification, { receiver: "pager", cause: "escalation" })
    }),
)

it.effect("a receiver that works again gets what it refused within 24 hours, and nothing older", () =>
  Effect.gen(function* () {
    const service = yield* openService({ notifiers: ["chat"], deadAfter: Duration.days(365) })
    const process = yield* service.open("first", { keepsHouse: true })
    yield* enroll(process, AGENT)
    const fails = (check: string) => Effect.orDie(report(process, [{ check, status: "critical" }]))
    service.receivers.answerWith(refused)
    yield* fails("old")
    yield* service.passes("1 hour")
    yield* fails("young")
    yield* service.passes(Duration.minutes(1_410))
    service.receivers.answerWith(delivered)
    yield* fails("new")
    yield* service.passes("30 seconds")
    const keys = service.receivers.arrivals.map(({ notification }) => notification.incident.incident_key)
    assert.deepStrictEqual(keys, ["a/new", "a/young"])
  }),
)
