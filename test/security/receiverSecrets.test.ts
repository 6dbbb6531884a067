import { createServer } from "node:http"
import { inspect } from "node:util"
import { assert, describe, it, vi } from "@effect/vitest"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { policyReceivers } from "@tocsin/adapter-notify/policyReceivers"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { receiverTypes, typesOf, untypedKeys } from "@tocsin/contract/receivers/ReceiverTypes"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Layer, Result } from "effect"
import { call, operate } from "../http/client/call.ts"
import { itemsOf } from "../http/client/itemsOf.ts"
import { acceptedAgent, event, push } from "../http/client/TestAgent.ts"
import { newToken } from "../http/service/Observatory.ts"
import { Tocsin } from "../http/service/Tocsin.ts"

/** Values of the keys that are no secrets. */
const PLAIN: Readonly<Record<string, unknown>> = {
  from: "tocsin@example.org",
  to: ["ops@example.org"],
  cc: ["lead@example.org"],
  tls: "off",
  hello: "tocsin.example.org",
  user: "bot@example.org",
  stream: "ops",
  topic: "alerts",
  room: "!a:example.org",
  tag: "ops",
  call: "yes",
  emergency: true,
  reports: "monthly",
  account: "AC1",
  language: "en-GB",
}
const OF_PHONES = { from: "+4915112345678", to: "+4915112345679", user: "SK1" }
/** Those that have another form in some types. */
const PLAIN_OF: Readonly<Record<string, typeof PLAIN>> = {
  call: OF_PHONES,
  sms: OF_PHONES,
  signal: OF_PHONES,
}

/** All receivers with secrets, each with every key that it takes; not Telegram, whose address no policy changes. */
const receivers = () => {
  // Those of browsers are no part of the policy.
  const withSecrets = [...typesOf("messenger"), ...typesOf("alert_router")].filter(
    (type) => type !== "browser",
  )
  const keys = [
    ...withSecrets.map((type) => {
      const { kind, needs, takes } = receiverTypes[type]
      return {
        name: type as string,
        definition: { kind, type },
        keys: [...needs, ...takes] as ReadonlyArray<string>,
      }
    }),
    { name: "slack", definition: { kind: "messenger" }, keys: ["url_"] },
    { name: "alertmanager", definition: { kind: "alert_router" }, keys: untypedKeys.alert_router },
    { name: "hook", definition: { kind: "webhook" }, keys: ["url_", "secret_"] },
  ]
  return keys
}

/** A server that repeats all that it gets, with one status after the other. */
const echo = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void; readonly count: () => number }>(
    (resume) => {
      let count = 0
      const statuses = [400, 503, 429, 200]
      const server = createServer((request, response) => {
        const parts: Array<Buffer> = []
        request.on("data", (part: Buffer) => parts.push(part))
        request.on("end", () => {
          const status = statuses[count++ % statuses.length] ?? 200
          if (count % 5 === 0) return void request.socket.destroy()
          response.writeHead(status, { "x-echo": request.url ?? "" })
          response.end(JSON.stringify([request.url, request.headers, Buffer.concat(parts).toString()]))
        })
      }).listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ port, close, count: () => count }))
      })
    },
  ),
  ({ close }) => Effect.sync(close),
)

const secretOf = (key: string, name: string, port: number): string => {
  const mark = newToken({ length: 32 })
  if (key === "secret_") return `whsec_${Buffer.from(mark).toString("base64")}`
  if (key !== "url_") return mark
  return name === "email"
    ? `smtp://${mark}:${mark}@127.0.0.1:${port}`
    : `http://${mark}:${mark}@127.0.0.1:${port}/${mark}`
}

describe("the secrets of receivers", () => {
  it.live("of every type are in no log, span, row and answer, whatever their services answer", () =>
    Effect.gen(function* () {
      const { count, port } = yield* echo
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllEnvs()))
      const given = receivers().map(({ definition, keys, name }) => {
        const values = keys.map((key) => {
          if (!key.endsWith("_"))
            return [key, PLAIN_OF[name]?.[key] ?? PLAIN[key] ?? assert.fail(`${key} has no value`)]
          const variable = `SECRET_${name}_${key}`
          vi.stubEnv(variable, secretOf(key, name, port))
          return [`${key}env`, variable]
        })
        return [name, { ...definition, ...Object.fromEntries(values) }] as const
      })
      const document = Result.getOrThrow(readPolicy({ receivers: Object.fromEntries(given) }, []))
      const posting = {
        denyPrivateTargets: false,
        timeout: Duration.seconds(2),
        mailTimeout: Duration.millis(300),
      }
      const defined: Readonly<Record<string, Receiver>> = document.receivers ?? {}
      const { made, problems } = yield* Effect.provide(policyReceivers(defined, posting), RandomIds.layer)
      assert.deepStrictEqual(problems, [])
      assert.strictEqual(made.size, given.length)
      const all = Effect.gen(function* () {
        const { observatory } = yield* Tocsin
        observatory.note("log", inspect([made, document], { depth: 12 }))
        yield* push(yield* acceptedAgent(), event({ status: "critical", exit_code: 2 }))
        for (;;) {
          const items = yield* itemsOf("/ops/v1/outbox")
          const tried = items.filter(({ state }) => state !== "pending" && state !== "sending")
          if (tried.length === given.length) break
          yield* Effect.sleep("20 millis")
        }
        for (const name of made.keys()) yield* operate("POST", `/ops/v1/notifiers/${name}/test`)
        for (const path of ["policy", "outbox", "audit", "incidents"])
          yield* operate("GET", `/ops/v1/${path}`)
        for (const { id } of yield* itemsOf("/ops/v1/incidents"))
          yield* operate("GET", `/ops/v1/incidents/${id}`)
        yield* call("GET", "/api/v1/notifiers/outbox")
        // All but that of the mail server, which speaks no HTTP.
        assert.isAtLeast(count(), 2 * (given.length - 1))
        assert.isAbove(observatory.sightings.log, 0)
        assert.isAbove(observatory.sightings.span, 0)
        assert.deepStrictEqual(observatory.leaks, [])
      })
      const rules = { policy: document, notifiers: [] }
      yield* Effect.provide(
        all,
        Tocsin.layer(Layer.fresh(MemoryStorage.layer), { notifiers: made, rules, throughApi: true }),
      )
    }),
  )
})
