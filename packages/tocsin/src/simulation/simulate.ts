import { hash } from "node:crypto"
import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierKind } from "@tocsin/core/contract/Status"
import { simulate as simulateLines } from "@tocsin/core/simulation/simulate"
import { SimulationReport, type SimulationSettings } from "@tocsin/core/simulation/SimulationReport"
import { Schema } from "effect"
import { Problems } from "../options/Problems.ts"
import { TocsinError } from "../TocsinError.ts"
import type { Simulation, SimulationInput, SimulationOptions } from "./Simulation.ts"

const NAME = { pattern: /^[a-z][a-z0-9_]{0,63}$/, expected: "1 to 64 lower-case letters, digits or _" }
const encode = Schema.encodeSync(SimulationReport)

const readOptions = ({ notifiers, deadAfter, until }: SimulationOptions): SimulationSettings => {
  const problems = new Problems()
  const names = problems.texts("notifiers", notifiers, NAME)
  const dead = problems.duration("deadAfter", deadAfter)
  const end = until === undefined ? undefined : Instant.parse(until)
  if (until !== undefined && end === undefined)
    problems.add("until must be an instant such as 2026-01-31T08:30:00Z")
  if (problems.message !== undefined) throw new TocsinError("options", problems.message)
  return {
    // The core knows the four kinds by name; names of a host's own pass through it like these.
    ...(notifiers !== undefined && { notifiers: names as ReadonlyArray<NotifierKind> }),
    ...(dead !== undefined && { deadAfter: dead }),
    until: end,
  }
}

/**
 * Tells which incidents and notifications would have come of what a service received, without any storage: before an alert
 * rule is changed, or of last night's history with another setting. It folds the very decisions of the service, at once.
 *
 * Every agent counts as accepted. Agents of which there are heartbeats are watched for silence; the history alone, which holds
 * changes only, does not tell when an agent was heard of. What cannot be read is in `refused`; throws a {@link TocsinError} with
 * code `options` for options that it cannot take.
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
  encode(simulateLines(input, readOptions(options), { sha256: (text) => hash("sha256", text) }))
