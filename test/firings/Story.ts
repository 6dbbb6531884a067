/** The vocabulary of stories about firings: what happens, and which messages follow. Times are seconds. */

/** Severities in order; a rank is a position here, and 0 is none. */
const SEVERITIES = ["ok", "warning", "unknown", "critical"] as const
export type Severity = Exclude<(typeof SEVERITIES)[number], "ok">
export const rankOf = (severity: Severity | "ok" = "ok"): number => SEVERITIES.indexOf(severity)
export const severityOf = (rank: number): Severity => {
  const severity = SEVERITIES[rank]
  return severity === undefined || severity === "ok" ? "warning" : severity
}
export type Cause = "opened" | "worsened" | "escalation" | "handover" | "ack_ran_out" | "reminder"

export interface Route {
  readonly match?: ReadonlyArray<string>
  readonly after?: number
  readonly flapping?: { readonly openings: number; readonly within: number; readonly after: number }
  readonly remind?: number
  readonly to?: ReadonlyArray<string>
  readonly steps?: ReadonlyArray<{ readonly after?: number; readonly to: ReadonlyArray<string> }>
}

export interface Dependency {
  readonly parent: ReadonlyArray<string>
  readonly child: ReadonlyArray<string>
  readonly equal: ReadonlyArray<string>
  readonly grace?: number
}

/** A rota: its turns, and each of them, last whole days or hours. */
export interface Rota {
  /** UTC by default. */
  readonly tz?: string
  readonly order: ReadonlyArray<ReadonlyArray<string>>
  readonly every: number
  /** A wall time such as 2031-02-01T09:00. */
  readonly from: string
  /** Seconds of a day by the wall clock, on the days on which they begin. */
  readonly hours?: ReadonlyArray<{
    readonly from: number
    readonly to: number
    readonly days?: ReadonlyArray<(typeof WEEKDAYS)[number]>
  }>
  /** Who is on call outside the hours: receivers, or one name that is a rota's. */
  readonly otherwise?: ReadonlyArray<string>
}
export const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const

/** The part of a policy that decides about firings. */
export interface Policy {
  /** How long an incident remembers a severity that it left; 600 by default. */
  readonly again_after?: number
  readonly rotas?: Readonly<Record<string, Rota>>
  readonly routes?: ReadonlyArray<Route>
  readonly dependencies?: ReadonlyArray<Dependency>
  /** Quiet hours by receiver, in seconds of a day of UTC. */
  readonly quiet?: Readonly<
    Record<string, { readonly from: number; readonly to: number; readonly below: "unknown" | "critical" }>
  >
  /** Windows begin at the multiples of `every` in each hour. */
  readonly windows?: ReadonlyArray<{
    readonly every: number
    readonly for: number
    readonly match: ReadonlyArray<string>
  }>
}

export interface Reported {
  readonly check: string
  readonly status: Severity | "ok"
  /** Whether it may notify. */
  readonly loud: boolean
  readonly key?: string | undefined
}

/** How a receiver answers; one that loses gets the message, and its answer is lost. */
export type How = "accepts" | "defers" | "is_down" | "loses" | "refuses"

/** Numbers named `which` select from the open incidents, or from the silences or overrides so far. */
export type Happening =
  | { readonly step: "report"; readonly agent: string; readonly results: ReadonlyArray<Reported> }
  /** From now on, an agent sends no heartbeat, or sends them again. */
  | { readonly step: "falls_silent" | "returns"; readonly agent: string }
  | { readonly step: "expect"; readonly agent: string; readonly check: string; readonly after: number }
  | { readonly step: "acknowledge"; readonly which: number; readonly lasts: number }
  | { readonly step: "withdraw"; readonly which: number }
  | { readonly step: "silence"; readonly match: ReadonlyArray<string>; readonly lasts: number }
  | { readonly step: "expire"; readonly which: number }
  /** Receivers take a rota over, from so much later on. */
  | {
      readonly step: "override"
      readonly rota: string
      readonly receivers: ReadonlyArray<string>
      readonly after: number
      readonly lasts: number
    }
  | { readonly step: "end_override"; readonly which: number }
  /** A policy takes effect, with its receivers. */
  | { readonly step: "policy"; readonly policy: Policy; readonly receivers: ReadonlyArray<string> }
  | { readonly step: "answers"; readonly receiver: string; readonly how: How }
  /** Somebody sends a test to a receiver. */
  | { readonly step: "tests"; readonly receiver: string }
  | { readonly step: "stops"; readonly lasts: number }
  | { readonly step: "clock_back"; readonly by: number }

/** Something that happens so long after the step before it. Without `wait`, both are one instant. */
export type Step = Happening & { readonly wait: number }

export interface Story {
  readonly begins: string
  readonly policy: Policy
  readonly receivers: ReadonlyArray<string>
  readonly steps: ReadonlyArray<Step>
}

/** A message that must arrive from `from` to `to`, in seconds since the story began. */
export interface Message {
  readonly receiver: string
  readonly key: string
  /** The number of the incident among those of its key. */
  readonly opening: number
  readonly event: "firing" | "resolved"
  readonly cause: Cause | undefined
  readonly severity: Severity
  readonly from: number
  readonly to: number
}

/** An attempt to send a notification, and whether its receiver accepted it. */
export interface Attempted extends Pick<Message, "receiver" | "key" | "opening" | "event" | "severity"> {
  readonly at: number
  readonly isReached: boolean
}

/** How the incident of so many among those of its key is from a second on; ranks are 0 where there is none. */
export interface Traced extends Pick<Message, "key" | "opening"> {
  readonly at: number
  readonly announced: number
  readonly isOpen: boolean
  readonly ackRank: number
  readonly isMuted: boolean
}

/** That a receiver is on call, for the incident of so many among those of its key. */
export interface OnCall extends Pick<Message, "key" | "opening" | "receiver"> {
  /** Whether it stands beside one that refused. */
  readonly isBeside?: boolean
}

/** The agents of all stories, and their labels. */
export const AGENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { team: "web", rack: "r" },
  b: { team: "db", rack: "r" },
}

/** All times of stories are multiples of it. */
export const TICK = 10
/** Until when an agent is not dead, and a gap is not an outage. */
export const DEAD_AFTER = 300
export const STALE_AFTER = 120
