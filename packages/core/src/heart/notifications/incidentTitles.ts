import type { AgentId, CheckId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import type { IncidentTimeline, Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { type Command, loneCommandOf, type LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { titleOf } from "../model/titles.ts"

const READ_TOGETHER = 8

/** An incident, or another thing with an ID, and the check that it is about; {@link HEARTBEAT} for its agent. */
interface Opened<Id extends string = IncidentId> {
  readonly id: Id
  readonly opener_agent_id: AgentId
  readonly opener_check_id: CheckId
}

/** The titles of what opened incidents: checks, and silent agents (docs/rules.md#titles). Reads no agent that is known. */
export const openerTitles = Effect.fnUntraced(function* <Id extends string>(
  storage: Pick<Storage["Service"], "agent" | "rows">,
  incidents: ReadonlyArray<Opened<Id>>,
  known: ReadonlyArray<AgentRecord> = [],
) {
  const agents = new Map(known.map((agent) => [agent.agent_id, agent]))
  const ids = new Set(incidents.map(({ opener_agent_id }) => opener_agent_id))
  const unknown = Array.from(ids).filter((id) => !agents.has(id))
  const read = yield* Effect.forEach(unknown, storage.agent, { concurrency: READ_TOGETHER })
  for (const agent of read) if (agent !== undefined) agents.set(agent.agent_id, agent)
  const refs = incidents.flatMap(({ opener_agent_id: agent_id, opener_check_id: check_id }) => {
    const agent = agents.get(agent_id)
    return agent === undefined ? [] : [{ agent_id, check_id, registration_id: agent.registration_id }]
  })
  const nameOf = (agent: AgentId, check: CheckId): string => `${agent}/${check}`
  const titles = new Map(
    (yield* storage.rows("check_label", refs)).map(({ agent_id, check_id, labels }) => [
      nameOf(agent_id, check_id),
      titleOf(labels),
    ]),
  )
  return new Map(
    incidents.flatMap(({ id, opener_agent_id: agent, opener_check_id: check }) => {
      const title =
        check === HEARTBEAT ? titleOf(agents.get(agent)?.labels) : titles.get(nameOf(agent, check))
      return title === undefined ? [] : [[id, title] as const]
    }),
  )
})

/** The titles of the worst loud members of incidents; of a silent agent, its own. Absent where there is no such member. */
const worstTitles = loneCommandOf(function* (
  _unit,
  ids: ReadonlyArray<IncidentId>,
): LoneDecision<ReadonlyMap<IncidentId, string | undefined>> {
  const found = yield* find(
    "loudMembers",
    ids.map((incident_id) => ({ incident_id, limit: 1 })),
  )
  return new Map(
    Array.from(found, ([id, [worst]]) => [
      id,
      titleOf(worst?.member.check_id === HEARTBEAT ? worst.agent?.labels : worst?.labels),
    ]),
  )
})

const NO_TITLES: ReadonlyMap<IncidentId, string | undefined> = new Map()

/** The titles that incidents show: of one without loud members, that of what opened it. */
export const incidentTitles =
  (
    storage: Pick<Storage["Service"], "agent" | "rows">,
    transact: <A>(command: Command<A>) => Effect.Effect<A, StorageError>,
  ) =>
  (incidents: ReadonlyArray<Pick<IncidentRecord, "state"> & Opened>) =>
    Effect.gen(function* () {
      const open = incidents.filter(({ state }) => state === "open").map(({ id }) => id)
      // Pages of resolved incidents take no transaction.
      const worst = open.length === 0 ? NO_TITLES : yield* transact(worstTitles(open))
      const opened = yield* openerTitles(
        storage,
        incidents.filter(({ id }) => !worst.has(id)),
      )
      return new Map([...opened, ...worst])
    })

/** The titles of an incident's members, in their order. */
export const memberTitlesOf = Effect.fnUntraced(function* (
  { agent }: Pick<Storage["Service"], "agent">,
  { labels, members }: Pick<IncidentTimeline, "labels" | "members">,
) {
  const silent = members.find(({ check_id }) => check_id === HEARTBEAT)
  const found = silent && (yield* agent(silent.agent_id))
  return members.map((member, place) => titleOf(member === silent ? found?.labels : labels[place]))
})
