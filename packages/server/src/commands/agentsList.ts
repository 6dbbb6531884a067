import type { Agent } from "@tocsin/contract/Resources"
import type * as Instant from "@tocsin/contract/Instant"
import { AdmissionState, AgentStatus } from "@tocsin/contract/Status"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { ageText, labelsText } from "../output/texts.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Agent>> => [
  { title: "AGENT", cell: (agent) => agent.agent_id },
  { title: "STATUS", cell: (agent) => agent.status, isState: true },
  {
    title: "ADMISSION",
    cell: (agent) => (agent.rotation_pending ? "accepted, new key pending" : agent.admission_state),
    isState: true,
  },
  { title: "SEEN", cell: (agent) => ageText(agent.last_seen_at, now), align: "right" },
  { title: "FINGERPRINT", cell: (agent) => agent.key_fingerprint ?? "" },
  { title: "HOSTNAME", cell: (agent) => agent.hostname, least: 12 },
  { title: "LABELS", cell: ({ labels }) => labelsText(labels), least: 6 },
]

const SORTS = ["agent_id", "hostname", "last_seen_at", "status"] as const
type AgentSort = (typeof SORTS)[number]

const STATUS_RANK = { alive: 0, stale: 1, dead: 2 } as const

const compareValues = <A extends string | bigint | number>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

const COMPARE: { readonly [Sort in AgentSort]: (a: Agent, b: Agent) => number } = {
  agent_id: (a, b) => compareValues(a.agent_id, b.agent_id),
  hostname: (a, b) => compareValues(a.hostname, b.hostname),
  last_seen_at: (a, b) => compareValues(a.last_seen_at, b.last_seen_at),
  status: (a, b) => compareValues(STATUS_RANK[a.status], STATUS_RANK[b.status]),
}

interface Filters {
  readonly status: Agent["status"] | undefined
  readonly state: Agent["admission_state"] | undefined
  readonly rotationPending: boolean
  readonly prefix: string | undefined
}

const passes =
  ({ status, state, rotationPending, prefix }: Filters) =>
  (agent: Agent): boolean =>
    agent.status === (status ?? agent.status) &&
    agent.admission_state === (state ?? agent.admission_state) &&
    (agent.rotation_pending || !rotationPending) &&
    agent.agent_id.startsWith(prefix ?? "")

interface Order {
  readonly sort: AgentSort
  readonly direction: "asc" | "desc"
}

/** Sorts here: the storage has no index for these orders. */
const sorted = (agents: Iterable<Agent>, { sort, direction }: Order): ReadonlyArray<Agent> => {
  const compare = COMPARE[sort]
  const sign = direction === "asc" ? 1 : -1
  return Array.from(agents).toSorted((a, b) => sign * (compare(a, b) || COMPARE.agent_id(a, b)))
}

/** `tocsin agents list` */
export const list = listCommand({
  name: "list",
  filters: {
    status: flags.filter("status", AgentStatus.literals, "Only agents of this status"),
    state: flags.filter("state", AdmissionState.literals, "Only agents of this admission state"),
    rotationPending: flags.flag("rotation-pending", "Only accepted agents with a new key pending"),
    prefix: flags.text("prefix", "Only agents whose ID begins with this"),
    sort: flags.choice("sort", SORTS, "Order by"),
    direction: flags.choice("direction", ["asc", "desc"], "Direction"),
  },
  query: (_filters, page) => Queries.use((queries) => queries.agents(page)),
  arrange: (agents, filters) => {
    const items = Stream.filter(agents, passes(filters))
    if (filters.sort === "agent_id" && filters.direction === "asc") return items
    return Stream.unwrap(
      Effect.map(Stream.runCollect(items), (all) => Stream.fromIterable(sorted(all, filters))),
    )
  },
  columns: columnsAt,
  of: "agents",
}).pipe(
  Command.withDescription("List agents"),
  Command.withExamples([
    { command: "tocsin agents list --state pending", description: "Agents that wait for admission" },
    { command: "tocsin agents list --status dead --json", description: "For a script" },
  ]),
)
