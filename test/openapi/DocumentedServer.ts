import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { DeliveryResult, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { AgentDownload } from "@tocsin/core/kernel/ports/AgentDownload"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { HistoryTrial } from "@tocsin/core/features/trial/HistoryTrial"
import { Context, Duration, Effect, Layer, Result } from "effect"
import { storedPolicySource } from "../http/service/storedPolicySource.ts"
import { Tocsin } from "../http/service/Tocsin.ts"
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

/** Everything goes to all of them; the rotas have names that the documents and the pools know. */
const rota = { order: ["debug", "webhook"], every: Duration.days(1), from: "2026-03-01T09:00" } as const
const POLICY: PolicyDocument = {
  pages: {
    example: { title: "Example", groups: [{ title: "Shop", lines: [{ name: "Web shop", match: [] }] }] },
  },
  rotas: { primary: rota, ann: rota },
  routes: [{ to: ["debug", "webhook", "messenger"] }],
}

/** They connect to nothing. */
const watchProbes = Layer.succeed(WatchProbes, {
  check: () => Effect.void,
  open: () => Result.succeed({}),
  run: () =>
    Effect.succeed({ status: "critical", output: "the connection was refused", duration_ms: 1 } as const),
})

const agentDownload = Layer.succeed(AgentDownload, {
  sha256: "0".repeat(64),
  version: "1.2.3",
  files: ["install.sh", "tocsin-agent.tgz"],
})

/** No message would have been sent. */
const historyTrial = Layer.succeed(HistoryTrial, () => {
  const counts = { messages: new Map(), held: [] }
  return Effect.succeed({ inForce: counts, tried: counts, past: { results: 0, from: undefined } })
})

/** A server with known tokens and notifiers, and the ways to call it with any bytes. */
export class DocumentedServer extends Context.Service<
  DocumentedServer,
  {
    readonly call: (sent: Sent) => ReturnType<typeof send>
    /** A request with a token and JSON. */
    readonly ask: (method: string, target: string, token: string, json?: unknown) => ReturnType<typeof send>
  }
>()("@tocsin/test/openapi/DocumentedServer") {
  static readonly layer = (storage: Layer.Layer<Storage>, changes: Partial<RuleOptions> = {}) =>
    Layer.effect(
      DocumentedServer,
      Effect.gen(function* () {
        const { port, connections: agent, clock } = yield* Tocsin
        const call = (sent: Sent) =>
          Effect.suspend(() => {
            clock.advance("10 millis")
            return send(sent, { port, agent })
          })
        return documentedServerOf(call)
      }),
    ).pipe(
      Layer.provide(
        Tocsin.layer(storage, {
          tokens: { uiToken: UI_TOKEN, readToken: READ_TOKEN },
          notifiers,
          // Policies are stored, and name no secrets.
          policySource: storedPolicySource(notifiers),
          secretsKey: "5a".repeat(32),
          // One key reaches its limit soon; nothing else is limited.
          rules: {
            notifiers: ["debug", "webhook", "messenger"],
            policy: POLICY,
            heartbeatRate: { perMinute: 60, burst: 12 },
            ...changes,
          },
        }).pipe(Layer.provide(Layer.mergeAll(watchProbes, historyTrial, agentDownload))),
      ),
    )
}

/** A server that is called in this way. */
export const documentedServerOf = (call: DocumentedServer["Service"]["call"]): DocumentedServer["Service"] =>
  DocumentedServer.of({
    call,
    ask: (method, target, token, json) =>
      call({
        method,
        target,
        headers: { authorization: `Bearer ${token}` },
        body: json === undefined ? undefined : JSON.stringify(json),
      }),
  })
