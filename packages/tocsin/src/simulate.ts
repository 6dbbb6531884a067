import type {
  EventBatchRequest,
  HeartbeatRequest,
  Page,
  StoredCheckResultEvent,
} from "@tocsin/client/Resources"
import { asGiven, duration, group, type Reader, texts } from "@tocsin/client/options/readers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { WrittenExpectation } from "@tocsin/simulation/Expectation"
import type { WrittenAct } from "@tocsin/simulation/readLines"
import { SimulationReport, type SimulationSettings } from "@tocsin/simulation/SimulationReport"
import { simulate as simulateLines } from "@tocsin/simulation/simulate"
import { Result, Schema } from "effect"
import type { DurationOption } from "@tocsin/client"
import { type PolicyOption, readGivenPolicy } from "./policy/givenPolicy.ts"
import { TocsinError } from "./TocsinError.ts"

interface Received {
  /** When the service received it: RFC 3339 in UTC. */
  readonly received_at: string
}

/**
 * One input of a service: a heartbeat or a batch with its `received_at`, a stored result or a page of them,
 * an act of a person, or an expectation. A text is one of them as JSON.
 */
export type SimulationInput =
  | (HeartbeatRequest & Received)
  | (EventBatchRequest & Received)
  | StoredCheckResultEvent
  | Page<StoredCheckResultEvent>
  | WrittenAct
  | WrittenExpectation
  | string

export interface SimulationOptions {
  /** Names of the notifiers. `["debug"]` unless given, or none if the policy defines receivers. */
  readonly notifiers?: ReadonlyArray<string> | undefined
  /** The routes of notifications, as `createMonitor` takes them. No file or variable that it names is read. */
  readonly policy?: PolicyOption | undefined
  /** An agent that is silent for this long is dead. 5 minutes unless given. */
  readonly deadAfter?: DurationOption | undefined
  /** When the clock stops: RFC 3339 in UTC. At the last receipt unless given. */
  readonly until?: string | undefined
}

type Report = (typeof SimulationReport)["Encoded"]
/** An incident with its changes, oldest first. */
export interface SimulatedIncident extends Readonly<Report["incidents"][number]> {}
/**
 * A notification, taken as delivered by its first attempt. `agent_id` and `check_id` are the only member's,
 * null with several. `members` counts the checks in the incident at that moment.
 */
export interface SimulatedNotification extends Readonly<Report["notifications"][number]> {}
/**
 * The outcome of a simulation. `changes` counts the results that changed their check. `refused` lists
 * unreadable input by its place, from 1.
 */
export interface Simulation extends Report {}

const encode = Schema.encodeSync(SimulationReport)

const instant: Reader<string, Instant.Instant> = (name, given, complain) =>
  given === undefined
    ? undefined
    : (Instant.parse(given) ?? complain(`${name} must be an instant such as 2026-01-31T08:30:00Z`))

const settings = group<SimulationOptions>()({
  notifiers: texts(/^[a-z][a-z0-9_]{0,63}$/, "1 to 64 lower-case letters, digits or _"),
  policy: asGiven<PolicyOption>(),
  deadAfter: duration,
  until: instant,
})

const readOptions = (given: SimulationOptions): SimulationSettings => {
  const problems: Array<string> = []
  const complain = (problem: string) => void problems.push(problem)
  const read: Partial<NonNullable<ReturnType<typeof settings>>> = settings("", given, complain) ?? {}
  const { deadAfter, policy, until } = read
  const notifiers = read.notifiers ?? (policy?.receivers === undefined ? ["debug"] : [])
  const document = policy === undefined ? undefined : readGivenPolicy(policy, notifiers)
  if (document !== undefined && Result.isFailure(document)) problems.push(...document.failure)
  if (problems.length > 0) throw new TocsinError("options", problems.join("\n"))
  return {
    notifiers,
    ...(document !== undefined && { policy: Result.getOrThrow(document) }),
    ...(deadAfter !== undefined && { deadAfter }),
    until,
  }
}

/**
 * Reports the incidents and notifications that would have come of a service's input, by the service's own
 * decisions and without a storage. Every agent counts as accepted; only agents with heartbeats in the input
 * are watched for silence. Throws a {@link TocsinError} with code `options` for invalid options.
 *
 * @example
 * ```ts
 * import { simulate } from "tocsin"
 * import { createClient } from "tocsin/client"
 *
 * const history = await Array.fromAsync(createClient({ baseUrl, token }).history.all())
 * const { incidents, notifications } = simulate(history, { notifiers: ["webhook"] })
 * ```
 */
export const simulate = (input: Iterable<SimulationInput>, options: SimulationOptions = {}): Simulation =>
  encode(simulateLines(input, readOptions(options)))
