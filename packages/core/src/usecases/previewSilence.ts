import { Effect } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Commits } from "../engine/commits/Commits.ts"
import type { ListQuery } from "../model/ListDefinitions.ts"
import { ALL_AGENTS, eachPage, PENDING_FIRINGS } from "../engine/lists/readPage.ts"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { gatherFacts, WITHOUT_POLICY } from "../firings/gatherFacts.ts"
import { MOST_EVALUATED, piecesOf } from "../firings/loudMembers.ts"
import { canBeHeld } from "../firings/heldItems.ts"
import type { Mutes } from "../firings/mutes.ts"
import { indexMatchers } from "../policy/indexMatchers.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { compileMatchers, type Matchers } from "@tocsin/contract/Matcher"

/** A preview states no end. */
const FOREVER = Instant.fromMicros(2n ** 62n)
const SAMPLE = 20
/** A silence of few agents is never refused. */
const FEW_AGENTS = 10

/** How many of the accepted agents a silence covers. */
export interface CoveredAgents {
  readonly agents: number
  /** Whether these are so many that it must be confirmed (docs/rules.md#silences). */
  readonly needs_confirm: boolean
}

/** The agents and rows that a silence would cover now. */
export interface Preview extends CoveredAgents {
  readonly open_incidents: number
  readonly held_now: number
  readonly sample: ReadonlyArray<IncidentRecord>
}

/** Counts the accepted agents that matchers on agents leave. */
export const coveredAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  matchers: Matchers,
): Effect.fn.Return<CoveredAgents, StorageError> {
  const matches = compileMatchers(
    matchers.filter(
      ({ field }) => field === "agent_id" || field === "hostname" || field.startsWith("label:"),
    ),
  )
  let [accepted, agents] = [0, 0]
  yield* eachPage(storage, ALL_AGENTS, (rows) =>
    Effect.sync(() => {
      for (const agent of rows) {
        if (agent.admission_state !== "accepted") continue
        accepted += 1
        if (matches(matchedFacts(agent))) agents += 1
      }
    }),
  )
  const isNamed = matchers.some(
    ({ field, op }) => op === "=" && (field === "incident_key" || field === "check_id"),
  )
  return { agents, needs_confirm: !isNamed && agents > FEW_AGENTS && agents * 2 > accepted }
})

const matchedFacts = ({ agent_id, hostname, labels = {} }: AgentRecord) => ({ agent_id, hostname, labels })

/** Reports what a silence with these matchers would cover now, in bounded pieces. Writes nothing. */
export const previewSilence = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  matchers: Matchers,
): Effect.fn.Return<Preview, StorageError> {
  const mutes: Mutes = {
    mutes: [{ by: "silence:preview", until: FOREVER, matchers }],
    find: indexMatchers([matchers]),
  }
  const covered = new Set<IncidentId>()
  const sample: Array<IncidentRecord> = []
  yield* eachPage(
    storage,
    WORST_FIRST,
    Effect.fnUntraced(function* (rows) {
      for (const piece of piecesOf(rows, MOST_EVALUATED)) {
        for (const incident of yield* transact(
          coveredBy(
            mutes,
            piece.map(({ id }) => id),
          ),
        )) {
          covered.add(incident.id)
          if (sample.length < SAMPLE) sample.push(incident)
        }
      }
    }),
  )
  let held_now = 0
  if (covered.size > 0) {
    yield* eachPage(storage, PENDING_FIRINGS, (rows) =>
      Effect.sync(() => {
        for (const item of rows) if (canBeHeld(item) && covered.has(item.incident_id)) held_now += 1
      }),
    )
  }
  return { ...(yield* coveredAgents(storage, matchers)), open_incidents: covered.size, held_now, sample }
})

const WORST_FIRST: ListQuery<"incidents"> = {
  list: "incidents",
  filter: { state: "open" },
  sort: "status",
  direction: "desc",
}

const coveredBy = commandOf(function* (
  unit,
  now,
  mutes: Mutes,
  ids: ReadonlyArray<IncidentId>,
): Decision<ReadonlyArray<IncidentRecord>> {
  yield { incidentsToRead: ids }
  const incidents = Array.from(unit.searchResults.incidentsToRead.values())
  const { covering } = yield* gatherFacts(unit, incidents, { ...WITHOUT_POLICY, mutes }, now)
  return incidents.filter((incident) => incident.state === "open" && covering(incident).length > 0)
})
