/** A typed client of the Tocsin API, derived from its definition. `TocsinClient` is the same for Effect. */
export { type AgentOptions, createAgent } from "./createAgent.ts"
export type {
  CheckFunction,
  CheckOptions,
  Finding,
  ProgramAgent,
  ProgramAgentState,
  ReportOptions,
} from "@tocsin/reporting/program/ProgramAgent"
export { newEventId } from "@tocsin/reporting/agent/CheckReport"
export { createClient } from "./createClient.ts"
export type { CallOptions, Client, PromiseClientOptions } from "./createClient.ts"
export type { ClientOptions, RetryOptions } from "./options/ClientOptions.ts"
export type { DurationOption } from "@tocsin/contract/formats/durationMillis"
export {
  type AnyCallCode,
  type ClientErrorCode,
  type ClientFailure,
  hasCode,
  isTocsinClientError,
  TocsinClientError,
} from "./TocsinClientError.ts"

export type * from "./Resources.ts"
