import type * as Resources from "@tocsin/contract/v1/Resources"
import type { Arrival } from "./WebhookReceiver.ts"

/** The compared fields of an incident. */
export interface Incident extends Pick<Resources.Incident, "state"> {
  readonly id: string
  readonly incident_key: string
}

/** The compared fields of an item of the outbox. */
export interface OutboxItem extends Pick<
  Resources.NotificationOutboxItem,
  "state" | "event_type" | "attempts"
> {
  readonly id: string
  readonly incident_id: string
}

/** The outcome of all incidents: as the service has it, and as the receiver does. */
export interface Outcome {
  readonly incidents: ReadonlyArray<Incident>
  /** Of the webhook alone, oldest first. */
  readonly outbox: ReadonlyArray<OutboxItem>
  readonly arrivals: ReadonlyArray<Arrival>
}

const RANK = { warning: 1, unknown: 2, critical: 3 } as const

const isStrictlyRising = (numbers: ReadonlyArray<number>): boolean =>
  numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))

const isDelivered = ({ answered = 0 }: Arrival): boolean => answered >= 200 && answered < 300

/**
 * Of one item: sent means that the receiver took it, and it says the same at every attempt
 * (docs/rules.md#delivery, docs/rules.md#notifiers).
 */
const itemFaults = (item: OutboxItem, arrivals: ReadonlyArray<Arrival>): ReadonlyArray<string> => {
  const texts = new Set(
    arrivals.map(({ message: { type, timestamp, data } }) =>
      [type, timestamp, data.id, data.severity, data.summary, data.incident.id].join(" "),
    ),
  )
  return [
    item.state === "sent" || item.state === "discarded" ? [] : [`is ${item.state}`],
    item.state === "sent" && !arrivals.some(isDelivered) ? ["is sent, and was not taken"] : [],
    item.state === "discarded" && arrivals.length > 0 ? ["is discarded, and arrived"] : [],
    item.attempts < arrivals.length ? [`arrived ${arrivals.length} times in ${item.attempts} attempts`] : [],
    texts.size > 1 ? [`says different things: ${Array.from(texts).join("; ")}`] : [],
    arrivals.some(({ message }) => message.type !== `incident.${item.event_type}`)
      ? ["arrived as something else"]
      : [],
    arrivals.some(({ message }) => message.data.incident.id !== item.incident_id)
      ? ["notified of another incident"]
      : [],
  ].flat()
}

/** The notifications of an incident that were sent, in the order in which they arrived first. */
const sentOf = (
  items: ReadonlyArray<OutboxItem>,
  arrivals: ReadonlyArray<Arrival>,
): ReadonlyArray<OutboxItem> => {
  const position = (item: OutboxItem) => arrivals.findIndex(({ id }) => id === item.id)
  return items
    .filter(({ state }) => state === "sent")
    .toSorted((left, right) => position(left) - position(right))
}

/** Of one incident: notified of each severity once and increasing, and of its end once (docs/rules.md#outbox). */
const incidentFaults = (
  incident: Incident,
  items: ReadonlyArray<OutboxItem>,
  arrivals: ReadonlyArray<Arrival>,
): ReadonlyArray<string> => {
  const told = sentOf(items, arrivals)
  const firings = told.filter(({ event_type }) => event_type === "firing")
  const ranks = firings.map(({ id }) => {
    const arrival = arrivals.find((one) => one.id === id)
    return arrival === undefined ? 0 : RANK[arrival.message.data.severity]
  })
  const ends = told.length - firings.length
  return [
    incident.state === "resolved" ? [] : ["is open"],
    isStrictlyRising(ranks) ? [] : [`fired with the severities ${ranks.join()}`],
    ends === (firings.length > 0 ? 1 : 0) ? [] : [`ended ${ends} times after ${firings.length} firings`],
  ].flat()
}

/** Of one incident: each notification arrives once the one before it was accepted, the end last. */
const incidentOrderFaults = (
  _incident: Incident,
  items: ReadonlyArray<OutboxItem>,
  arrivals: ReadonlyArray<Arrival>,
): ReadonlyArray<string> => {
  const told = sentOf(items, arrivals)
  const position = new Map(told.map(({ id }, index) => [id, index]))
  const positions = arrivals.map(({ id }) => position.get(id) ?? -1)
  const early = arrivals.filter((arrival, index) => {
    const before = told[(position.get(arrival.id) ?? 0) - 1]
    return (
      before !== undefined &&
      !arrivals.slice(0, index).some((one) => one.id === before.id && isDelivered(one))
    )
  })
  const end = told.findIndex(({ event_type }) => event_type === "resolved")
  return [
    end === -1 || end === told.length - 1 ? [] : ["fired after its end"],
    positions.every((at, index) => index === 0 || at >= (positions[index - 1] ?? 0))
      ? []
      : ["was notified out of order"],
    early.length === 0 ? [] : ["was notified before an earlier notification was accepted"],
  ].flat()
}

const ofEachIncident = (
  { arrivals, incidents, outbox }: Outcome,
  faultsOf: typeof incidentFaults,
): ReadonlyArray<string> =>
  incidents.flatMap((incident) =>
    faultsOf(
      incident,
      outbox.filter(({ incident_id }) => incident_id === incident.id),
      arrivals.filter(({ message }) => message.data.incident.id === incident.id),
    ).map((fault) => `incident ${incident.id} ${fault}`),
  )

/** All violations in the contents of the final notifications; empty without any. */
export const contentFaults = (outcome: Outcome): ReadonlyArray<string> => {
  const { arrivals, outbox } = outcome
  const known = new Set(outbox.map(({ id }) => id))
  return [
    ...arrivals.filter(({ fault }) => fault !== undefined).map(({ id, fault }) => `${id} has wrong ${fault}`),
    ...arrivals.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} is no item of the outbox`),
    ...outbox.flatMap((item) =>
      itemFaults(
        item,
        arrivals.filter(({ id }) => id === item.id),
      ).map((fault) => `item ${item.id} ${fault}`),
    ),
    ...ofEachIncident(outcome, incidentFaults),
  ]
}

/** All violations in the order in which the final notifications arrived; empty without any. */
export const orderFaults = (outcome: Outcome): ReadonlyArray<string> =>
  ofEachIncident(outcome, incidentOrderFaults)

/** All violations in the final notifications; empty without any. */
export const scenarioFaults = (outcome: Outcome): ReadonlyArray<string> => [
  ...contentFaults(outcome),
  ...orderFaults(outcome),
]
