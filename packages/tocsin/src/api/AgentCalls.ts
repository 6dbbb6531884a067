import { Readiness } from "@tocsin/adapter-http/Readiness"
import { decodeEventBatchRequest, decodeHeartbeatRequest } from "@tocsin/core/contract/decodeRequest"
import { Ingest } from "@tocsin/core/usecases/Ingest"
import { isWellFormed, type RoleOf } from "@tocsin/core/admission/BearerToken"
import { Effect, Redacted } from "effect"
import type { Reply } from "../Reply.ts"
import { type AnyCallCode, TocsinError } from "../TocsinError.ts"
import type { Calls } from "./Calls.ts"
import { decodeBody } from "./decodeInput.ts"
import type {
  AcceptedResponse,
  EventBatchAcceptedResponse,
  EventBatchRequest,
  HeartbeatRequest,
} from "@tocsin/client/Resources"

/** Whom a heartbeat is counted for. */
export interface HeartbeatOptions {
  /**
   * The client's address: registrations of unknown keys are limited for each (`registrationRate`). Without one they are
   * not limited, only the number of pending agents is.
   */
  readonly address?: string | undefined
}

/** What agents send, taken in process. */
export interface AgentCalls {
  /**
   * Takes a heartbeat of the agent whose key this is: 1 to 512 visible ASCII characters, made and kept by the agent, never
   * stored here. An unknown key registers a pending agent. Durable once it resolves, and safe to repeat.
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
  /**
   * Takes 1 to 200 check results of one agent, all or none. Durable once it resolves, and safe to repeat: results that are
   * known by their `event_id` count as deduplicated.
   */
  readonly events: (
    key: string,
    request: EventBatchRequest,
  ) => Reply<
    EventBatchAcceptedResponse,
    AnyCallCode | "unauthorized" | "validation" | "agent_blocked" | "agent_not_accepted"
  >
  /** Whether the storage can be reached and written to, by the latest look at it, and the monitor is not closing. */
  readonly isReady: () => Promise<boolean>
}

const unauthorized = (message: string) =>
  Effect.suspend(() => Effect.fail(new TocsinError("unauthorized", message)))
const notWellFormed = unauthorized("an agent key is 1 to 512 visible ASCII characters")
const ofOperators = unauthorized("this is an operators' token; an agent uses a key of its own")

/** {@link AgentCalls} on running use cases. */
export const agentCalls = (calls: Calls<Ingest | Readiness>, roleOf: RoleOf<string>): AgentCalls => {
  const agentKey = (key: unknown) => {
    if (typeof key !== "string") return notWellFormed
    const redacted = Redacted.make(key)
    if (!isWellFormed(redacted)) return notWellFormed
    return roleOf(redacted) === undefined ? Effect.succeed(redacted) : ofOperators
  }
  return {
    heartbeat: (key, request, { address } = {}) =>
      calls.reply(
        Effect.gen(function* () {
          const agent = yield* agentKey(key)
          const heartbeat = yield* decodeBody(decodeHeartbeatRequest, request)
          return yield* (yield* Ingest).heartbeat(agent, heartbeat, address)
        }),
      ),
    events: (key, request) =>
      calls.reply(
        Effect.gen(function* () {
          const agent = yield* agentKey(key)
          const batch = yield* decodeBody(decodeEventBatchRequest, request)
          return yield* (yield* Ingest).events(agent, batch)
        }),
      ),
    isReady: async () => {
      const outcome = await calls.reply(Effect.flatMap(Readiness, ({ isReady }) => isReady)).outcome()
      return outcome.ok && outcome.value
    },
  }
}
