import type { Agent } from "@tocsin/core/contract/Resources"
import * as Instant from "@tocsin/core/contract/Instant"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ageText } from "../../output/ageText.ts"
import type { Column } from "../../output/makeTable.ts"
import { type ListOptions, writeList, writeRows } from "../../output/writeList.ts"
import * as flags from "../flags.ts"
import { useCases } from "../UseCases.ts"

const SORTS = ["agent_id", "hostname", "last_seen_at", "status"] as const
type AgentSort = (typeof SORTS)[number]

const STATUS_RANK = { alive: 0, stale: 1, dead: 2 } as const
const LARGEST_PAGE = 500

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
  { title: "LABELS", cell: labelsText, least: 6 },
]

const labelsText = ({ labels }: Agent): string =>
  Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(" ")

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const COMPARE: { readonly [Sort in AgentSort]: (a: Agent, b: Agent) => number } = {
  agent_id: (a, b) => compareText(a.agent_id, b.agent_id),
  hostname: (a, b) => compareText(a.hostname, b.hostname),
  last_seen_at: (a, b) => (a.last_seen_at < b.last_seen_at ? -1 : a.last_seen_at > b.last_seen_at ? 1 : 0),
  status: (a, b) => STATUS_RANK[a.status] - STATUS_RANK[b.status],
}

interface Filters {
  readonly status: Option.Option<Agent["status"]>
  readonly state: Option.Option<Agent["admission_state"]>
  readonly rotationPending: boolean
  readonly prefix: Option.Option<string>
}

/** What the filters keep; `undefined` where none is given. */
const keepOf = ({ status, state, rotationPending, prefix }: Filters) => {
  const tests: ReadonlyArray<((agent: Agent) => boolean) | undefined> = [
    Option.isSome(status) ? (agent) => agent.status === status.value : undefined,
    Option.isSome(state) ? (agent) => agent.admission_state === state.value : undefined,
    rotationPending ? (agent) => agent.rotation_pending : undefined,
    Option.isSome(prefix) ? (agent) => agent.agent_id.startsWith(prefix.value) : undefined,
  ]
  const given = tests.filter((test) => test !== undefined)
  return given.length === 0 ? undefined : (agent: Agent) => given.every((test) => test(agent))
}

/** All agents that are kept, in an order that the storage has no index for. */
const sorted = Effect.fnUntraced(function* (
  { sort, direction }: { readonly sort: AgentSort; readonly direction: "asc" | "desc" },
  keep: ((agent: Agent) => boolean) | undefined,
) {
  const queries = yield* Queries
  const agents: Array<Agent> = []
  let cursor: string | undefined
  do {
    const page = yield* queries.agents({ cursor, limit: LARGEST_PAGE })
    agents.push(...(keep === undefined ? page.items : page.items.filter(keep)))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  const compare = COMPARE[sort]
  const sign = direction === "asc" ? 1 : -1
  return agents.toSorted((a, b) => sign * (compare(a, b) || compareText(a.agent_id, b.agent_id)))
})

/** `tocsin agents list` */
export const list = Command.make(
  "list",
  {
    status: Flag.Literals("status", ["alive", "stale", "dead"]).pipe(
      Flag.withDescription("Only agents of this status"),
      Flag.optional,
    ),
    state: Flag.Literals("state", ["pending", "accepted"]).pipe(
      Flag.withDescription("Only agents of this admission state"),
      Flag.optional,
    ),
    rotationPending: Flag.Boolean("rotation-pending").pipe(
      Flag.withDescription("Only accepted agents that ask for a new key"),
      Flag.withoutNegation,
      Flag.withDefault(false),
    ),
    prefix: Flag.String("prefix").pipe(
      Flag.withDescription("Only agents whose id begins with this"),
      Flag.optional,
    ),
    sort: Flag.Literals("sort", SORTS).pipe(
      Flag.withDescription("What to order by (default: agent_id)"),
      Flag.withDefault("agent_id" as const),
    ),
    direction: Flag.Literals("direction", ["asc", "desc"]).pipe(
      Flag.withDescription("Which way (default: asc)"),
      Flag.withDefault("asc" as const),
    ),
    limit: flags.limit,
    all: flags.all,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ sort, direction, ...rest }) {
    const queries = yield* Queries
    const options: ListOptions = rest
    const keep = keepOf(rest)
    const shown = { columns: columnsAt(yield* Instant.now), of: "agents" }
    if (sort === "agent_id" && direction === "asc") {
      const listed = { ...shown, page: queries.agents, ...(keep !== undefined && { keep }) }
      return yield* writeList(listed, options)
    }
    return yield* writeRows(yield* sorted({ sort, direction }, keep), shown, options)
  }, Effect.provide(useCases)),
).pipe(
  Command.withDescription("List agents"),
  Command.withExamples([
    { command: "tocsin agents list --state pending", description: "Who asks to be let in" },
    { command: "tocsin agents list --status dead --json", description: "For a script" },
  ]),
)
