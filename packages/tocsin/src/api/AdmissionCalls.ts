import * as decode from "@tocsin/core/contract/decodeRequest"
import type { AgentId } from "@tocsin/core/contract/Identifiers"
import { AgentBlacklistPage, AgentPage } from "@tocsin/core/contract/Responses"
import { Agent as AgentSchema } from "@tocsin/core/contract/Resources"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Schema } from "effect"
import type { Reply } from "../Reply.ts"
import type { AnyCallCode } from "../TocsinError.ts"
import { allPages } from "./allPages.ts"
import type { Calls } from "./Calls.ts"
import { asQuery } from "./decodeInput.ts"
import type { BlacklistParameters, Paging, Unpaged } from "@tocsin/client/Parameters"
import type { ActionCount, Agent, AgentBlacklistItem, Page } from "@tocsin/client/Resources"

type PageReply<Item> = Reply<Page<Item>, AnyCallCode | "validation">
type OnAgent<A> = Reply<A, AnyCallCode | "validation" | "not_found">
type OnAll = Reply<ActionCount, AnyCallCode>

/** What operators read and decide about agents and their keys. */
export interface AdmissionCalls {
  readonly agents: {
    /** One page of agents, by agent_id. */
    readonly list: (parameters?: Paging) => PageReply<Agent>
    /** All agents, a page at a time. */
    readonly all: (parameters?: Unpaged<Paging>) => AsyncGenerator<Agent, void, undefined>
    readonly get: (agentId: string) => OnAgent<Agent>
    /** Accepts the agent's pending key; a count of 0 when nothing is pending. Compare the key's fingerprint first. */
    readonly accept: (agentId: string) => OnAgent<ActionCount>
    /** Blocks the agent's pending key, or else its accepted one. Not safe to repeat. */
    readonly block: (agentId: string) => OnAgent<ActionCount>
    /** Deletes the agent with its checks and their history. */
    readonly remove: (agentId: string) => OnAgent<ActionCount>
    /** Accepts all pending agents; replacement keys of accepted ones too with `include_rotation: true`. */
    readonly acceptAll: (parameters?: {
      readonly include_rotation?: boolean | undefined
    }) => Reply<ActionCount, AnyCallCode | "validation">
    /** Blocks all pending keys. Not safe to repeat. */
    readonly blockAll: () => OnAll
    /** Removes all pending agents. */
    readonly removeAll: () => OnAll
  }
  /** Blocked keys. */
  readonly blacklist: {
    /** One page of blocked keys, latest first. */
    readonly list: (parameters?: BlacklistParameters) => PageReply<AgentBlacklistItem>
    readonly all: (
      parameters?: Unpaged<BlacklistParameters>,
    ) => AsyncGenerator<AgentBlacklistItem, void, undefined>
    /** Deletes one row by its id, so that the key may register again; a count of 0 when there is none of that id. */
    readonly remove: (id: string) => Reply<ActionCount, AnyCallCode | "validation">
    readonly removeAll: () => OnAll
  }
}

const encodeAgent = Schema.encodeSync(AgentSchema)
const encodeAgents = Schema.encodeSync(AgentPage)
const encodeBlacklist = Schema.encodeSync(AgentBlacklistPage)

const onAgent = <A, E, R>(agentId: unknown, use: (id: AgentId) => Effect.Effect<A, E, R>) =>
  Effect.fromResult(decode.decodeAgentPath(asQuery({ agent_id: agentId }))).pipe(
    Effect.flatMap(({ agent_id }) => use(agent_id)),
  )

/** {@link AdmissionCalls} on running use cases. */
export const admissionCalls = (calls: Calls<Queries | Admission>): AdmissionCalls => {
  const listAgents = (parameters: Paging = {}): PageReply<Agent> =>
    calls.reply(
      Effect.fromResult(decode.decodeAgentListParameters(asQuery(parameters))).pipe(
        Effect.flatMap((decoded) => Effect.flatMap(Queries, ({ agents }) => agents(decoded))),
        Effect.map(encodeAgents),
      ),
    )
  const listBlacklist = (parameters: BlacklistParameters = {}): PageReply<AgentBlacklistItem> =>
    calls.reply(
      Effect.fromResult(decode.decodeBlacklistParameters(asQuery(parameters))).pipe(
        Effect.flatMap((decoded) => Effect.flatMap(Queries, ({ blacklist }) => blacklist(decoded))),
        Effect.map(encodeBlacklist),
      ),
    )
  const action = (name: "accept" | "block" | "remove") => (agentId: string) =>
    calls.reply(onAgent(agentId, (id) => Effect.flatMap(Admission, (admission) => admission[name](id))))
  const onAll = (name: "blockAll" | "removeAll" | "unblockAll") => () =>
    calls.reply(Effect.flatMap(Admission, (admission) => admission[name]))
  return {
    agents: {
      list: listAgents,
      all: (parameters = {}) => allPages(listAgents, parameters),
      get: (agentId) =>
        calls.reply(
          Effect.map(
            onAgent(agentId, (id) => Effect.flatMap(Queries, ({ agent }) => agent(id))),
            encodeAgent,
          ),
        ),
      accept: action("accept"),
      block: action("block"),
      remove: action("remove"),
      acceptAll: (parameters = {}) =>
        calls.reply(
          Effect.fromResult(decode.decodeAcceptAllParameters(asQuery(parameters))).pipe(
            Effect.flatMap(({ include_rotation }) =>
              Effect.flatMap(Admission, ({ acceptAll }) => acceptAll({ includeRotation: include_rotation })),
            ),
          ),
        ),
      blockAll: onAll("blockAll"),
      removeAll: onAll("removeAll"),
    },
    blacklist: {
      list: listBlacklist,
      all: (parameters = {}) => allPages(listBlacklist, parameters),
      remove: (id) =>
        calls.reply(
          Effect.fromResult(decode.decodeBlacklistPath(asQuery({ key_id: id }))).pipe(
            Effect.flatMap(({ key_id }) => Effect.flatMap(Admission, ({ unblock }) => unblock(key_id))),
          ),
        ),
      removeAll: onAll("unblockAll"),
    },
  }
}
