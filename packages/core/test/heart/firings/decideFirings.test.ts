import { assert, describe, expect, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { Duration } from "effect"
import * as fc from "fast-check"
import { decideFirings, owedFirings } from "../../../src/heart/firings/decideFirings.ts"
import type { FiringFacts } from "../../../src/heart/firings/FiringFacts.ts"
import { decideHolds } from "../../../src/heart/firings/decideHolds.ts"
import { freed, heldAtClaim, type Hold } from "../../../src/heart/firings/Hold.ts"
import { NamedRotas } from "../../../src/heart/firings/namedRotas.ts"
import { NO_PARENTS } from "../../../src/heart/firings/parents.ts"
import { announce, NOT_ANNOUNCED, reachedAt, SEVERITIES } from "../../../src/heart/model/Announced.ts"
import { type NotifierName, type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { isHeld, type OutboxRecord } from "../../../src/heart/model/OutboxRecord.ts"
import { compileRotas } from "../../../src/heart/policy/onCall.ts"
import type { NamedReceiver, Naming } from "../../../src/heart/policy/routing.ts"

const minute = (count: number) => Instant.fromMillis(1_769_848_200_000 + count * 60_000)
const RECEIVERS: ReadonlyArray<NotifierName> = ["chat", "pager"]
const againAfter = Duration.minutes(10)

const step = (first: number, more: Partial<NamedReceiver> = {}): NamedReceiver => ({
  first: Duration.minutes(first),
  later: [],
  remind: undefined,
  ...more,
})

const later = (...delays: ReadonlyArray<number>): NamedReceiver => ({
  later: delays.map((delay) => Duration.minutes(delay)),
  remind: undefined,
})

const naming = (named: Readonly<Record<string, NamedReceiver>>, warned = named): Naming => ({
  named: new Map(Object.entries(named)),
  at: (severity) => new Map(Object.entries(severity === "warning" ? warned : named)),
  isCut: false,
})

const critical = { severity: "critical", announced: "critical", reached_critical_at: minute(0) } as const

const facts = (given: Partial<FiringFacts> = {}): FiringFacts => ({
  incident: incidentRecord("i", { opened_at: minute(0), ...critical }),
  firings: [],
  withReplaced: given.firings ?? [],
  naming: naming({ chat: step(0) }),
  covering: [],
  parents: NO_PARENTS,
  quiet: new Map(),
  graceUntil: undefined,
  receivers: new Set(RECEIVERS),
  hasRoutes: true,
  hasLaterSteps: true,
  ...given,
})

const sent = (receiver: NotifierName, severity: Severity, at = 0): OutboxRecord =>
  outboxRecord(`${receiver} ${severity} ${at}`, "i", {
    receiver,
    severity,
    state: "sent",
    next_attempt_at: undefined,
    first_attempted_at: minute(at),
    updated_at: minute(at),
  })

const held = (receiver: NotifierName, changes: Partial<OutboxRecord> = {}): OutboxRecord =>
  outboxRecord(`${receiver} held ${changes.incident_seq}`, "i", {
    receiver,
    holds: [{ by: "after", until: Number(minute(5)) }],
    next_attempt_at: undefined,
    next_evaluation_at: minute(5),
    ...changes,
  })

const silence: Hold = { by: "silence:s", until: minute(60) }

/** The decision of an evaluation, in short. */
const decided = (given: Partial<FiringFacts>, now: number) => {
  const evaluation = decideFirings(facts(given), minute(now))
  return {
    written: evaluation.written.map(({ cause, holds, receiver }) => [
      receiver,
      cause,
      ...holds.inForce.map(({ by }) => by),
    ]),
    held: evaluation.held.map((one) => [
      one.item.receiver,
      one.becomes,
      ...(one.becomes === "held" ? one.holds.inForce.map(({ by }) => by) : [one.item.cause]),
    ]),
    next: evaluation.nextEvaluationAt,
  }
}

describe("an evaluation of an incident", () => {
  it("writes what a named receiver is owed, and nothing to one that knows it", () => {
    expect(decided({}, 0).written).toEqual([["chat", "opened"]])
    expect(decided({ firings: [sent("chat", "critical")] }, 1).written).toEqual([])
    expect(decided({ firings: [sent("chat", "warning")] }, 1).written).toEqual([["chat", "worsened"]])
    expect(decided({ naming: undefined }, 1).written).toEqual([])
    expect(decided({ hasRoutes: false }, 1).written).toEqual([])
  })

  it("owes a receiver that works what it refused before, once by an attempt, in a day", () => {
    const known = sent("chat", "critical")
    const refused = {
      ...sent("chat", "critical", 10),
      state: "failed",
      cause: "reminder",
      created_at: minute(10),
    } as const
    const again = (by: "attempt" | "change", at: number, last: OutboxRecord = refused, now = 31) =>
      decided({ firings: [known, last], repaired: new Map([["chat", { at: minute(at), by }]]) }, now).written
    expect(again("attempt", 30)).toEqual([["chat", "reminder"]])
    expect(again("attempt", 9)).toEqual([])
    expect(again("attempt", 30, { ...refused, repaired_by: "attempt" })).toEqual([])
    expect(again("change", 30, { ...refused, repaired_by: "attempt" })).toEqual([["chat", "reminder"]])
    expect(again("change", 30, refused, 10 + 24 * 60)).toEqual([["chat", "reminder"]])
    expect(again("change", 30, refused, 11 + 24 * 60)).toEqual([])
    // It counts when it was written, also where attempts went on for long.
    expect(again("change", 30, { ...refused, updated_at: minute(29) }, 11 + 24 * 60)).toEqual([])
    // A message that an attempt has brought once is not brought by another after a change.
    const brought = (by: "attempt" | "change", last: OutboxRecord) => {
      const repaired = new Map([["chat", { at: minute(30), by }]])
      return decideFirings(facts({ firings: [known, last], repaired }), minute(31)).written[0]?.repaired_by
    }
    expect(brought("attempt", refused)).toBe("attempt")
    expect(brought("change", refused)).toBe("change")
    expect(brought("change", { ...refused, repaired_by: "attempt" })).toBe("attempt")
  })

  it("writes a first step held by its delay, and a later one when it is due", () => {
    const steps = naming({ chat: step(5), pager: later(15) })
    expect(decided({ naming: steps }, 1)).toEqual({
      written: [["chat", "opened", "after"]],
      held: [],
      next: minute(15),
    })
    expect(decided({ naming: steps, firings: [sent("chat", "critical", 5)] }, 15)).toEqual({
      written: [["pager", "escalation"]],
      held: [],
      next: undefined,
    })
  })

  it("writes the row of a receiver that a first step names too, even if a later one notifies it sooner", () => {
    const steps = naming({ pager: { ...later(5), first: Duration.hours(1) } })
    expect(decided({ naming: steps }, 1)).toEqual({
      written: [["pager", "escalation", "after"]],
      held: [],
      next: minute(5),
    })
  })

  it("takes a first step for the cause where a later one of a milder severity is due at the same time", () => {
    const worsened = incidentRecord("i", {
      ...critical,
      opened_at: minute(0),
      reached_warning_at: minute(0),
      reached_critical_at: minute(5),
    })
    const names = naming({ pager: step(1) }, { pager: later(6) })
    expect(decided({ incident: worsened, naming: names }, 6).written).toEqual([["pager", "opened"]])
  })

  it("counts a delay from the severity that was announced first, if its routes name the receiver too", () => {
    const incident = incidentRecord("i", {
      ...critical,
      reached_critical_at: minute(9),
      reached_warning_at: minute(0),
    })
    const both = naming({ chat: step(10) })
    expect(decided({ incident, naming: both }, 10).written).toEqual([["chat", "opened"]])
    const onlyCritical = naming({ chat: step(10) }, {})
    expect(decided({ incident, naming: onlyCritical }, 10).written).toEqual([["chat", "opened", "after"]])
  })

  it("frees a held firing when its last hold ends, with the cause by what its receiver knows", () => {
    expect(decided({ firings: [held("chat")] }, 5).held).toEqual([["chat", "due", "opened"]])
    expect(decided({ firings: [held("chat")], covering: [silence] }, 5).held).toEqual([
      ["chat", "held", "silence:s"],
    ])
    const known = [sent("chat", "warning"), held("chat", { cause: "opened", incident_seq: 2 })]
    expect(decided({ firings: known }, 5).held).toEqual([["chat", "due", "worsened"]])
  })

  it("keeps a held firing that nobody is owed, or whose members are all silent", () => {
    const knows = [sent("chat", "critical"), held("chat", { incident_seq: 2 })]
    expect(decided({ firings: knows }, 5).held).toEqual([["chat", "held", "not_owed"]])
    expect(decided({ firings: [held("chat")], naming: undefined }, 5).held).toEqual([
      ["chat", "held", "notifications_off"],
    ])
  })

  it("names who has a firing where too many members are left out, and nobody else", () => {
    const cut = { ...naming({}), isCut: true }
    const firings = [sent("chat", "warning")]
    expect(decided({ naming: cut, firings }, 1).written).toEqual([["chat", "worsened"]])
    expect(decided({ naming: naming({}), firings }, 1).written).toEqual([])
    const owed = owedFirings(
      { ...facts({ naming: cut }), firings },
      { toAll: false, was: undefined },
      minute(1),
    )
    expect(owed.map(({ receiver }) => receiver)).toEqual(["chat"])
    expect(decided({ naming: cut, firings: [held("chat")] }, 5).held).toEqual([["chat", "due", "opened"]])
  })

  it("puts what a policy made owed after its time behind all else, until it is released", () => {
    const steps = facts({ naming: naming({ pager: later(15) }) })
    const isBackfill = (now: number) => decideFirings(steps, minute(now)).written[0]?.is_backfill
    expect(isBackfill(15)).toBe(false)
    expect(isBackfill(17)).toBe(true)
    const waiting = held("chat", { is_backfill: true })
    const { incident } = steps
    const at = { now: minute(5), past: [] }
    expect(freed(waiting, incident, "hold_ended", at).is_backfill).toBe(true)
    expect(freed(waiting, incident, "released", at).is_backfill).toBe(false)
  })

  it("sends what must be sent while its receiver is named, and discards it otherwise", () => {
    const must = [
      sent("chat", "critical"),
      held("chat", { must_send: true, cause: "worsened", incident_seq: 2 }),
    ]
    expect(decided({ firings: must }, 5).held).toEqual([["chat", "due", "worsened"]])
    expect(decided({ firings: must, naming: naming({ pager: later(60) }) }, 5).held).toEqual([
      ["chat", "discarded", "worsened"],
    ])
  })

  it("waits after an outage with what has a delay, and not with what is due at its event", () => {
    const graceUntil = minute(12)
    expect(decided({ graceUntil }, 10).written).toEqual([["chat", "opened"]])
    expect(decided({ graceUntil, naming: naming({ chat: step(5) }) }, 10).written).toEqual([
      ["chat", "opened", "outage"],
    ])
    expect(decided({ graceUntil, firings: [held("chat")] }, 10).held).toEqual([["chat", "held", "outage"]])
    expect(decided({ graceUntil, firings: [held("chat")], covering: [silence] }, 10).held).toEqual([
      ["chat", "held", "silence:s"],
    ])
  })

  it("waits so once, also where its claim finds another hold before it is sent", () => {
    const incident = incidentRecord("i", { opened_at: minute(0), ...critical })
    const waiting = held("chat", {
      holds: [{ by: "outage", until: Number(minute(12)) }],
      next_evaluation_at: minute(12),
    })
    expect(decided({ graceUntil: minute(12), firings: [waiting] }, 12).held).toEqual([
      ["chat", "due", "opened"],
    ])
    const [ended] = decideFirings(facts({ firings: [waiting] }), minute(12)).held
    const past = ended?.becomes === "due" ? ended.past : []
    const row = freed(waiting, incident, "hold_ended", { now: minute(12), past })
    const holds = decideHolds(facts({ covering: [silence] }), { row, receivers: ["chat"] }, minute(13))
    const given = { graceUntil: minute(62), firings: [heldAtClaim({ incident, row }, holds, minute(13))] }
    expect(decided({ ...given, covering: [silence] }, 59).held).toEqual([["chat", "held", "silence:s"]])
    for (const now of [20, 61]) expect(decided(given, now).held).toEqual([["chat", "due", "opened"]])
  })

  it("reminds after the last attempt, also under holds, and through a firing that is not owed", () => {
    const reminding = naming({ chat: step(0, { remind: Duration.minutes(30) }) })
    const firings = [sent("chat", "critical", 3)]
    expect(decided({ naming: reminding, firings }, 32)).toEqual({ written: [], held: [], next: minute(33) })
    expect(decided({ naming: reminding, firings }, 33).written).toEqual([["chat", "reminder"]])
    expect(decided({ naming: reminding, firings, covering: [silence] }, 33).written).toEqual([
      ["chat", "reminder", "silence:s"],
    ])
    const inRetry = [{ ...sent("chat", "critical", 3), state: "retry", next_attempt_at: minute(6) } as const]
    expect(decided({ naming: reminding, firings: inRetry }, 5).next).toEqual(minute(35))
    const unowed = [...firings, held("chat", { incident_seq: 2 })]
    expect(decided({ naming: reminding, firings: unowed }, 33).held).toEqual([["chat", "due", "reminder"]])
  })

  it("reminds nobody who is owed a firing: one that is named again after the incident worsened", () => {
    const reminding = naming({ chat: step(0, { remind: Duration.minutes(30) }) })
    const firings = [sent("chat", "warning", 3)]
    expect(decided({ naming: reminding, firings }, 40).written).toEqual([["chat", "worsened"]])
  })

  it("notifies those who know, or have a held firing, of an acknowledgement that ran out", () => {
    const acknowledgement = {
      ack_by: "eva",
      ack_at: minute(1),
      ack_until: minute(20),
      ack_severity: "critical",
    } as const
    const incident = incidentRecord("i", { ...critical, ...acknowledgement })
    const names = naming({ chat: step(0), pager: later(60) })
    const firings = [sent("chat", "critical")]
    expect(decided({ incident, firings, naming: names }, 19)).toEqual({
      written: [],
      held: [],
      next: minute(20),
    })
    expect(decided({ incident, firings, naming: names }, 20)).toEqual({
      written: [["chat", "ack_ran_out"]],
      held: [],
      next: minute(80),
    })
    expect(decided({ incident, firings: [held("chat")], naming: names }, 20).held).toEqual([
      ["chat", "due", "ack_ran_out"],
    ])
  })

  it("writes a handover as what is owed, also where an acknowledgement runs out at the same moment", () => {
    const rotas = compileRotas(
      { primary: { order: ["pager", "chat"], every: Duration.hours(1), from: "2026-01-31T08:00" } },
      new Set(RECEIVERS),
    )
    const primary = { ...step(0), rotas: ["primary"] }
    const incident = incidentRecord("i", {
      ...critical,
      opened_at: minute(0),
      ack_by: "eva",
      ack_at: minute(61),
      ack_until: minute(90),
      ack_severity: "critical",
    })
    const firings = [sent("pager", "critical"), { ...sent("chat", "critical", 30), rotas: ["primary"] }]
    const onCall = new NamedRotas(rotas ?? assert.fail("no rotas"), new Map([["primary", step(0)]]), {
      now: minute(90),
      overrides: [],
      firings,
      openedAt: minute(0),
      unusable: new Map(),
    })
    const given = facts({ incident, firings, naming: { ...naming({ pager: primary }), onCall } })
    const [row] = decideFirings(given, minute(90)).written
    expect([row?.receiver, row?.cause, row?.must_send]).toEqual(["pager", "handover", false])
  })

  it("states why a receiver is owed a firing, not that a reminder is due as well", () => {
    const reminded = naming({ chat: step(0, { remind: Duration.hours(1) }) })
    const known = sent("chat", "warning")
    expect(decided({ naming: reminded, firings: [known] }, 70).written).toEqual([["chat", "worsened"]])
    const waits = held("chat", { cause: "worsened", holds: [{ by: "silence:s", until: Number(minute(60)) }] })
    expect(decided({ naming: reminded, firings: [known, waits] }, 70).held).toEqual([
      ["chat", "due", "worsened"],
    ])
  })

  it("leaves the firings of a receiver alone that the policy lacks", () => {
    expect(decided({ firings: [held("chat")], receivers: new Set() }, 9)).toEqual({
      written: [],
      held: [],
      next: undefined,
    })
  })

  const receiver = fc.constantFrom(...RECEIVERS)
  const severity = fc.constantFrom(...SEVERITIES)
  const firing = fc.oneof(
    fc.tuple(receiver, severity, fc.nat(20)).map((drawn) => sent(...drawn)),
    fc
      .tuple(receiver, severity, fc.boolean(), fc.nat(9))
      .map(([name, worst, must_send, incident_seq]) =>
        held(name, { severity: worst, must_send, incident_seq }),
      ),
  )
  const story = fc.record({
    announced: severity,
    firings: fc.uniqueArray(firing, { maxLength: 5, selector: ({ id }) => id }),
    delays: fc.dictionary(receiver, fc.nat(30), { maxKeys: 2 }),
    covering: fc.constantFrom([], [silence]),
    now: fc.integer({ min: 0, max: 40 }),
  })

  it("leaves at most one firing of a receiver that waits under holds, and notifies whoever is owed", () => {
    fc.assert(
      fc.property(story, ({ announced, covering, delays, firings, now }) => {
        const incident = incidentRecord("i", {
          severity: "critical",
          ...announce({ ...NOT_ANNOUNCED, severity: announced }, true, { now: minute(0), againAfter }),
        })
        const names = naming(
          Object.fromEntries(Object.entries(delays).map(([name, delay]) => [name, step(delay)])),
        )
        const given = facts({ incident, firings, naming: names, covering })
        const { held: moved, written } = decideFirings(given, minute(now))
        for (const name of RECEIVERS) {
          const kept = moved.filter((one) => one.item.receiver === name && one.becomes !== "discarded")
          const added = written.filter((one) => one.receiver === name)
          expect(kept.length + added.length).toBeLessThanOrEqual(1)
          const had = firings.filter((item) => item.receiver === name && isHeld(item))
          expect(moved.filter((one) => one.item.receiver === name)).toHaveLength(had.length)
          // The last one takes the place of the others.
          const last = Math.max(...had.map(({ incident_seq }) => incident_seq))
          for (const { item } of kept) expect(item.incident_seq).toBe(last)
          const knows = firings
            .filter((item) => item.receiver === name && !isHeld(item))
            .map((item) => SEVERITY_RANK[item.severity])
          const isOwed = delays[name] !== undefined && Math.max(0, ...knows) < SEVERITY_RANK[announced]
          expect(kept.length + added.length === 1 || !isOwed).toBe(true)
          const isDue = knows.length > 0 || (delays[name] ?? 0) <= now
          const isFree =
            kept.some(({ becomes }) => becomes === "due") ||
            added.some(({ holds }) => holds.inForce.length === 0)
          const isDecided = isOwed && !had.some(({ must_send }) => must_send)
          expect(isDecided ? isFree : isDue && covering.length === 0).toBe(isDue && covering.length === 0)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe("an event", () => {
  it("makes receivers owed that know less than is announced, once", () => {
    const names = naming({ chat: step(0), pager: later(15) })
    const owed = (firings: ReadonlyArray<OutboxRecord>, again = false) =>
      owedFirings({ ...facts({ naming: names }), firings }, { toAll: again, was: undefined }, minute(0)).map(
        ({ cause, must_send, receiver: name }) => [name, cause, must_send],
      )
    expect(owed([])).toEqual([
      ["chat", "opened", false],
      ["pager", "escalation", false],
    ])
    expect(owed([sent("chat", "warning"), sent("pager", "critical")])).toEqual([["chat", "worsened", false]])
    expect(owed([held("chat"), sent("pager", "critical")])).toEqual([])
    expect(owed([sent("chat", "critical"), sent("pager", "critical")], true)).toEqual([
      ["chat", "worsened", true],
    ])
    expect(owed([sent("chat", "critical")], true)).toEqual([
      ["chat", "worsened", true],
      ["pager", "escalation", false],
    ])
  })

  it("announces what a loud one shows, lowers it by an improvement, and dates each severity by the first worse", () => {
    const drawn = fc.array(fc.record({ severity: fc.constantFrom(...SEVERITIES), isLoud: fc.boolean() }), {
      minLength: 1,
      maxLength: 11,
    })
    fc.assert(
      fc.property(drawn, (events) => {
        let columns: ReturnType<typeof announce> = NOT_ANNOUNCED
        const had: Array<{ readonly announced: Severity; readonly at: number }> = []
        for (const [n, { isLoud, severity }] of events.entries()) {
          const before = columns.announced
          columns = announce({ ...columns, severity }, isLoud, { now: minute(n), againAfter })
          const isLower = before !== undefined && SEVERITY_RANK[severity] < SEVERITY_RANK[before]
          expect(columns.announced).toBe(isLoud || isLower ? severity : before)
          if (columns.announced !== undefined) had.push({ announced: columns.announced, at: n })
        }
        for (const severity of SEVERITIES) {
          const wasHad = had.some(({ announced }) => announced === severity)
          const first = had.find(({ announced }) => SEVERITY_RANK[announced] >= SEVERITY_RANK[severity])
          expect(reachedAt(columns, severity)).toBe(wasHad && first ? minute(first.at) : undefined)
        }
      }),
      { numRuns: 500 },
    )
  })
})
