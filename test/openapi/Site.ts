import { Agent } from "node:http"
import * as HttpServer from "@tocsin/adapter-http/HttpServer"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { type DeliveryResult, type Notifier, Notifiers } from "@tocsin/core/ports/Notifiers"
import type { PolicyOptions } from "@tocsin/core/ports/Policy"
import type { Storage } from "@tocsin/core/ports/Storage"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { HttpServer as BoundServer } from "effect/http"
import { Tocsin } from "tocsin/effect"
import { send, type Sent } from "./send.ts"

export const UI_TOKEN = "the-operators-token"
export const READ_TOKEN = "a-token-to-read-with"

const notifier = (kind: NotifierName, result: DeliveryResult): readonly [NotifierName, Notifier] => [
  kind,
  { kind, send: () => Effect.succeed(result), test: Effect.succeed({ result, status: undefined }) },
]

/**
 * One accepts everything, one refuses everything, and one is down. `alert_router` is not
 * configured.
 */
const notifiers = new Map([
  notifier("debug", { outcome: "delivered" }),
  notifier("webhook", { outcome: "refused", error: "the receiver answered 410" }),
  notifier("messenger", { outcome: "deferred", error: "the receiver cannot be reached" }),
])

/** A whole service on a storage, with its background, on a port of this machine. */
export class Site extends Context.Service<
  Site,
  {
    readonly call: (sent: Sent) => ReturnType<typeof send>
    /** A request with a token and JSON. */
    readonly ask: (method: string, target: string, token: string, json?: unknown) => ReturnType<typeof send>
  }
>()("@tocsin/test/openapi/Site") {
  static readonly layer = (storage: Layer.Layer<Storage>, changes: Partial<PolicyOptions> = {}) =>
    Layer.effect(
      Site,
      Effect.gen(function* () {
        const services = Tocsin.services({
          storage,
          notifiers: Layer.succeed(Notifiers, notifiers),
          // One key is limited soon, and nothing else is.
          policy: {
            heartbeatRate: { perMinute: 60, burst: 12 },
            registrationRate: { perMinute: 0, burst: 0 },
            unknownKeyVolume: { perMinute: 0, burst: 0 },
            failedAuthenticationRate: { perMinute: 0, burst: 0 },
            ...changes,
          },
        })
        const server = HttpServer.layerWithOperations({
          host: "127.0.0.1",
          port: 0,
          uiTokens: [Redacted.make(UI_TOKEN)],
          readTokens: [Redacted.make(READ_TOKEN)],
        })
        const service = Layer.merge(server, Tocsin.background).pipe(
          Layer.provide(services),
          Layer.provide(Logger.layer([])),
        )
        const { address } = Context.get(yield* Layer.build(service), BoundServer.HttpServer)
        const agent = yield* Effect.acquireRelease(
          Effect.sync(() => new Agent({ keepAlive: true })),
          (open) => Effect.sync(() => open.destroy()),
        )
        const port = "port" in address ? address.port : 0
        const call = (sent: Sent) => send(sent, { port, agent })
        return Site.of({
          call,
          ask: (method, target, token, json) =>
            call({
              method,
              target,
              headers: { authorization: `Bearer ${token}` },
              body: json === undefined ? undefined : JSON.stringify(json),
            }),
        })
      }),
    )
}
