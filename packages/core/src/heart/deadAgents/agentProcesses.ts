import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move, stateTable } from "@tocsin/contract/formats/TransitionTable"
import { momentOf } from "../firings/Hold.ts"
import type { AgentRecord, FormerProcess } from "../model/AgentRecord.ts"

/**
 * Whether one agent uses a key, or two do (docs/rules.md#two-agents-with-one-key). A process that starts again has
 * a new ID and never uses a former one, so a former process that returns is another agent.
 */
export const AgentProcessTransitions = stateTable({
  alone: {
    "started -> alone":
      "a heartbeat of a process that none has followed within ten minutes | the process before it is a former one for ten minutes",
    "returned -> twice":
      "a heartbeat of a process that another one has followed within ten minutes | the incident AGENT/@twice opens (critical)",
  },
  twice: {
    "started -> twice": "as above | as above",
    "returned -> twice": "as above | the ten minutes of the incident begin again",
    "passed -> alone":
      "no process has returned for ten minutes, and agents have had time to report after an outage | the incident resolves",
  },
})

/** How long a former process is remembered, and how long the incident lasts after the last return. */
const REMEMBERED = Duration.minutes(10)

/** Former processes of an agent that restarts all the time. Of any number of clones in turn, the oldest of these return. */
const MOST_FORMER = 8

/** The columns of an agent that follow its processes. */
export type Processes = Pick<AgentRecord, "former_processes" | "process" | "twice_at">

/**
 * The processes of an agent after a heartbeat of one that is not the present one, and the host of the process that it
 * followed, if it returned.
 */
export const followProcess = (
  agent: Pick<AgentRecord, "hostname"> & Processes,
  id: string,
  now: Instant.Instant,
): Processes & { readonly returned: FormerProcess | undefined } => {
  const { former_processes = [], hostname, process: before, twice_at } = agent
  const recent = former_processes.filter(({ left_at }) =>
    Instant.isRecent(momentOf(left_at), REMEMBERED, now),
  )
  const returned = recent.find((former) => former.id === id)
  const others = recent.filter((former) => former !== returned).slice(0, MOST_FORMER - 1)
  const left = before === undefined ? [] : [{ id: before, hostname, left_at: Number(now) }]
  const state = move(
    AgentProcessTransitions,
    twice_at === undefined ? "alone" : "twice",
    returned === undefined ? "started" : "returned",
  )
  return {
    process: id,
    former_processes: [...others, ...left],
    twice_at: state === "twice" && returned !== undefined ? now : twice_at,
    returned,
  }
}

/** The moment by which a return is long enough ago that the incident is over. */
export const twiceBefore = (now: Instant.Instant): Instant.Instant => Instant.minus(now, REMEMBERED)
