import type { Agent } from "@tocsin/contract/Resources"
import * as Instant from "@tocsin/contract/Instant"
import { AdmissionState, AgentStatus } from "@tocsin/contract/Status"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Option, Stream } from "effect"
import { Command } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { ageText, labelsText } from "../output/texts.ts"
import { itemsOf, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

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
  readonly status: Option.Option<Agent["status"]>
  readonly state: Option.Option<Agent["admission_state"]>
  readonly rotationPending: boolean
  readonly prefix: Option.Option<string>
}

const passes =
  ({ status, state, rotationPending, prefix }: Filters) =>
  (agent: Agent): boolean =>
    agent.status === Option.getOrElse(status, () => agent.status) &&
    agent.admission_state === Option.getOrElse(state, () => agent.admission_state) &&
    (agent.rotation_pending || !rotationPending) &&
    agent.agent_id.startsWith(Option.getOrElse(prefix, () => ""))

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
export const list = Command.make(
  "list",
  {
    status: flags.filter("status", AgentStatus.literals, "Only agents of this status"),
    state: flags.filter("state", AdmissionState.literals, "Only agents of this admission state"),
    rotationPending: flags.flag("rotation-pending", "Only accepted agents with a new key pending"),
    prefix: flags.text("prefix", "Only agents whose ID begins with this"),
    sort: flags.choice("sort", SORTS, "Order by"),
    direction: flags.choice("direction", ["asc", "desc"], "Direction"),
    ...flags.list,
  },
  Effect.fnUntraced(function* ({ sort, direction, ...given }) {
    const queries = yield* Queries
    const items = Stream.filter(itemsOf(queries.agents), passes(given))
    const isListOrder = sort === "agent_id" && direction === "asc"
    const ordered = isListOrder
      ? items
      : Stream.unwrap(
          Effect.map(Stream.runCollect(items), (all) =>
            Stream.fromIterable(sorted(all, { sort, direction })),
          ),
        )
    return yield* writeList({ items: ordered, columns: columnsAt(yield* Instant.now), of: "agents" }, given)
  }, Effect.provide(useCases)),
).pipe(
  Command.withDescription("List agents"),
  Command.withExamples([
    { command: "tocsin agents list --state pending", description: "Agents that wait for admission" },
    { command: "tocsin agents list --status dead --json", description: "For a script" },
  ]),
)
