import { csvColumns } from "@tocsin/contract/formats/csvText"
import type { AgentNotFound } from "@tocsin/core/heart/admission/AdmissionErrors"
import type { toTitledAgent } from "@tocsin/core/heart/liveness/agentStatus"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { ActionCountResponse } from "@tocsin/contract/v1/Responses"
import { AdmissionState, AgentStatus } from "@tocsin/contract/formats/Status"
import { Storage, type StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Admission } from "@tocsin/core/lists/Admission"
import { Queries } from "@tocsin/core/lists/Queries"
import { Effect, Layer, Order, Schema, Stream } from "effect"
import { Argument } from "effect/cli"
import { type CommandFailure, notFound, usageFailure } from "../CommandFailure.ts"
import { confirm, Output, writeResult } from "../output/Output.ts"
import { ageText, type Column, labelsText } from "../output/texts.ts"
import { actOnEach, command, group, listOn } from "./define.ts"
import * as flags from "./flags.ts"
import { titleAgent } from "./titleAgent.ts"
import { portsOfCommand } from "./UseCases.ts"

type Agent = ReturnType<typeof toTitledAgent>

const SORTS = ["agent_id", "hostname", "last_seen_at", "status"] as const
type AgentSort = (typeof SORTS)[number]

const STATUS_RANK = { alive: 0, stale: 1, dead: 2 } as const

