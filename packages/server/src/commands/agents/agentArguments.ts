import { AgentId } from "@tocsin/core/contract/Identifiers"
import { Storage } from "@tocsin/core/ports/Storage"
import { Effect, Schema } from "effect"
import { Argument, Flag } from "effect/cli"
import { notFound, usageFailure } from "../../CommandFailure.ts"

/** The agents that an action is for, by their ids. */
export const agentIds = Argument.String("AGENT_ID").pipe(
  Argument.withDescription("Ids of agents, as tocsin agents list shows them"),
  Argument.variadic(),
)

/** All of them instead. */
export const allOf = (description: string) =>
  Flag.Boolean("all").pipe(Flag.withDescription(description), Flag.withoutNegation, Flag.withDefault(false))

const isAgentId = Schema.is(AgentId)

/** What an action is for: named agents, or all that are pending. */
export type Targets = ReadonlyArray<AgentId> | "all"

/** Reads the targets; naming none, or some and all, is a mistake. */
export const targetsOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, all: boolean) {
  if (all && ids.length > 0) return yield* usageFailure("name agents or use --all, but not both")
  if (!all && ids.length === 0) return yield* usageFailure("name at least one agent, or use --all")
  const wrong = ids.find((id) => !isAgentId(id))
  if (wrong !== undefined) {
    return yield* usageFailure(
      `${JSON.stringify(wrong.slice(0, 64))} is not a valid agent ID: use 1 to 128 letters, digits or the characters . _ : -`,
    )
  }
  const targets: Targets = all ? "all" : Array.from(new Set(ids.filter(isAgentId)))
  return targets
})

const SUGGESTIONS = 3

/** There is no such agent; names those whose ids begin the same way. */
export const noSuchAgent = Effect.fnUntraced(function* (id: AgentId) {
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
  return notFound(
    similar.length === 0
      ? `there is no agent ${id}: list agents with tocsin agents list`
      : `there is no agent ${id}; IDs that start with it: ${similar.slice(0, SUGGESTIONS).join(", ")}${more}`,
  )
})
