import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Schema, type Scope } from "effect"
import { secretOf, webhookSecretOf } from "./secrecy.ts"

/**
 * The reaction to a request: answer, later or never, reset the connection, answer with bytes that
 * are not HTTP, accept it with a body that never ends, or with one of 50 MiB.
 */
export type Reaction =
  | {
      readonly status: number
      readonly afterMillis?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  | "reset"
  | "hang"
  | "nonsense"
  | "drip"
  | "huge"

const Message = Schema.fromJsonString(
  Schema.Struct({
    type: Schema.Literals(["incident.firing", "incident.resolved"]),
    timestamp: Schema.String,
    data: Schema.Struct({
      id: Schema.String,
      severity: Schema.Literals(["warning", "unknown", "critical"]),
      summary: Schema.String,
      incident: Schema.Struct({ id: Schema.String, incident_key: Schema.String }),
    }),
  }),
)

/** A request as it came. */
export interface Arrival {
  /** Of the sender: each may have its own path. */
  readonly sender: string
  /** `webhook-id`. */
  readonly id: string
  readonly message: typeof Message.Type
  /** The fault of its signatures or credentials, if any. */
  readonly fault: string | undefined
  /** How often its id had come before. */
  readonly earlier: number
  /**
   * The status that it was answered with, once it is on its way; absent where the sender got none.
   */
  answered: number | undefined
  /** Whether it is over, one way or another. */
  isOver: boolean
}

/** A receiver of Standard Webhooks on loopback. */
export interface WebhookReceiver {
  /** Every request, in the order in which they came. */
  readonly arrivals: ReadonlyArray<Arrival>
  /** The settings of a server that sends to it, with a secret in every part of the address. */
  readonly settings: (sender: string) => Readonly<Record<string, string>>
  /** Shuts it down: connections are closed and new ones refused. */
  readonly close: Effect.Effect<void>
  /** Is there again, at the same address. */
  readonly open: Effect.Effect<void>
}

const USER = secretOf("user")
const PASSWORD = secretOf("password")
const SECRETS = [webhookSecretOf("webhook-new"), webhookSecretOf("webhook-old")]

/**
 * Verifies as Standard Webhooks describes it: one signature for each secret over
 * `id.timestamp.body`.
 */
const faultOf = ({ headers }: IncomingMessage, body: string): string | undefined => {
  const id = headers["webhook-id"]
  const timestamp = headers["webhook-timestamp"]
  const expected = SECRETS.map((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64")
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
  })
  if (headers["webhook-signature"] !== expected.join(" ")) return "signatures"
  if (Math.abs(Number(timestamp) - Date.now() / 1000) > 60) return "timestamp"
  const credentials = Buffer.from(`${USER}:${PASSWORD}`).toString("base64")
  return headers.authorization === `Basic ${credentials}` ? undefined : "credentials"
}

const HUGE_BYTES = 50 * 1024 * 1024
let huge: Buffer | undefined

/** Accepts a notification, with a body that the sender should not wait for. */
const acceptWithBody = (arrival: Arrival, body: "drip" | "huge", response: ServerResponse): void => {
  arrival.answered = 200
  response.writeHead(200)
  if (body === "huge") return void response.end((huge ??= Buffer.alloc(HUGE_BYTES, "x")))
  const drip = setInterval(() => response.write("x"), 500)
  response.on("close", () => clearInterval(drip))
}

const react = (arrival: Arrival, reaction: Reaction, response: ServerResponse): void => {
  response.on("close", () => (arrival.isOver = true))
  if (reaction === "hang") return
  if (reaction === "reset") return void response.socket?.resetAndDestroy()
  if (reaction === "nonsense") return void response.socket?.end("\0nonsense\r\n\r\n")
  if (reaction === "drip" || reaction === "huge") return acceptWithBody(arrival, reaction, response)
  const answer = () => {
    if (response.destroyed) return
    arrival.answered = reaction.status
    response.writeHead(reaction.status, reaction.headers).end()
  }
  if (reaction.afterMillis === undefined) answer()
  else setTimeout(answer, reaction.afterMillis)
}

const listen = (server: Server, port: number): Effect.Effect<number> =>
  Effect.callback((resume) => {
    // A server that listens on TCP has such an address.
    server.listen(port, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })

const closed = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Starts a receiver that reacts to each request by `reactionTo`, until the scope ends. */
export const startReceiver = Effect.fnUntraced(function* (
  reactionTo: (arrival: Arrival) => Reaction,
): Effect.fn.Return<WebhookReceiver, never, Scope.Scope> {
  const arrivals: Array<Arrival> = []
  const decode = Schema.decodeUnknownSync(Message)
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (part: string) => (body += part))
    request.on("error", () => {})
    request.on("end", () => {
      const id = String(request.headers["webhook-id"])
      const arrival: Arrival = {
        sender: request.url?.split("/")[1] ?? "",
        id,
        message: decode(body),
        fault: faultOf(request, body),
        earlier: arrivals.filter((other) => other.id === id).length,
        answered: undefined,
        isOver: false,
      }
      arrivals.push(arrival)
      react(arrival, reactionTo(arrival), response)
    })
  }
  const server = createServer(receive)
  const port = yield* Effect.acquireRelease(listen(server, 0), () => closed(server))
  return {
    arrivals,
    settings: (sender) => ({
      SERVICE_WEBHOOK_URL: `http://${USER}:${PASSWORD}@127.0.0.1:${port}/${sender}/${secretOf("path")}?token=${secretOf("query")}`,
      SERVICE_WEBHOOK_SECRET: SECRETS.join(" "),
    }),
    close: closed(server),
    open: Effect.asVoid(listen(server, port)),
  }
})