const ORDERS: { readonly [Sort in AgentSort]: Order.Order<Agent> } = {
  agent_id: Order.mapInput(Order.String, ({ agent_id }: Agent) => agent_id),
  hostname: Order.mapInput(Order.String, ({ hostname }: Agent) => hostname),
  last_seen_at: Order.mapInput(Order.BigInt, ({ last_seen_at }: Agent) => last_seen_at),
  status: Order.mapInput(Order.Number, ({ status }: Agent) => STATUS_RANK[status]),
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

const list = listOn(Queries.layer)({
  name: "list",
  description: "List agents",
  examples: [
    { command: "tocsin agents list --state pending", description: "Agents that wait for admission" },
    { command: "tocsin agents list --status dead --json", description: "For a script" },
  ],
  filters: {
    status: flags.filter("status", AgentStatus.literals, "Only agents of this status"),
    state: flags.filter("state", AdmissionState.literals, "Only agents of this admission state"),
    rotationPending: flags.flag("rotation-pending", "Only accepted agents with a new key pending"),
    prefix: flags.text("prefix", "Only agents whose ID begins with this"),
    sort: flags.choice("sort", SORTS, "Order by"),
    direction: flags.choice("direction", ["asc", "desc"], "Direction"),
  },
  query: (_filters, page) => Queries.use((queries) => queries.findAgents({ ...page, is_waiting: false })),
  arrange: (agents, filters) => {
    const items = Stream.filter(agents, passes(filters))
    const { direction, sort } = filters
    if (sort === "agent_id" && direction === "asc") return items
    // Sorted here: the storage has no index for these orders.
    const order = Order.combine(ORDERS[sort], ORDERS.agent_id)
    return Stream.unwrap(
      Effect.map(Stream.runCollect(items), (all) =>
        Stream.fromIterable(all.toSorted(direction === "asc" ? order : Order.flip(order))),
      ),
    )
  },
  columns: (now): ReadonlyArray<Column<Agent>> => [
    { title: "AGENT", cell: (agent) => agent.agent_id },
    { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
    { title: "STATUS", cell: ({ status }) => status, isState: true },
    {
      title: "ADMISSION",
      cell: (agent) => (agent.rotation_pending ? "accepted, new key pending" : agent.admission_state),
      isState: true,
    },
    { title: "SEEN", cell: ({ last_seen_at }) => ageText(last_seen_at, now), align: "right" },
    { title: "FINGERPRINT", cell: ({ key_fingerprint }) => key_fingerprint ?? "" },
    { title: "HOSTNAME", cell: ({ hostname }) => hostname, least: 12 },
    { title: "LABELS", cell: ({ labels }) => labelsText(labels), least: 6 },
  ],
  of: "agents",
  csv: csvColumns.agents,
})

/** The targets of an action: named agents, or every pending one. */
type Targets = ReadonlyArray<AgentId> | "all"

interface AgentAction {
  readonly one: (
    admission: Admission["Service"],
    id: AgentId,
  ) => Effect.Effect<ActionCountResponse, AgentNotFound | StorageError>
  readonly all: (admission: Admission["Service"]) => Admission["Service"]["blockAll"]
  /** The question to confirm; absent if the action can be undone. */
  readonly question: (targets: Targets) => string | undefined
  /** The result for one agent: "accepted". */
  readonly done: string
  /** The result if there was nothing to do. */
  readonly nothing: string
}

interface Given {
  readonly ids: ReadonlyArray<string>
  readonly all: boolean
  readonly yes: boolean
  readonly json: boolean
}

const parameters = (descriptionOfAll: string) => ({
  ids: flags
    .argument("AGENT_ID", "IDs of agents, as tocsin agents list shows them")
    .pipe(Argument.variadic()),
  all: flags.flag("all", descriptionOfAll),
  yes: flags.yes,
  json: flags.json,
})

const isAgentId = Schema.is(AgentId)

const targetsOf = Effect.fnUntraced(function* ({
  ids,
  all,
}: Given): Effect.fn.Return<Targets, CommandFailure> {
  if (all && ids.length > 0) return yield* usageFailure("name agents or use --all, but not both")
  if (!all && ids.length === 0) return yield* usageFailure("name at least one agent, or use --all")
  const wrong = ids.find((id) => !isAgentId(id))
  if (wrong !== undefined) {
    return yield* usageFailure(
      `${JSON.stringify(wrong.slice(0, 64))} is not a valid agent ID: use 1 to 128 letters, digits or the characters . _ : -`,
    )
  }
  return all ? "all" : Array.from(new Set(ids.filter(isAgentId)))
})

const SUGGESTIONS = 3

/** The failure for an unknown agent, which suggests IDs that begin the same way. */
const noAgent = Effect.fnUntraced(function* (id: AgentId) {
  const storage = yield* Storage
  const following = yield* storage.page({
    list: "agents",
    filter: {},
    sort: "agent_id",
    direction: "asc",
    from: { values: [id], isInclusive: true },
    isBackward: false,
    limit: SUGGESTIONS + 1,
  })
  const similar = following.map(({ agent_id }) => agent_id).filter((other) => other.startsWith(id))
  const more = similar.length > SUGGESTIONS ? " …" : ""
  return yield* notFound(
    similar.length === 0
      ? `there is no agent ${id}: list agents with tocsin agents list`
      : `there is no agent ${id}; IDs that start with it: ${similar.slice(0, SUGGESTIONS).join(", ")}${more}`,
  )
})

/** Acts on named agents, and says at once what it did to each. */
const actOnNamed = Effect.fnUntraced(function* (
  action: AgentAction,
  ids: ReadonlyArray<AgentId>,
  json: boolean,
) {
  const admission = yield* Admission
  const { write } = yield* Output
  const { items, failure } = yield* actOnEach(ids, (id) =>
    action.one(admission, id).pipe(
      Effect.catchTag("AgentNotFound", () => noAgent(id)),
      Effect.tap(({ count }) =>
        json ? Effect.void : write(`${id}: ${count > 0 ? action.done : action.nothing}\n`),
      ),
    ),
  )
  if (json) {
    const named = items.map(({ id: agent_id, ...outcome }) => ({ agent_id, ...outcome }))
    yield* writeResult(true, { items: named }, () => "")
  }
  if (failure !== undefined) return yield* failure
})

const actOnAll = Effect.fnUntraced(function* (action: AgentAction, json: boolean) {
  const acted = yield* action.all(yield* Admission)
  const { count, skipped = 0 } = acted
  const left = skipped === 0 ? "" : `${skipped} skipped, whose rows stay locked: run the command again\n`
  yield* writeResult(json, acted, () => `${count} ${action.done}\n${left}`)
})

const act = Effect.fnUntraced(function* (action: AgentAction, given: Given) {
  const targets = yield* targetsOf(given)
  const question = action.question(targets)
  if (question !== undefined) yield* confirm(question, given.yes)
  // Provided after the answer, so that help and mistakes need no storage.
  return yield* Effect.provide(
    targets === "all" ? actOnAll(action, given.json) : actOnNamed(action, targets, given.json),
    Layer.provideMerge(Admission.layer, portsOfCommand),
  )
})

/** A command that acts on named agents or on every pending one, which `all` describes. */
const acting = <const Name extends string>(
  name: Name,
  texts: { readonly description: string; readonly all: string },
  action: AgentAction,
) =>
  command({
    name,
    description: texts.description,
    parameters: parameters(texts.all),
    run: (given) => act(action, given),
  })

const accept = command({
  name: "accept",
  description: "Accept pending agents, or the new keys of accepted ones",
  examples: ["tocsin agents accept web-1 web-2"],
  parameters: {
    ...parameters("Accept every pending agent"),
    includeRotation: flags.flag("include-rotation", "With --all: new keys of accepted agents too"),
  },
  run: Effect.fnUntraced(function* ({ includeRotation, ...given }) {
    if (includeRotation && !given.all) {
      return yield* usageFailure(
        "use --include-rotation only with --all: accepting a named agent includes its rotation",
      )
    }
    const keys = includeRotation ? "every pending agent and every new key" : "every pending agent"
    return yield* act(
      {
        one: (admission, id) => admission.accept(id),
        all: (admission) => admission.acceptAll({ includeRotation }),
        question: (targets) => (targets === "all" ? `this accepts ${keys}, known or not` : undefined),
        done: "accepted",
        nothing: "nothing is pending",
      },
      given,
    )
  }),
})

const block = acting(
  "block",
  {
    description: "Block keys of agents: the pending one, or else the accepted one. Not safe to repeat",
    all: "Block every pending key",
  },
  {
    one: (admission, id) => admission.block(id),
    all: (admission) => admission.blockAll,
    question: (targets) =>
      targets === "all"
        ? "this blocks every pending key, and deletes the agents that have no other"
        : `this blocks the pending key of ${targets.join(", ")}, or else the accepted one; ` +
          "an agent left without a key is deleted with its checks and history",
    done: "blocked",
    nothing: "there is no key to block",
  },
)

const remove = acting(
  "remove",
  { description: "Delete agents with their keys, checks and history", all: "Remove every pending agent" },
  {
    one: (admission, id) => admission.remove(id),
    all: (admission) => admission.removeAll,
    question: (targets) =>
      targets === "all"
        ? "this removes every pending agent"
        : `this deletes ${targets.join(", ")} with all keys, checks and history`,
    done: "removed",
    nothing: "there was nothing to remove",
  },
)

export const agents = group({
  name: "agents",
  description: "List, title, accept, block and remove agents",
  commands: [list, titleAgent, accept, block, remove],
})
