import { Effect } from "effect"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { AgentStatus } from "@tocsin/contract/formats/Status"
import {
  ALL_AGENTS,
  matchingPages,
  type Page,
  type PageParameters,
  readPage,
  startAt,
} from "../../kernel/engine/lists/readPage.ts"
import { hasWords } from "../../kernel/engine/lists/searchWords.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { type StatusContext, toTitledAgent } from "./agentStatus.ts"

export type FoundAgentParameters = PageParameters & {
  readonly search?: string | undefined
  readonly status?: AgentStatus | undefined
  /** Whether to list only agents of which a key waits for acceptance. */
  readonly is_waiting: boolean
  readonly from_agent?: AgentId | undefined
}

type TitledAgent = ReturnType<typeof toTitledAgent>

const agentText = ({ agent_id, hostname, labels = {}, title }: TitledAgent): string =>
  [
    agent_id,
    hostname,
    title ?? "",
    ...Object.entries(labels).map(([name, value]) => `${name}=${value}`),
  ].join(" ")

/** A page of agents that match. No index serves parts of names, or a status, which follows from the time. */
export const findAgents = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  context: StatusContext,
  { from_agent, is_waiting, search, status, ...paging }: FoundAgentParameters,
): Effect.fn.Return<Page<TitledAgent>, ValidationError | StorageError> {
  const isWanted = (agent: TitledAgent): boolean =>
    (status === undefined || agent.status === status) &&
    (!is_waiting || agent.admission_state === "pending" || agent.rotation_pending === true) &&
    hasWords(search, agentText(agent))
  const matching = matchingPages<"agents">(storage, (rows) =>
    Effect.succeed(rows.filter((row) => isWanted(toTitledAgent(row, context)))),
  )
  const found = yield* readPage(matching, sha256, ALL_AGENTS, paging, startAt("agents", from_agent))
  return { ...found, items: found.items.map((row) => toTitledAgent(row, context)) }
})
