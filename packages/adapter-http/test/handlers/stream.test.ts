import { request } from "node:http"
import { setImmediate as turn } from "node:timers/promises"
import { assert, it } from "@effect/vitest"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { TopicFeed } from "@tocsin/core/heart/usecases/TopicFeed"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as HttpServer from "../../src/HttpServer.ts"
import { port, stubServices } from "../TestServer.ts"
import { orderColumns } from "@tocsin/core/lists/ListDefinitions"

const gone = new StorageError({ reason: "unavailable", message: "gone" })

it.effect(
  "a stream lasts while the storage cannot say whether its token is valid, and ends when it is not",
  () =>
    Effect.gen(function* () {
      let answer: "ann" | "gone" | "nobody" = "ann"
      let asked = 0
      const authenticate = () =>
        Effect.suspend(() => {
          asked += 1
          if (answer === "gone") return Effect.fail(gone)
          const ann = { name: OperatorName.make("ann"), role: "read", expires_at: undefined } as const
          return Effect.succeed(answer === "ann" ? ann : undefined)
        })
      const feed = yield* Layer.build(
        TopicFeed.layer.pipe(
          Layer.provide(PolicyInForce.layer),
          Layer.provide(Layer.mock(Storage, { orderOf: orderColumns, remoteChanges: Stream.empty })),
          Layer.provide(Layer.mock(Commits, { listen: () => Effect.void })),
        ),
      )
      const options = { host: "127.0.0.1", port: 0, operatorTokens: [Redacted.make("another")] }
      const stubs = stubServices({ operators: { authenticate }, feed: Context.get(feed, TopicFeed) })
      const server = HttpServer.layerWithOperations(options).pipe(Layer.provide(stubs))
      yield* Effect.gen(function* () {
        let [text, isEnded] = ["", false]
        const headers = { authorization: `Bearer tocsin_${"a".repeat(43)}` }
        const outgoing = request({ port: yield* port, path: "/ops/v1/stream", headers, agent: false })
        yield* Effect.addFinalizer(() => Effect.sync(() => outgoing.destroy()))
        outgoing.on("response", (incoming) => {
          incoming.setEncoding("utf8").on("data", (part: string) => (text += part))
          incoming.on("close", () => (isEnded = true))
        })
        outgoing.on("error", () => {}).end()
        const passUntil = Effect.fnUntraced(function* (holds: () => boolean) {
          while (!holds())
            yield* Effect.andThen(
              TestClock.adjust("1 second"),
              Effect.promise(() => turn()),
            )
        })
        yield* passUntil(() => text !== "")
        answer = "gone"
        const [before, comments] = [asked, () => text.split("still here").length - 1]
        yield* passUntil(() => isEnded || (asked > before + 1 && comments() > 1))
        assert.isFalse(isEnded)
        answer = "nobody"
        yield* passUntil(() => isEnded)
      }).pipe(Effect.scoped, Effect.provide(server))
    }),
)
