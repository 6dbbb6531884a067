import {
  agentCalls as callsOf,
  enrolCall,
  expectationsCall,
  type Sender,
} from "@tocsin/adapter-http/handlers/AgentHandlers"
import { Readiness } from "@tocsin/core/heart/health/Readiness"
import type { RoleOf } from "@tocsin/core/heart/operators/tokens"
import type { Call } from "@tocsin/client/calls/call"
import type { callTable } from "@tocsin/client/calls/callTable"
import { asJson, type EndpointName } from "@tocsin/client/calls/endpoints"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { unknownArguments } from "@tocsin/contract/formats/nearestName"
import { isWellFormed } from "@tocsin/contract/operators/BearerToken"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { AgentPathParameters } from "@tocsin/contract/v1/Parameters"
import { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import { Context, Effect, Redacted, Result, SchemaParser } from "effect"
import type { CallError, Calls, CodeOf, Reply } from "./Calls.ts"
import { type AnyCallCode, TocsinError } from "../TocsinError.ts"

export interface HeartbeatOptions {
  /** The client's address, for which registrations of unknown keys are limited (`registrationRate`). */
  readonly address?: string | undefined
}

type Table = Pick<typeof callTable, "heartbeat" | "events" | "expectations" | "enrol">
type CodesOf<Name extends keyof Table> =
  | CodeOf<Effect.Error<ReturnType<Ingest["Service"][Name]>>>
  | AnyCallCode
  | "unauthorized"
  | "validation"

type WithKeys<Rows> = {
  readonly [Name in keyof Rows]: Rows[Name] extends Call<EndpointName, infer Input, infer Output>
    ? (
        key: string,
        ...input: Name extends "heartbeat" ? [...Input, options?: HeartbeatOptions] : Input
      ) => Reply<Output, CodesOf<Name & keyof Table>>
    : never
}

/** The agents' calls of the API, each with the agent's key before its arguments. */
interface KeyedCalls extends WithKeys<Table> {}

/** The agents' calls, answered by this process. */
export interface AgentCalls extends KeyedCalls {
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
  readonly heartbeat: KeyedCalls["heartbeat"]
  /**
   * Declares checks of an agent that must report; one that stops is late, and joins an incident. With
   * `complete`, checks that are not listed no longer must report. Safe to repeat.
   *
   * @example
   * ```ts
   * await monitor.expectations(key, "web-1", {
   *   checks: [{ check_id: "backup", cron: "0 3 * * *", tz: "Europe/Berlin", severity: "critical" }],
   * })
   * ```
   */
  readonly expectations: KeyedCalls["expectations"]
  /** Whether the storage could be written to at the last look, and the monitor is not closing. */
  readonly isReady: () => Promise<boolean>
}

const unauthorized = (message: string) =>
  Effect.suspend(() => Effect.fail(new TocsinError("unauthorized", message)))
const notWellFormed = unauthorized("an agent key is 1 to 512 visible ASCII characters")
const ofOperators = unauthorized("this is an operators' token; give the agent its own key")

/** Arguments behind those of a call. */
type Further = ReadonlyArray<unknown>

type Send<A, E> = (sender: Sender, body: unknown) => Effect.Effect<A, E | ValidationError>

const decodePath = SchemaParser.decodeUnknownResult(AgentPathParameters)

const readAgentId = (agentId: unknown): Result.Result<AgentId, ValidationError> =>
  Result.mapBoth(decodePath({ agent_id: String(agentId) }), {
    onSuccess: ({ agent_id }) => agent_id,
    onFailure: (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
  })

/** The refusal of what follows the arguments of a call: in plain JavaScript, a misspelt option would be ignored. */
export const refusalOf = (
  further: Further,
  known: ReadonlyArray<string> = [],
): TocsinError<"validation"> | undefined => {
  const problems = unknownArguments(further, known)
  return problems.length === 0 ? undefined : new TocsinError("validation", problems.join("\n"))
}

export const refuseFurther = (further: Further, known?: ReadonlyArray<string>) => {
  const refusal = refusalOf(further, known)
  return refusal === undefined ? Effect.void : Effect.fail(refusal)
}

/** {@link AgentCalls} on running use cases. */
export const agentCalls = (
  calls: Calls,
  services: Context.Context<Ingest | Readiness>,
  roleOf: RoleOf<string>,
): AgentCalls => {
  const ingest = Context.get(services, Ingest)
  const { heartbeat, events } = callsOf(ingest)
  const keyOf = (key: unknown) => {
    if (typeof key !== "string") return notWellFormed
    const redacted = Redacted.make(key)
    if (!isWellFormed(redacted)) return notWellFormed
    return roleOf(redacted) === undefined ? Effect.succeed(redacted) : ofOperators
  }
  const reply = <A, E extends CallError>(
    send: Send<A, E>,
    text: string,
    body: object,
    further: Further,
    options?: HeartbeatOptions,
  ) =>
    calls.reply(
      Effect.andThen(
        refuseFurther(further, options === undefined ? [] : ["address"]),
        Effect.flatMap(keyOf(text), (key) => {
          const sender: Sender = { key, address: options?.address }
          // Most bodies fit as they are, and are not converted.
          return Effect.catchTag(send(sender, body), "ValidationError", () => send(sender, asJson(body)))
        }),
      ),
    )
  const about =
    <A, E extends CallError>(agentId: string, call: (agentId: AgentId) => Send<A, E>): Send<A, E> =>
    (sender, body) =>
      Effect.flatMap(Effect.fromResult(readAgentId(agentId)), (id) => call(id)(sender, body))
  return {
    heartbeat: (key, request, options?: HeartbeatOptions, ...others: Further) =>
      reply(heartbeat, key, request, [options, ...others], options),
    events: (key, batch, ...further: Further) => reply(events, key, batch, further),
    expectations: (key, agentId, declaration, ...further: Further) =>
      reply(about(agentId, expectationsCall(ingest)), key, declaration, further),
    enrol: (key, agentId, request, ...further: Further) =>
      reply(about(agentId, enrolCall(ingest)), key, request, further),
    isReady: async () => {
      const outcome = await calls.reply(Context.get(services, Readiness).isReady).outcome()
      return outcome.ok && outcome.value
    },
  }
}
