import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { Arrival } from "../processes/WebhookReceiver.ts"
import { type Attempt, judge, type Ledger, type Verdict } from "./judge.ts"

const RUNS = 50

/** Attempts before the acknowledgement; whether the first of them was carried out unseen. */
const arbitrarySending = fc.record({
  failures: fc.array(fc.constantFrom<Attempt["answer"]>("refused", "unanswered"), { maxLength: 3 }),
  isRepeated: fc.boolean(),
})

/** The failures of each check, each of which ends. */
const arbitraryLedger = fc
  .array(fc.array(fc.tuple(arbitrarySending, arbitrarySending), { minLength: 2, maxLength: 4 }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((checks) => checks.map((failures, n) => ledgerOf(`check-${n}`, failures)).reduce(merged))

type Sending = typeof arbitrarySending extends fc.Arbitrary<infer A> ? A : never

const merged = (left: Ledger, right: Ledger): Ledger => ({
  submissions: [...left.submissions, ...right.submissions],
  rounds: [...left.rounds, ...right.rounds],
  arrivals: [...left.arrivals, ...right.arrivals],
  mails: {
    arrivals: [...left.mails.arrivals, ...right.mails.arrivals],
    outbox: [...left.mails.outbox, ...right.mails.outbox],
  },
  history: [...left.history, ...right.history],
  incidents: [...left.incidents, ...right.incidents],
  outbox: [...left.outbox, ...right.outbox],
})

const attemptsOf = ({ failures, isRepeated }: Sending, at: number): ReadonlyArray<Attempt> =>
  [...failures, isRepeated && failures.includes("unanswered") ? "repeated" : "applied"].map(
    (answer, index) => ({
      server: 0,
      sentAt: at + index,
      answer: answer as Attempt["answer"],
      answeredAt: at + index + 1,
    }),
  )

/** Each item as it arrived once. */
const arrivalsOf = (items: Ledger["outbox"], check: string): Ledger["arrivals"] =>
  items.map(({ event_type, id, incident_id }) => ({
    sender: "hooks",
    id,
    message: {
      type: `incident.${event_type}`,
      timestamp: "2026-01-01T00:00:00Z",
      data: {
        id,
        severity: "critical",
        summary: check,
        incident: { id: incident_id, incident_key: check },
      },
    },
    fault: undefined,
    earlier: 0,
    answered: 200,
    isOver: true,
  }))

/** The webhook and the mail server have changed places. */
const swapped = ({ arrivals, mails, outbox, ...rest }: Ledger): Ledger => ({
  ...rest,
  ...mails,
  mails: { arrivals, outbox },
})

/** A right service's ledger of one check. */
const ledgerOf = (check_id: string, failures: ReadonlyArray<readonly [Sending, Sending]>): Ledger => {
  const agent_id = "a"
  const check = `${agent_id}/${check_id}`
  const results = failures.flatMap(([failure, end], n) => [
    { status: "critical" as const, sending: failure, incident: `${check}-${n}`, at: 20 * n },
    { status: "ok" as const, sending: end, incident: `${check}-${n}`, at: 20 * n + 10 },
  ])
  const items = results.map(({ incident, status }) => ({
    id: `${incident}-${status}`,
    incident_id: incident,
    state: "sent" as const,
    attempts: 3,
    event_type: status === "ok" ? ("resolved" as const) : ("firing" as const),
  }))
  const notifications = { outbox: items, arrivals: arrivalsOf(items, check) }
  return {
    ...notifications,
    mails: notifications,
    submissions: results.map(({ at, sending, status }) => ({
      event_id: `${check}-${at}`,
      check,
      status,
      attempts: attemptsOf(sending, at),
    })),
    rounds: [{ endedAt: 1, recoveredAt: 3 }],
    history: results.map(({ at }) => ({
      event_id: `${check}-${at}`,
      agent_id,
      check_id,
      received_at: BigInt(at),
    })),
    incidents: failures.map((_, n) => ({ id: `${check}-${n}`, incident_key: check, state: "resolved" })),
  }
}

const violations = ({ duplicated, lost, outOfOrder, wronglyNotified }: Verdict) => ({
  lost: lost.length > 0,
  duplicated: duplicated.length > 0,
  outOfOrder: outOfOrder.length > 0,
  wronglyNotified: wronglyNotified.length > 0,
})

const without = <A>(items: ReadonlyArray<A>, index: number): ReadonlyArray<A> => items.toSpliced(index, 1)

/** An entry of a list, and its place. */
const pick = <A>(items: ReadonlyArray<A>, at: number): readonly [A, number] => {
  const index = at % items.length
  const item = items[index]
  if (item === undefined) throw new Error("the list is empty")
  return [item, index]
}

const changedArrival = (ledger: Ledger, at: number, change: (arrival: Arrival) => Arrival): Ledger => {
  const [arrival, index] = pick(ledger.arrivals, at)
  return { ...ledger, arrivals: ledger.arrivals.with(index, change(arrival)) }
}

type Violation = keyof ReturnType<typeof violations>

interface Defect {
  readonly plant: (ledger: Ledger, at: number) => Ledger
  /** The violation to be found. Others may follow from it. */
  readonly found: Violation
}

const DEFECTS: Record<string, Defect> = {
  "a lost result": {
    plant: (ledger, at) => ({ ...ledger, history: without(ledger.history, pick(ledger.history, at)[1]) }),
    found: "lost",
  },
  "a result stored twice": {
    plant: (ledger, at) => ({ ...ledger, history: [...ledger.history, pick(ledger.history, at)[0]] }),
    found: "duplicated",
  },
  "a result counted twice": {
    plant: (ledger, at) => {
      const [submission, index] = pick(ledger.submissions, at)
      const applied = { server: 0, sentAt: 0, answer: "applied" as const, answeredAt: 1 }
      const attempts = [applied, applied, ...submission.attempts]
      return { ...ledger, submissions: ledger.submissions.with(index, { ...submission, attempts }) }
    },
    found: "duplicated",
  },
  "a result stored late": {
    plant: (ledger, at) => {
      // The first of its check, which another one follows.
      const firsts = ledger.history.filter(({ received_at }) => received_at === 0n)
      const [first] = pick(firsts, at)
      return {
        ...ledger,
        history: ledger.history.with(ledger.history.indexOf(first), { ...first, received_at: 1_000n }),
      }
    },
    found: "outOfOrder",
  },
  "a result that nobody sent": {
    plant: (ledger, at) => ({
      ...ledger,
      history: [...ledger.history, { ...pick(ledger.history, at)[0], event_id: "invented" }],
    }),
    found: "wronglyNotified",
  },
  "an incident opened twice": {
    plant: (ledger, at) => ({
      ...ledger,
      incidents: [...ledger.incidents, { ...pick(ledger.incidents, at)[0], id: "another" }],
    }),
    found: "wronglyNotified",
  },
  "an incident that stays open": {
    plant: (ledger, at) => {
      const [incident, index] = pick(ledger.incidents, at)
      return { ...ledger, incidents: ledger.incidents.with(index, { ...incident, state: "open" }) }
    },
    found: "wronglyNotified",
  },
  "a notification that never arrives": {
    plant: (ledger, at) => ({ ...ledger, arrivals: without(ledger.arrivals, pick(ledger.arrivals, at)[1]) }),
    found: "wronglyNotified",
  },
  "a notification that is never sent": {
    plant: (ledger, at) => {
      const [item, index] = pick(ledger.outbox, at)
      return { ...ledger, outbox: ledger.outbox.with(index, { ...item, state: "retry" }) }
    },
    found: "wronglyNotified",
  },
  "a receiver that is sent nothing": {
    plant: (ledger) => ({ ...ledger, arrivals: [], outbox: [] }),
    found: "wronglyNotified",
  },
  "a notification of nothing": {
    plant: (ledger, at) => changedArrival(ledger, at, (arrival) => ({ ...arrival, id: "invented" })),
    found: "wronglyNotified",
  },
  "an end notified as a failure": {
    plant: (ledger, at) =>
      changedArrival(ledger, at, (arrival) => {
        const type = arrival.message.type === "incident.firing" ? "incident.resolved" : "incident.firing"
        return { ...arrival, message: { ...arrival.message, type } }
      }),
    found: "wronglyNotified",
  },
  "an end notified before its failure": {
    plant: (ledger, at) => {
      const firing = pick(ledger.incidents, at)[1] * 2
      const [failure, end] = [ledger.arrivals[firing], ledger.arrivals[firing + 1]]
      if (failure === undefined || end === undefined) return ledger
      return { ...ledger, arrivals: ledger.arrivals.with(firing, end).with(firing + 1, failure) }
    },
    found: "outOfOrder",
  },
}

describe("the judge of a fault", () => {
  it.effect(
    "finds nothing where all is right, whatever was refused or unanswered",
    () =>
      forAll(arbitraryLedger, { runs: RUNS }, (ledger) =>
        Effect.sync(() => {
          const verdict = judge(ledger)
          assert.notInclude(Object.values(violations(verdict)), true, JSON.stringify(verdict))
          assert.strictEqual(verdict.acknowledged, ledger.submissions.length)
        }),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )

  it.effect.each(Object.entries(DEFECTS))(
    "finds %s",
    ([, { found, plant }]) =>
      forAll(fc.tuple(arbitraryLedger, fc.nat()), { runs: RUNS }, ([ledger, at]) =>
        Effect.sync(() => {
          const planted = plant(ledger, at)
          for (const one of [planted, swapped(planted)]) assert.isTrue(violations(judge(one))[found])
        }),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )

  it.effect(
    "takes a result without an acknowledgement neither for kept nor for lost",
    () =>
      forAll(arbitraryLedger, { runs: RUNS }, (ledger) =>
        Effect.sync(() => {
          const unanswered = { server: 0, sentAt: 0, answer: "unanswered" as const, answeredAt: 1 }
          const open = { event_id: "open", check: "a/open", status: "ok" as const, attempts: [unanswered] }
          const verdict = judge({ ...ledger, submissions: [...ledger.submissions, open] })
          assert.strictEqual(verdict.acknowledged, ledger.submissions.length)
          assert.isEmpty(verdict.lost)
        }),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )

  it("counts a notification that arrives again, and the worst recovery", () => {
    const right = ledgerOf("disk", [
      [
        { failures: [], isRepeated: false },
        { failures: [], isRepeated: false },
      ],
    ])
    const again = right.arrivals.slice(0, 1).map((arrival) => ({ ...arrival, earlier: 1 }))
    const rounds = [...right.rounds, { endedAt: 10, recoveredAt: 25 }]
    const verdict = judge({ ...right, arrivals: [...again, ...right.arrivals], rounds })
    assert.deepInclude(verdict, {
      sentAgain: 1,
      worstRecoveryMillis: 15,
      wronglyNotified: [],
      outOfOrder: [],
    })
    const never = judge({ ...right, rounds: [...rounds, { endedAt: 30, recoveredAt: undefined }] })
    assert.isUndefined(never.worstRecoveryMillis)
  })
})
