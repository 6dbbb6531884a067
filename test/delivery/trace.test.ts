import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { IncidentTrace } from "@tocsin/contract/incidents/IncidentDetail"
import { FIRST_CHANGES, STORY_CHANGES } from "@tocsin/core/kernel/model/timelineCut"
import { ruleOfCause, ruleOfDiscard, ruleOfHold } from "@tocsin/core/heart/notifications/tracedRules"
import { traceIncident } from "@tocsin/core/heart/notifications/traceIncident"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { outboxRecord } from "@tocsin/testing/records"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Result, Schema } from "effect"
import { AGENT, enroll, report, type Result as Reported } from "../service/agents.ts"
import { deferred, delivered, refused } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const NAMES = ["chat", "pager"]
/** Chat first; the pager after a quarter of an hour. */
const ROUTES = [{ steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }]

const openTrace = Effect.fnUntraced(function* (...routes: ReadonlyArray<object>) {
  const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
  const policy = Result.getOrThrow(readPolicy({ routes }, NAMES))
  const process = yield* service.open("first", { keepsHouse: true, rules: { policy } })
  yield* settled
  yield* enroll(process, AGENT)
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  const turns = (status: Reported["status"], more: Partial<Reported> = {}) =>
    Effect.andThen(Effect.orDie(report(process, [{ check: "disk", status, ...more }])), settled)
  const id = () => Array.from(service.rows().incidents.values())[0]?.id ?? assert.fail("there is no incident")
  const timeline = Effect.orDie(Effect.suspend(() => process.operations.incident(id())))
  const trace = Effect.map(timeline, traceIncident)
  return { service, process, after, turns, id, timeline, trace }
})

/** Each decision in a line: minutes, event, about whom, what, and by which rule. */
const lines = ({ entries }: ReturnType<typeof traceIncident>) =>
  entries.map(({ about, at, decided, event, rule }) => {
    const minutes = at === null ? "-" : Math.floor((Number(at) / 1_000 - START_MILLIS) / 60_000)
    return `${minutes} ${event} ${about}: ${decided} #${rule.split("#")[1]}`
  })

