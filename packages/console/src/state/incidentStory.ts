import type { IncidentDetail } from "@tocsin/client"
import { countText } from "../format/times.ts"

/** One thing that happened to an incident. */
export interface StoryEntry {
  readonly at: string
  readonly kind: "change" | "act" | "delivery"
  readonly by?: string | undefined
  readonly text: string
}

const ACTS: Readonly<Record<string, string>> = {
  acknowledged: "acknowledged it",
  withdrawn: "withdrew the acknowledgement",
  worsened: "ended the acknowledgement: the incident became worse",
  ran_out: "ended the acknowledgement: its time was over",
  noted: "noted",
}

type Delivered = Pick<
  IncidentDetail["deliveries"][number],
  "event_type" | "receiver" | "state" | "cause" | "held_by"
>

const deliveryText = ({ event_type, receiver, state, cause, held_by }: Delivered): string => {
  const why = cause === null ? "" : ` (${cause.replaceAll("_", " ")})`
  const how = held_by.length > 0 ? `held: ${held_by.map(holdText).join("; ")}` : state
  return `${event_type} to ${receiver}${why}: ${how}`
}

/** By time, newest first. Text of one moment sorts by place: times are fixed-width UTC, except for fractions. */
const newestFirst = (a: StoryEntry, b: StoryEntry): number => Date.parse(b.at) - Date.parse(a.at)

/** Everything that happened to an incident, newest first: members, acts and deliveries. */
export const storyOf = ({ timeline, acts, deliveries }: IncidentDetail): ReadonlyArray<StoryEntry> =>
  [
    ...timeline.map(({ at, change, agent_id, check_id, severity }): StoryEntry => ({
      at,
      kind: "change",
      text: `${agent_id}${check_id === "" ? "" : `/${check_id}`} ${change}${change === "left" ? "" : `: ${severity}`}`,
    })),
    ...acts.map(({ at, act, by, text }): StoryEntry => ({
      at,
      kind: "act",
      by,
      text: `${ACTS[act] ?? act}${text === undefined ? "" : `: ${text}`}`,
    })),
    ...deliveries.flatMap(
      ({ updated_at, receiver, event_type, state, cause, held_by }): ReadonlyArray<StoryEntry> =>
        updated_at === undefined
          ? []
          : [
              {
                at: updated_at,
                kind: "delivery",
                text: deliveryText({ event_type, receiver, state, cause, held_by }),
              },
            ],
    ),
  ].sort(newestFirst)

/** What holds a firing, for people. */
export const holdText = (hold: string): string => {
  if (hold === "ack") return "acknowledged"
  if (hold === "after") return "the route waits"
  if (hold.startsWith("silence:")) return "silenced"
  return hold.startsWith("window:") ? `window ${hold.slice("window:".length)}` : hold
}

const presentText = (members: IncidentDetail["members"]): string => {
  const count = members.filter(({ left_at }) => left_at === null).length
  const some =
    members.length >= MOST_MEMBERS
      ? `${count} or more checks are`
      : `${countText(count, "check")} ${count === 1 ? "is" : "are"}`
  return `It is open because ${some} not ok.`
}

/** The service lists no more. */
const MOST_MEMBERS = 200

const receiversOf = (deliveries: IncidentDetail["deliveries"], states: ReadonlyArray<string>): string =>
  Array.from(
    new Set(deliveries.filter(({ state }) => states.includes(state)).map(({ receiver }) => receiver)),
  ).join(", ")

const unnotifiedText = (isQuiet: boolean): string =>
  isQuiet
    ? "Nobody was notified: its agent sent the result with notifications disabled."
    : "Nobody was notified: no result of it came with notifications enabled, or no route leads to a receiver."

/** The incident's firings. */
export const firingsOf = ({ deliveries }: Pick<IncidentDetail, "deliveries">): IncidentDetail["deliveries"] =>
  deliveries.filter(({ event_type }) => event_type === "firing")

const deliverySentences = (
  deliveries: IncidentDetail["deliveries"],
  isQuiet: boolean,
): ReadonlyArray<string> => {
  const firings = firingsOf({ deliveries })
  if (firings.length === 0) return [unnotifiedText(isQuiet)]
  const free = firings.filter(({ held_by }) => held_by.length === 0)
  const named = [
    [receiversOf(firings, ["sent"]), "Notified"],
    [receiversOf(firings, ["failed"]), "Not notified, because delivery failed for good"],
    [receiversOf(firings, ["retry"]), "Not notified yet, because the receiver did not take it; tried again"],
    [receiversOf(free, ["pending", "sending"]), "On its way"],
  ] as const
  const held = firings.filter(({ held_by, state }) => held_by.length > 0 && state === "pending")
  const discarded = firings.every(({ state }) => state === "discarded")
  return [
    ...named.filter(([names]) => names !== "").map(([names, what]) => `${what}: ${names}.`),
    ...held.map(
      ({ receiver, held_by }) => `Not notified: ${receiver}, held (${held_by.map(holdText).join("; ")}).`,
    ),
    ...(discarded ? ["Nobody was notified: it resolved before its notifications were due."] : []),
  ]
}

/**
 * Why an incident is open, and why each notification was or was not sent, a sentence each.
 * `isQuiet` if its last change came with notifications disabled.
 */
export const explanationOf = (
  { incident, members, acknowledgement, deliveries }: IncidentDetail,
  isQuiet = false,
): ReadonlyArray<string> => [
  incident.state === "open" ? presentText(members) : "It resolved because no check was left that was not ok.",
  ...(acknowledgement === null || incident.state !== "open"
    ? []
    : [
        `${acknowledgement.by} has acknowledged it${acknowledgement.note === undefined ? "" : `: ${acknowledgement.note}`}`,
      ]),
  ...new Set(deliverySentences(deliveries, isQuiet)),
]
