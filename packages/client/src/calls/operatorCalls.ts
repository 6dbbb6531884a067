import { Agent, SystemSummary } from "@tocsin/core/contract/Resources"
import * as Parameters from "@tocsin/core/contract/Parameters"
import * as Responses from "@tocsin/core/contract/Responses"
import type { Effect } from "effect"
import type { CallError } from "../sending/toClientError.ts"
import type { Calls } from "./Calls.ts"
import { type CallMaker, decodeNothing } from "./callWith.ts"
import { parameterDecoder } from "./decoders.ts"
import type { Clients } from "./definition.ts"
import { listing } from "./listing.ts"

type OperatorCalls = Pick<
  Calls,
  "agents" | "blacklist" | "checks" | "history" | "incidents" | "outbox" | "summary"
>
type Lists = { readonly [Name in Exclude<keyof OperatorCalls, "summary">]: Pick<Calls[Name], "list" | "all"> }

const decode = {
  agent: parameterDecoder(Parameters.AgentPathParameters),
  row: parameterDecoder(Parameters.BlacklistPathParameters),
  agents: parameterDecoder(Parameters.AgentListParameters),
  blacklist: parameterDecoder(Parameters.BlacklistParameters),
  checks: parameterDecoder(Parameters.CheckListParameters),
  history: parameterDecoder(Parameters.EventListParameters),
  incidents: parameterDecoder(Parameters.IncidentListParameters),
  outbox: parameterDecoder(Parameters.OutboxListParameters),
  acceptAll: parameterDecoder(Parameters.AcceptAllParameters),
}

/** The lists that operators read. */
export const lists = (call: CallMaker, { operators }: Clients): Lists => ({
  agents: listing(
    call({
      decode: decode.agents,
      send: (query) => operators.listAgents({ query }),
      success: Responses.AgentPage,
    }),
  ),
  blacklist: listing(
    call({
      decode: decode.blacklist,
      send: (query) => operators.listBlacklist({ query }),
      success: Responses.AgentBlacklistPage,
    }),
  ),
  checks: listing(
    call({
      decode: decode.checks,
      send: (query) => operators.listChecks({ query }),
      success: Responses.CheckStatePage,
    }),
  ),
  history: listing(
    call({
      decode: decode.history,
      send: (query) => operators.queryEvents({ query }),
      success: Responses.StoredCheckResultEventPage,
    }),
  ),
  incidents: listing(
    call({
      decode: decode.incidents,
      send: (query) => operators.listIncidents({ query }),
      success: Responses.IncidentPage,
    }),
  ),
  outbox: listing(
    call({
      decode: decode.outbox,
      send: (query) => operators.listOutbox({ query }),
      success: Responses.NotificationOutboxPage,
    }),
  ),
})

const decodeAgentId = (agentId: string) => decode.agent({ agent_id: agentId })
const success = Responses.ActionCountResponse

/** What operators read and decide about agents and their keys, beside the lists. */
export const admissionCalls = (call: CallMaker, { operators }: Clients) => {
  const actOnOne = <E extends CallError>(
    act: (request: {
      readonly params: Parameters.AgentPathParameters
    }) => Effect.Effect<Responses.ActionCountResponse, E>,
  ) => call({ decode: decodeAgentId, send: (params) => act({ params }), success })
  const actOnAll = <E extends CallError>(send: () => Effect.Effect<Responses.ActionCountResponse, E>) =>
    call({ decode: decodeNothing, send, success })
  return {
    agents: {
      get: call({ decode: decodeAgentId, send: (params) => operators.getAgent({ params }), success: Agent }),
      accept: actOnOne((request) => operators.acceptAgent(request)),
      block: actOnOne((request) => operators.blockAgent(request)),
      remove: actOnOne((request) => operators.deleteAgent(request)),
      acceptAll: call({
        decode: decode.acceptAll,
        send: (query) => operators.acceptAll({ query }),
        success,
      }),
      blockAll: actOnAll(() => operators.blockAll()),
      removeAll: actOnAll(() => operators.removeAll()),
    },
    blacklist: {
      remove: call({
        decode: (id: string) => decode.row({ key_id: id }),
        send: (params) => operators.deleteBlacklistRow({ params }),
        success,
      }),
      removeAll: actOnAll(() => operators.deleteBlacklist()),
    },
    summary: call({ decode: decodeNothing, send: () => operators.getSummary(), success: SystemSummary }),
  }
}