describe("the trace of an incident", () => {
  it.effect("states each decision of its story, oldest first", () =>
    Effect.gen(function* () {
      const { after, id, process, trace, turns } = yield* openTrace(...ROUTES)
      const matchers = [{ field: "check_id", op: "=", value: "disk" }] as const
      const silence = yield* Effect.orDie(
        process.operations.silence({ matchers, for: Duration.minutes(5), comment: "a new disk" }),
      )
      yield* after("1 minute")
      yield* turns("critical")
      const held = yield* trace
      assert.deepStrictEqual(lines(held), [
        "1 event a/disk: open the incident as critical #incidents",
        "1 event chat: hold a firing of critical #firings",
        "5 next chat: send a firing once nothing holds it #silences",
        "20 next pager: send a firing #firings",
      ])
      assert.include(held.entries[2]?.because, `held by silence:${silence.id} until `)

      yield* after("20 minutes")
      yield* Effect.orDie(process.operations.acknowledge(id(), { for: Duration.hours(1), note: "on it" }))
      yield* after("1 minute")
      yield* turns("ok")
      const whole = yield* trace
      assert.deepStrictEqual(lines(whole), [
        "1 event a/disk: open the incident as critical #incidents",
        "1 event chat: hold a firing of critical #firings",
        "5 evaluation chat: make it due #holds",
        "5 claim chat: attempt it for the first time #delivery",
        "5 result chat: sent #delivery",
        "20 evaluation pager: send a firing of critical #firings",
        "20 claim pager: attempt it for the first time #delivery",
        "20 result pager: sent #delivery",
        "21 action incident: acknowledge the incident until 2026-01-31T09:51:00.000Z #acknowledgements",
        "22 event a/disk: resolve the incident #incidents",
        "22 event chat: send a resolved #when-a-row-is-written",
        "22 event pager: send a resolved #when-a-row-is-written",
        "22 claim chat: attempt it for the first time #delivery",
        "22 claim pager: attempt it for the first time #delivery",
        "22 result chat: sent #delivery",
        "22 result pager: sent #delivery",
      ])
      assert.include(whole.entries[2]?.because, `in force while it waited: silence:${silence.id}`)
      assert.match(whole.entries[8]?.because ?? "", / did it: on it$/)
      const wire = Schema.encodeSync(IncidentTrace)(whole)
      assert.strictEqual(wire.entries.length, whole.entries.length)
    }),
  )

  it.effect("names the fault of a receiver and the next attempt", () =>
    Effect.gen(function* () {
      const { after, service, trace, turns } = yield* openTrace({ to: ["chat"] })
      service.receivers.answerWith(deferred)
      yield* turns("critical")
      const [, , , failed] = (yield* trace).entries
      assert.match(failed?.decided ?? "", /^try again at /)
      assert.strictEqual(failed?.because, service.rows().outbox.values().next().value?.last_error)
      service.receivers.answerWith(delivered)
      yield* after("1 minute")
      assert.include((yield* trace).entries.at(-1)?.because, "after 2 attempts")
    }),
  )

  it.effect("states a dead letter and its replay, and a firing that was discarded", () =>
    Effect.gen(function* () {
      const { after, process, service, trace, turns } = yield* openTrace({ to: ["chat"] })
      service.receivers.answerWith(refused)
      yield* turns("critical")
      const failed = (yield* trace).entries.at(-1)
      assert.deepInclude(failed, { about: "chat", decided: "stop: it failed", event: "result" })
      service.receivers.answerWith(deferred)
      yield* after("1 minute")
      const item = service.rows().outbox.values().next().value
      yield* Effect.orDie(process.operations.replay(item?.id ?? assert.fail("there is no notification")))
      yield* after("10 seconds")
      assert.include(lines(yield* trace), "1 action chat: start its attempts over #dead-letters")
    }),
  )

  it.effect("states a firing that was held until its incident resolved, and its release by an operator", () =>
    Effect.gen(function* () {
      const { process, service, trace, turns } = yield* openTrace({ to: ["chat"] })
      const matchers = [{ field: "check_id", op: "=", value: "disk" }] as const
      yield* Effect.orDie(
        process.operations.silence({ matchers, for: Duration.hours(1), comment: "a new disk" }),
      )
      yield* turns("warning")
      const item = service.rows().outbox.values().next().value
      yield* Effect.orDie(process.operations.release(item?.id ?? assert.fail("there is no notification")))
      yield* settled
      assert.include(lines(yield* trace), "0 action chat: end its holds #release")
      yield* turns("critical")
      yield* turns("ok")
      assert.include(lines(yield* trace), "0 evaluation chat: discard it #discarded-rows")
    }),
  )

  it.effect("says that no receiver is notified, and why", () =>
    Effect.gen(function* () {
      const { trace, turns } = yield* openTrace(...ROUTES)
      yield* turns("critical", { loud: false })
      const last = (yield* trace).entries.at(-1)
      assert.strictEqual(last?.decided, "notify no receiver")
      assert.include(last?.because, "none of its results had notifications enabled")
    }),
  )

  it.effect("is bounded: it keeps how the incident began and what happens now", () =>
    Effect.gen(function* () {
      const { timeline, trace, turns } = yield* openTrace(...ROUTES)
      yield* turns("critical")
      const whole = yield* timeline
      const [change] = whole.changes
      const many = Array.from({ length: 1_200 }, (_, place) => ({
        ...(change ?? assert.fail("there is no change")),
        seq: 1_200 - place,
        changed_at: Instant.fromMillis(START_MILLIS - place),
      }))
      const cut = traceIncident({
        ...whole,
        changes: many,
        incident: { ...whole.incident, member_changes: 1_200 },
      })
      assert.strictEqual(cut.entries.length, STORY_CHANGES)
      assert.strictEqual(cut.entries[0]?.decided, "open the incident as critical")
      assert.strictEqual(cut.entries.at(-1)?.event, "next")
      const length = (yield* trace).entries.length - 1 + 1_200
      assert.strictEqual(cut.left_out, length - STORY_CHANGES)
      assert.isAbove(length, FIRST_CHANGES)
      const sent = Array.from({ length: 10_000 }, (_, place) =>
        outboxRecord(`o${place}`, "i", {
          state: "sent",
          created_at: Instant.fromMillis(START_MILLIS - place),
        }),
      )
      const notified = traceIncident({ ...whole, outbox: sent, next: [] })
      assert.strictEqual(notified.entries.length, STORY_CHANGES)
      assert.isAtLeast(notified.left_out, 9_000)
    }),
  )
})

const page = readFileSync("docs/rules.md", "utf8")
const anchors = new Set(
  Array.from(page.matchAll(/^#+ (.+)$/gm), ([, title = ""]) => title.toLowerCase().replaceAll(" ", "-")),
)

const CAUSES = ["opened", "worsened", "reminder", "escalation", "ack_ran_out", "handover", undefined] as const
const HOLDS = [
  "ack",
  "after",
  "clock",
  "notifications_off",
  "not_owed",
  "outage",
  "parent:a/disk:b",
  "parent_grace",
  "quiet",
  "silence:1",
  "window:night:2",
] as const
const DISCARDS = [
  "incident_resolved",
  "firing_refused",
  "coalesced",
  "unnamed",
  "agent_gone",
  "notifier_gone",
  "shadowed",
  undefined,
] as const

describe("the rule of a decision", () => {
  it.each([
    ...HOLDS.map(ruleOfHold),
    ...DISCARDS.map(ruleOfDiscard),
    ...CAUSES.map((cause) => ruleOfCause(outboxRecord("o", "i", { cause }))),
    ruleOfCause(outboxRecord("o", "i", { event_type: "resolved" })),
  ])("%s is a section of the rules", (rule) => {
    const [file, anchor = ""] = rule.split("#")
    assert.strictEqual(file, "docs/rules.md")
    assert.isTrue(anchors.has(anchor), anchor)
  })
})
