import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { Answer } from "../client/Answer.ts"
import { call, operate } from "../client/call.ts"
import { type Endpoint, pathOf } from "./endpoints.ts"
import {
  acceptedAgent,
  blockedAgent,
  event,
  heartbeatBody,
  newAgent,
  pendingAgent,
  type TestAgent,
} from "../client/TestAgent.ts"
import type { Tocsin, TocsinOptions } from "../service/Tocsin.ts"

/** How to provoke one of an endpoint's errors. */
export interface Provocation {
  readonly options?: TocsinOptions
  readonly provoke: (endpoint: Endpoint) => Effect.Effect<Answer, never, Tocsin>
}

/** One byte more than the largest body. */
const TOO_LARGE = " ".repeat(1_048_577)

const unavailable = new StorageError({ reason: "unavailable", message: "the database is unreachable" })

const send = (endpoint: Endpoint, agent: TestAgent) => {
  const json = endpoint.path.endsWith("/heartbeat")
    ? heartbeatBody(agent)
    : { agent_id: agent.agent_id, events: [event()] }
  return call(endpoint.method, endpoint.path, { token: agent.key, json })
}

const provocationsOf: Readonly<Record<string, Provocation>> = {
  "400 validation": {
    provoke: ({ method, path }) => call(method, path, { token: newAgent().key, json: {} }),
  },
  "401 unauthorized": { provoke: (endpoint) => call(endpoint.method, pathOf(endpoint)) },
  "403 agent_blocked": {
    provoke: (endpoint) => Effect.flatMap(blockedAgent(), (agent) => send(endpoint, agent)),
  },
  "403 agent_not_accepted": {
    provoke: (endpoint) => Effect.flatMap(pendingAgent(), (agent) => send(endpoint, agent)),
  },
  "404 not_found": {
    provoke: (endpoint) => operate(endpoint.method, pathOf(endpoint, { agent_id: "nobody" })),
  },
  "409 conflict": {
    provoke: (endpoint) =>
      Effect.flatMap(acceptedAgent(), ({ key }) => send(endpoint, { ...newAgent(), key })),
  },
  "413 payload_too_large": {
    provoke: ({ method, path }) => call(method, path, { token: newAgent().key, body: TOO_LARGE }),
  },
  "429 rate_limited": {
    options: { rules: { heartbeatRate: { perMinute: 1, burst: 1 } } },
    provoke: (endpoint) => Effect.flatMap(pendingAgent(), (agent) => send(endpoint, agent)),
  },
  "500 internal": {
    options: { spoil: (storage) => ({ ...storage, transact: () => Effect.fail(unavailable) }) },
    provoke: (endpoint) => send(endpoint, newAgent()),
  },
  "503 not_ready": {
    options: { spoil: (storage) => ({ ...storage, probe: Effect.fail(unavailable) }) },
    provoke: ({ method, path }) => call(method, path),
  },
}

/** How to provoke an error such as `404 not_found`. */
export const provocationOf = (error: string): Provocation => {
  const provocation = provocationsOf[error]
  if (provocation === undefined) throw new Error(`nothing provokes ${error}`)
  return provocation
}
