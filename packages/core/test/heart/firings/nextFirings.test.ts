import { describe, expect, it } from "@effect/vitest"
import { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { FiringCause, NotifierName } from "@tocsin/contract/formats/Status"
import { incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { Duration } from "effect"
import type { FiringFacts } from "../../../src/heart/firings/FiringFacts.ts"
import { type Hold, NO_HOLDS } from "../../../src/heart/firings/Hold.ts"
import { nextFirings } from "../../../src/heart/firings/nextFirings.ts"
import { NO_PARENTS } from "../../../src/heart/firings/parents.ts"
import type { IncidentRecord } from "../../../src/heart/model/IncidentRecord.ts"
import type { OutboxRecord } from "../../../src/heart/model/OutboxRecord.ts"
import type { HoldName } from "../../../src/heart/model/StoredHold.ts"
import type { NamedReceiver } from "../../../src/heart/policy/routing.ts"

/** All cases are looked at ten minutes after the opening. */
const NOW = 10
const minute = (count: number) => Instant.fromMillis(1_769_848_200_000 + count * 60_000)
const minutesOf = (at: Instant.Instant) => Number(at - minute(0)) / 60_000_000

const first = (delay: number, more: Partial<NamedReceiver> = {}): NamedReceiver => ({
  first: Duration.minutes(delay),
  later: [],
  remind: undefined,
  ...more,
})
const later = (delay: number): NamedReceiver => ({ later: [Duration.minutes(delay)], remind: undefined })

const sent = (receiver: NotifierName, at = 0): OutboxRecord =>
  outboxRecord(`${receiver} ${at}`, "i", {
    receiver,
    state: "sent",
    next_attempt_at: undefined,
    first_attempted_at: minute(at),
    updated_at: minute(at),
  })

const holds = (...names: ReadonlyArray<HoldName>) =>
  names.map((by) => ({ by, ...(by === "after" && { until: Number(minute(15)) }) }))

const held = (receiver: NotifierName, changes: Partial<OutboxRecord> = {}): OutboxRecord =>
  outboxRecord(`${receiver} held`, "i", {
    receiver,
    holds: holds("after"),
    next_attempt_at: undefined,
    next_evaluation_at: minute(15),
    ...changes,
  })

const retried = (at: number, cause: FiringCause): OutboxRecord =>
  outboxRecord(`chat ${cause}`, "i", {
    receiver: "chat",
    cause,
    state: "retry",
    first_attempted_at: minute(0),
    next_attempt_at: minute(at),
  })

const FIRST = OutboxId.make("01930000-0000-7000-8000-000000000001")
const SECOND = OutboxId.make("01930000-0000-7000-8000-000000000002")

const acknowledged = (until: number): Partial<IncidentRecord> => ({
  ack_by: "alice",
  ack_at: minute(1),
  ack_until: minute(until),
  ack_severity: "critical",
})

interface Case {
  readonly incident?: Partial<IncidentRecord>
  readonly named?: Readonly<Record<string, NamedReceiver>>
  readonly firings?: ReadonlyArray<OutboxRecord>
  readonly facts?: Partial<FiringFacts>
  /** From when to when a hold covers the incident. */
  readonly covered?: { readonly by: Hold["by"]; readonly from: number; readonly until: number }
  /** From when to when the pager is quiet. */
  readonly quiet?: readonly [from: number, until: number]
  /** Each as "receiver: due, cause, hold until end". */
  readonly expected: ReadonlyArray<string>
}

const STEPS = { chat: first(0), pager: later(15) }

const CASES: Readonly<Record<string, Case>> = {
  "a later step comes when it is due": {
    named: STEPS,
    firings: [sent("chat")],
    expected: ["pager: 15, escalation"],
  },
  "without a policy nothing comes next": {
    named: { chat: first(0) },
    firings: [sent("chat")],
    facts: { hasRoutes: false },
    expected: [],
  },
  "without a policy, a firing that is not sent yet comes next": {
    facts: { hasRoutes: false },
    firings: [outboxRecord("chat", "i", { receiver: "chat", next_attempt_at: minute(0) })],
    expected: ["chat: now, opened"],
  },
  "a firing that is tried again comes at its next attempt": {
    firings: [retried(12, "opened")],
    expected: ["chat: 12, opened"],
  },
  "of a firing that is tried again and one held behind it, the first comes next": {
    firings: [
      held("chat", { cause: "worsened", incident_seq: 2 }),
      { ...retried(12, "opened"), severity: "warning" },
    ],
    expected: ["chat: 12, opened"],
  },
  "of two firings of one change that are tried again, the one that was written first comes next": {
    firings: [
      { ...retried(12, "ack_ran_out"), id: SECOND },
      { ...retried(14, "opened"), id: FIRST },
    ],
    expected: ["chat: 14, opened"],
  },
  "a step comes in its time, before what its receiver is owed since the incident got worse": {
    incident: { reached_warning_at: minute(0), reached_critical_at: minute(9) },
    named: { pager: { later: [Duration.minutes(8), Duration.minutes(12)], remind: undefined } },
    firings: [{ ...sent("pager", 8), severity: "warning" }],
    expected: ["pager: 12, escalation"],
  },
  "a reminder comes its time after the last attempt": {
    named: { chat: first(0, { remind: Duration.minutes(30) }) },
    firings: [sent("chat"), sent("chat", 5)],
    expected: ["chat: 35, reminder"],
  },
  "a firing that waits for its route is due at the end of the wait": {
    named: { chat: first(15) },
    firings: [held("chat")],
    expected: ["chat: 15, opened"],
  },
  "a flapping incident delays the first step": {
    named: { chat: first(60) },
    firings: [held("chat", { next_evaluation_at: minute(60) })],
    expected: ["chat: 60, opened"],
  },
  "an acknowledgement ends for the receivers that know, and later steps begin at its end": {
    incident: acknowledged(60),
    named: STEPS,
    firings: [sent("chat")],
    expected: ["chat: 60, ack_ran_out", "pager: 75, escalation"],
  },
  "a later step begins at the end of an acknowledgement": {
    incident: acknowledged(12),
    named: STEPS,
    firings: [sent("chat")],
    expected: ["chat: 12, ack_ran_out", "pager: 27, escalation"],
  },
  "an acknowledgement ends before the wait of a route": {
    incident: acknowledged(12),
    named: { chat: first(15) },
    firings: [held("chat", { holds: holds("after", "ack") })],
    expected: ["chat: 12, ack_ran_out"],
  },
  "an acknowledgement of a milder severity holds nothing": {
    incident: { ...acknowledged(60), ack_severity: "warning" },
    named: { pager: later(15) },
    expected: ["pager: 15, escalation"],
  },
  "a silence holds what is due": {
    firings: [held("chat", { holds: holds("silence:s") })],
    covered: { by: "silence:s", from: 0, until: 20 },
    expected: ["chat: now, opened, silence:s until 20"],
  },
  "a silence that ends before a step is due does not hold it": {
    named: { pager: later(15) },
    covered: { by: "silence:s", from: 0, until: 12 },
    expected: ["pager: 15, escalation"],
  },
  "a step that becomes due in a window comes its delay after that": {
    named: { pager: later(15) },
    covered: { by: "window:w", from: 14, until: 20 },
    expected: ["pager: 35, escalation"],
  },
  "quiet hours that begin before a step is due hold it": {
    incident: { announced: "warning", reached_warning_at: minute(0) },
    named: { pager: later(15) },
    quiet: [14, 90],
    expected: ["pager: 15, escalation, quiet until 90"],
  },
  "an outage holds what was due in it": {
    named: { chat: first(5) },
    facts: { graceUntil: minute(11) },
    expected: ["chat: now, opened, outage until 11"],
  },
  "a held firing stays while no loud member is present": {
    facts: { naming: undefined },
    firings: [held("chat")],
    expected: ["chat: now, opened, notifications_off until a change"],
  },
  "a firing that is not owed any more is not to come": {
    incident: { severity: "warning", announced: "warning", reached_warning_at: minute(0) },
    firings: [sent("chat"), held("chat", { holds: holds("not_owed") })],
    expected: [],
  },
  "a reminder uses the firing that is not owed any more": {
    named: { chat: first(0, { remind: Duration.minutes(30) }) },
    firings: [sent("chat"), held("chat", { holds: holds("not_owed"), cause: "worsened" })],
    expected: ["chat: 30, reminder"],
  },
  "a receiver that is not configured here does not come": {
    named: { ...STEPS, mail: later(20) },
    firings: [sent("chat"), held("mail")],
    facts: { receivers: new Set(["chat", "pager"]) },
    expected: ["pager: 15, escalation"],
  },
  "a resolved incident notifies of itself no more": {
    incident: { state: "resolved", resolved_at: minute(5) },
    named: STEPS,
    expected: [],
  },
}

const played = ({ covered, facts, firings = [], incident, named = { chat: first(0) }, quiet }: Case) => {
  const receivers = new Map(Object.entries(named))
  const given: FiringFacts = {
    incident: incidentRecord("i", {
      opened_at: minute(0),
      announced: "critical",
      reached_critical_at: minute(0),
      ...incident,
    }),
    firings,
    withReplaced: firings,
    naming: { named: receivers, at: () => receivers, isCut: false },
    covering: [],
    parents: NO_PARENTS,
    quiet: new Map(),
    graceUntil: undefined,
    receivers: new Set(["chat", "mail", "pager"]),
    hasRoutes: true,
    hasLaterSteps: true,
    ...facts,
  }
  const factsAt = (before: FiringFacts, at: Instant.Instant): FiringFacts => {
    const isIn = (from: number, until: number) => minute(from) <= at && at < minute(until)
    const [from, until] = quiet ?? [0, 0]
    const isCovered = covered !== undefined && isIn(covered.from, covered.until)
    return {
      ...before,
      covering: isCovered ? [{ by: covered.by, until: minute(covered.until) }] : [],
      quiet: new Map(
        isIn(from, until)
          ? [["pager", { below: "critical", until: minute(until), lookAgainAt: undefined }]]
          : [],
      ),
    }
  }
  const now = minute(NOW)
  return nextFirings(factsAt(given, now), { factsAt, onDue: () => NO_HOLDS }, now)
}

const textOf = (until: Instant.Instant) => (until > minute(10_000) ? "a change" : minutesOf(until))

describe("who comes next", () => {
  it.each(Object.entries(CASES))("%s", (_name, one) => {
    const next = played(one).map(({ cause, due, holds, receiver }) =>
      [
        `${receiver}: ${due === undefined ? "now" : minutesOf(due)}`,
        cause,
        ...holds.map(({ by, until }) => `${by} until ${textOf(until)}`),
      ].join(", "),
    )
    expect(next).toEqual(one.expected)
  })
})
