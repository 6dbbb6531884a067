import { Agent } from "node:http"
import { requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { Effect } from "effect"
import { Judge, DOCUMENTS } from "../openapi/Judge.ts"
import { KEYS } from "../openapi/populatePools.ts"
import { send } from "../openapi/send.ts"
import { READ_TOKEN, DocumentedServer, documentedServerOf, UI_TOKEN } from "../openapi/DocumentedServer.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { exchange } from "./exchange.ts"
import { PROBE } from "./faultsOf.ts"
import { placeholderOf, SENDER_OPTIONS } from "./senders.ts"

/** An agent that no input names. */
const STEADY = { agent_id: "steady", key: "the-key-of-the-steady-one" }

const heartbeat = (agent_id: string) => ({
  agent_id,
  observed_at: "2026-03-01T12:00:00Z",
  hostname: `${agent_id}.example.org`,
  features: { push: true, metrics: false },
})

/** The server, as a process in memory, with agents in each state of admission. */
export interface Target {
  readonly server: ServerProcess
  readonly judges: ReadonlyArray<Judge>
  /** The keys of its integrations, by their placeholders. */
  readonly keys: ReadonlyMap<string, string>
  /** Whether a good request on a connection of its own is answered as usual. */
  readonly isSound: () => Promise<boolean>
}

const documentedServerAt = ({ port }: ServerProcess) => {
  const agent = new Agent({ keepAlive: false })
  return documentedServerOf((sent) => send(sent, { port, agent }))
}

/** A heartbeat that the front takes. */
const steadyHeartbeat = (): string => {
  const body = JSON.stringify(heartbeat(STEADY.agent_id))
  return (
    `POST /api/v1/heartbeat HTTP/1.1\r\nHost: fuzz\r\nAuthorization: Bearer ${STEADY.key}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  )
}

const populatePools = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const beat = (key: string, id: string) => ask("POST", "/api/v1/heartbeat", key, heartbeat(id))
  const operate = (path: string) => ask("POST", `/api/v1/agents/${path}`, UI_TOKEN)
  yield* beat(KEYS.accepted, "web")
  yield* beat(KEYS.rotating, "db")
  yield* beat(KEYS.blocked, "stranger")
  yield* beat(STEADY.key, STEADY.agent_id)
  yield* operate("admission/accept-all")
  yield* operate("stranger/block")
  yield* beat(KEYS.replacement, "db")
  yield* beat(KEYS.pending, "guest")
})

/** An integration of every kind. */
const integrate = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const keys = new Map<string, string>()
  for (const kind of requestKindNames) {
    const given = { name: `${kind}-sender`, kind, options: SENDER_OPTIONS[kind] }
    const { text } = yield* ask("POST", "/ops/v1/integrations", UI_TOKEN, given)
    keys.set(placeholderOf(kind), String(JSON.parse(text).key))
  }
  return keys
})

const PATIENCE = { beforeMillis: 10_000, afterMillis: 10_000 }

/** Starts a server of which every request may be sent: none of its settings limits how often. */
export const startTarget = Effect.gen(function* () {
  const server = yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      DATABASE_URL: "memory:",
      SERVICE_AUTH_TOKEN: UI_TOKEN,
      SERVICE_READ_TOKEN: READ_TOKEN,
      SERVICE_TRUST_PROXY: "1",
      SERVICE_HEARTBEAT_RATE: "1000000/1000000",
      SERVICE_REGISTRATION_RATE: "1000000/1000000",
      SERVICE_MAX_PENDING_AGENTS: "1000000",
      SERVICE_INTEGRATION_RATE: "0",
      SERVICE_INTEGRATION_CHECK_RATE: "0",
      SERVICE_LOG_FORMAT: "json",
      SERVICE_LOG_LEVEL: "debug",
    },
  })
  const documented = documentedServerAt(server)
  yield* Effect.provideService(populatePools, DocumentedServer, documented)
  const keys = yield* Effect.provideService(integrate, DocumentedServer, documented)
  const judges = yield* Effect.forEach(Object.values(DOCUMENTS), (target) =>
    Effect.provideService(Judge.of(target), DocumentedServer, documented),
  )
  const isSound = async (): Promise<boolean> => {
    const { text } = await exchange(server.port, [steadyHeartbeat() + PROBE], PATIENCE)
    return text.startsWith("HTTP/1.1 202 ")
  }
  const target: Target = { server, judges, keys, isSound }
  return target
})
