import { contentFaults, orderFaults, type Outcome } from "../processes/scenarioFaults.ts"

/** One request with a result. Moments are of one monotonic clock. */
export interface Attempt {
  readonly server: number
  readonly sentAt: number
  /**
   * `unanswered`: no answer came, so the result may be stored or not. `applied` and `repeated` are both
   * acknowledgements: the second says that the result was known.
   */
  readonly answer: "applied" | "repeated" | "refused" | "unanswered"
  readonly answeredAt: number
}

/** A result of a check, sent until it is acknowledged. */
export interface Submission {
  readonly event_id: string
  /** `AGENT/CHECK`, also the key of its incident. */
  readonly check: string
  readonly status: "ok" | "critical"
  readonly attempts: ReadonlyArray<Attempt>
}

/** A fault that ended, and whose servers took results again, if they did. */
export interface Round {
  readonly endedAt: number
  readonly recoveredAt: number | undefined
}

/** The sent requests, the received notifications, and the service's state in the end. */
export interface Ledger extends Outcome {
  /** Of each check in the order in which it was sent. */
  readonly submissions: ReadonlyArray<Submission>
  readonly rounds: ReadonlyArray<Round>
  /** Of the mail server; the others are of the webhook. */
  readonly mails: Pick<Outcome, "arrivals" | "outbox">
  readonly history: ReadonlyArray<{
    readonly event_id: string
    readonly agent_id: string
    readonly check_id: string
    readonly received_at: bigint
  }>
}

/** The counted effects of a fault. */
export interface Verdict {
  readonly acknowledged: number
  readonly refused: number
  readonly unanswered: number
  readonly lost: ReadonlyArray<string>
  readonly duplicated: ReadonlyArray<string>
  readonly outOfOrder: ReadonlyArray<string>
  readonly wronglyNotified: ReadonlyArray<string>
  /** Notifications that arrived again with the same id, which a receiver recognizes. */
  readonly sentAgain: number
  /** From the end of a fault until every server acknowledges again; absent where one did not. */
  readonly worstRecoveryMillis: number | undefined
  /** The longest time from the first request with a result to its acknowledgement. */
  readonly longestWaitMillis: number
}

const isAcknowledgement = ({ answer }: Attempt): boolean => answer === "applied" || answer === "repeated"

const acknowledgedAt = ({ attempts }: Submission): number | undefined =>
  attempts.find(isAcknowledgement)?.answeredAt

const counted = (items: Iterable<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** Acknowledged results that are not stored. */
const lostOf = ({ submissions, history }: Ledger): ReadonlyArray<string> => {
  const stored = new Set(history.map(({ event_id }) => event_id))
  return submissions
    .filter((one) => acknowledgedAt(one) !== undefined && !stored.has(one.event_id))
    .map(({ event_id, check }) => `${check}: ${event_id} is not stored`)
}

/** Results that are stored or counted twice. */
const duplicatedOf = ({ submissions, history }: Ledger): ReadonlyArray<string> => [
  ...Array.from(counted(history.map(({ event_id }) => event_id)))
    .filter(([, times]) => times > 1)
    .map(([id, times]) => `${id} is stored ${times} times`),
  ...submissions
    .filter(({ attempts }) => attempts.filter(({ answer }) => answer === "applied").length > 1)
    .map(({ event_id }) => `${event_id} was counted again`),
]

/** Results of one check that are stored in another order than they were sent in. */
const reorderedOf = ({ submissions, history }: Ledger): ReadonlyArray<string> => {
  const position = new Map(submissions.map(({ event_id }, index) => [event_id, index]))
  const latest = new Map<string, number>()
  const stored = history.toSorted((left, right) => (left.received_at < right.received_at ? -1 : 1))
  return stored.flatMap(({ agent_id, check_id, event_id }) => {
    const check = `${agent_id}/${check_id}`
    const at = position.get(event_id) ?? -1
    const before = latest.get(check) ?? -1
    latest.set(check, Math.max(at, before))
    return at < before ? [`${check}: ${event_id} is stored after a later one`] : []
  })
}

/** Stored results that nobody sent, and failures with another number of incidents than one. */
const inventedOf = ({ submissions, history, incidents }: Ledger): ReadonlyArray<string> => {
  const sent = new Map(submissions.map((one) => [one.event_id, one]))
  const stored = new Set(history.map(({ event_id }) => event_id))
  const failures = counted(
    Array.from(stored).flatMap((id) => {
      const submission = sent.get(id)
      return submission?.status === "critical" ? [submission.check] : []
    }),
  )
  const opened = counted(incidents.map(({ incident_key }) => incident_key))
  return [
    ...Array.from(stored).flatMap((id) => (sent.has(id) ? [] : [`${id} was never sent`])),
    ...Array.from(new Set([...failures.keys(), ...opened.keys()]), (check) => {
      const [failed = 0, found = 0] = [failures.get(check), opened.get(check)]
      return failed === found ? [] : [`${check} failed ${failed} times and has ${found} incidents`]
    }).flat(),
  ]
}

const unfinishedOf = ({ outbox }: Outcome): ReadonlyArray<string> =>
  outbox
    .filter(({ state }) => state === "pending" || state === "retry" || state === "sending")
    .map(({ id, state }) => `item ${id} stays ${state}`)

const silenceOf = ({ arrivals, incidents }: Outcome): ReadonlyArray<string> =>
  incidents.length > 0 && arrivals.length === 0 ? ["a receiver was sent nothing"] : []

/** Compares what was sent with what is stored, and what is stored with what was received. */
export const judge = (ledger: Ledger): Verdict => {
  const { mails, rounds, submissions } = ledger
  const outcomes: ReadonlyArray<Outcome> = [ledger, { ...mails, incidents: ledger.incidents }]
  const attempts = submissions.flatMap((one) => one.attempts)
  const recoveries = rounds.map(({ endedAt, recoveredAt }) =>
    recoveredAt === undefined ? undefined : recoveredAt - endedAt,
  )
  const waits = submissions.map((one) => {
    const last = acknowledgedAt(one) ?? one.attempts.at(-1)?.answeredAt ?? 0
    return last - (one.attempts[0]?.sentAt ?? last)
  })
  return {
    acknowledged: submissions.filter((one) => acknowledgedAt(one) !== undefined).length,
    refused: attempts.filter(({ answer }) => answer === "refused").length,
    unanswered: attempts.filter(({ answer }) => answer === "unanswered").length,
    lost: lostOf(ledger),
    duplicated: duplicatedOf(ledger),
    outOfOrder: [...reorderedOf(ledger), ...outcomes.flatMap(orderFaults)],
    wronglyNotified: [
      ...inventedOf(ledger),
      ...outcomes.flatMap((outcome) => [
        ...silenceOf(outcome),
        ...unfinishedOf(outcome),
        ...contentFaults(outcome),
      ]),
    ],
    sentAgain: outcomes.flatMap(({ arrivals }) => arrivals).filter(({ earlier }) => earlier > 0).length,
    worstRecoveryMillis: recoveries.includes(undefined)
      ? undefined
      : Math.max(0, ...recoveries.map((millis) => millis ?? 0)),
    longestWaitMillis: Math.max(0, ...waits),
  }
}
