import {
  agentCalls as callsOf,
  enrolCall,
  expectationsCall,
  type Sender,
} from "@tocsin/adapter-http/handlers/agentCalls"
import { Readiness } from "@tocsin/core/health/Readiness"
import { isWellFormed } from "@tocsin/contract/BearerToken"
import type { RoleOf } from "@tocsin/core/operators/roleOf"
import type {
  AcceptedResponse,
  EnrolRequest,
  EventBatchAcceptedResponse,
  EventBatchRequest,
  ExpectationsRequest,
  ExpectationsResponse,
  HeartbeatRequest,
} from "@tocsin/client/Resources"
import { asJson } from "@tocsin/client/calls/endpoints"
import { describeIssue } from "@tocsin/contract/describeIssue"
import { ValidationError } from "@tocsin/contract/Errors"
import { unknownOptions } from "@tocsin/contract/nearestName"
import type { AgentId } from "@tocsin/contract/Identifiers"
import { AgentPathParameters } from "@tocsin/contract/Parameters"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { Context, Effect, Redacted, Result, SchemaParser } from "effect"
import type { CallError, Calls, Reply } from "./Calls.ts"
import { type AnyCallCode, TocsinError } from "../TocsinError.ts"

/** Options of a heartbeat. */
export interface HeartbeatOptions {
  /** The client's address, for which registrations of unknown keys are limited (`registrationRate`). */
  readonly address?: string | undefined
}

/** The agents' calls, answered by this process. */
export interface AgentCalls {
  /**
   * Takes a heartbeat under the agent's key: 1 to 512 visible ASCII characters that the agent makes and
   * keeps. An unknown key registers a pending agent. Safe to repeat.
   *
   * @example
   * ```ts
   * const { accepted } = await monitor.heartbeat(key, {
   *   agent_id: "web-1",
   *   observed_at: new Date().toISOString(),
   *   hostname: "web-1.example",
   *   features: { push: true, metrics: false },
   * })
   * ```
   */
  readonly heartbeat: (
    key: string,
    request: HeartbeatRequest,
    options?: HeartbeatOptions,
  ) => Reply<
    AcceptedResponse,
    AnyCallCode | "unauthorized" | "validation" | "agent_blocked" | "conflict" | "rate_limited"
  >
  /** Takes 1 to 200 check results of one agent, all or none. Safe to repeat: known `event_id`s count once. */
  readonly events: (
    key: string,
    request: EventBatchRequest,
  ) => Reply<
    EventBatchAcceptedResponse,
    AnyCallCode | "unauthorized" | "validation" | "agent_blocked" | "agent_not_accepted"
  >
  /**
   * Declares checks of an agent that must report; one that stops is overdue, and joins an incident. With
   * `complete`, checks that are not listed no longer must report. Safe to repeat.
   *
   * @example
   * ```ts
   * await monitor.expectations(key, "web-1", {
   *   checks: [{ check_id: "backup", cron: "0 3 * * *", tz: "Europe/Berlin", severity: "critical" }],
   * })
   * ```
   */
  readonly expectations: (
    key: string,
    agentId: string,
    declaration: ExpectationsRequest,
  ) => Reply<
    ExpectationsResponse,
    AnyCallCode | "unauthorized" | "validation" | "agent_blocked" | "agent_not_accepted" | "rate_limited"
  >
  /** Has a pending agent accepted by the token of an enrolment, after its first heartbeat. Safe to repeat. */
  readonly enrol: (
    key: string,
    agentId: string,
    request: EnrolRequest,
  ) => Reply<
    AcceptedResponse,
    | AnyCallCode
    | "unauthorized"
    | "validation"
    | "agent_blocked"
    | "agent_not_accepted"
    | "conflict"
    | "not_found"
    | "rate_limited"
  >
  /** Whether the storage could be written to at the last look, and the monitor is not closing. */
  readonly isReady: () => Promise<boolean>
}

const unauthorized = (message: string) =>
  Effect.suspend(() => Effect.fail(new TocsinError("unauthorized", message)))
const notWellFormed = unauthorized("an agent key is 1 to 512 visible ASCII characters")
const ofOperators = unauthorized("this is an operators' token; give the agent its own key")

/** Takes a body as if it had come as JSON, which most bodies need not. */
const sendingAsJson = <A, E extends CallError>(
  send: (sender: Sender, body: unknown) => Effect.Effect<A, E | ValidationError>,
  sender: Sender,
  body: unknown,
) => Effect.catchTag(send(sender, body), "ValidationError", () => send(sender, asJson(body)))

const decodePath = SchemaParser.decodeUnknownResult(AgentPathParameters)

const readAgentId = (agentId: unknown): Result.Result<AgentId, ValidationError> =>
  Result.mapBoth(decodePath({ agent_id: String(agentId) }), {
    onSuccess: ({ agent_id }) => agent_id,
    onFailure: (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
  })

/** Fails for options that a call does not take: in plain JavaScript, a misspelt one would be ignored. */
export const refuseUnknown = <Options extends object>(
  options: Options,
  known: ReadonlyArray<keyof Options & string>,
): Effect.Effect<void, TocsinError<"validation">> => {
  const problems = unknownOptions("", options, known)
  return problems.length === 0 ? Effect.void : Effect.fail(new TocsinError("validation", problems.join("\n")))
}

/** {@link AgentCalls} on running use cases. */
export const agentCalls = (
  calls: Calls,
  services: Context.Context<Ingest | Readiness>,
  roleOf: RoleOf<string>,
): AgentCalls => {
  const ingest = Context.get(services, Ingest)
  const { heartbeat, events } = callsOf(ingest)
  const ofAgent =
    <A, E extends CallError>(
      callAbout: (agentId: AgentId) => (sender: Sender, body: unknown) => Effect.Effect<A, E>,
    ) =>
    (text: string, agentId: string, request: object) =>
      calls.reply(
        Effect.flatMap(keyOf(text), (key) => {
          const send = (sender: Sender, body: unknown) =>
            Effect.flatMap(Effect.fromResult(readAgentId(agentId)), (id) => callAbout(id)(sender, body))
          return sendingAsJson(send, { key, address: undefined }, request)
        }),
      )
  const keyOf = (key: unknown) => {
    if (typeof key !== "string") return notWellFormed
    const redacted = Redacted.make(key)
    if (!isWellFormed(redacted)) return notWellFormed
    return roleOf(redacted) === undefined ? Effect.succeed(redacted) : ofOperators
  }
  return {
    heartbeat: (text, request, options = {}) =>
      calls.reply(
        Effect.gen(function* () {
          yield* refuseUnknown(options, ["address"])
          const key = yield* keyOf(text)
          return yield* sendingAsJson(heartbeat, { key, address: options.address }, request)
        }),
      ),
    events: (text, request) =>
      calls.reply(
        Effect.flatMap(keyOf(text), (key) => sendingAsJson(events, { key, address: undefined }, request)),
      ),
    expectations: ofAgent(expectationsCall(ingest)),
    enrol: ofAgent(enrolCall(ingest)),
    isReady: async () => {
      const outcome = await calls.reply(Context.get(services, Readiness).isReady).outcome()
      return outcome.ok && outcome.value
    },
  }
}
