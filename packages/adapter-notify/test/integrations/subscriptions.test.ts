import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Subscriptions } from "@tocsin/core/features/integrations/Subscriptions"
import { Effect } from "effect"
import { layer } from "../../src/integrations/subscriptions.ts"

/** A server that answers with a status, and the requests that it got. */
const answering = (status: number) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly address: string
      readonly asked: ReadonlyArray<string>
      readonly close: () => void
    }>((resume) => {
      const asked: Array<string> = []
      const server = createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`)
        response.writeHead(status, { location: "/elsewhere" }).end("x")
      })
      server.listen(0, "127.0.0.1", () => {
        // A server that listens on a port has such an address.
        const { port } = server.address() as AddressInfo
        resume(
          Effect.succeed({
            address: `http://127.0.0.1:${port}/?Token=a`,
            asked,
            close: () => server.close(),
          }),
        )
      })
    }),
    ({ close }) => Effect.sync(close),
  )

const confirm = (address: string, denyPrivateTargets = false) =>
  Effect.provide(
    Subscriptions.use((subscriptions) => subscriptions?.confirm(address) ?? Effect.succeed("absent")),
    layer({ denyPrivateTargets }),
  )

describe("the address of a subscription", () => {
  it.live.each([
    [200, undefined],
    [403, "It answered 403."],
    // Where it leads is not followed.
    [302, "It answered 302."],
  ] as const)("that answers %i is opened once", ([status, problem]) =>
    Effect.gen(function* () {
      const { address, asked } = yield* answering(status)
      assert.strictEqual(yield* confirm(address), problem)
      assert.deepStrictEqual(asked, ["GET /?Token=a"])
    }),
  )

  it.live("is not opened where no notifier may connect, and says so", () =>
    Effect.gen(function* () {
      const { address, asked } = yield* answering(200)
      assert.match((yield* confirm(address, true)) ?? "", /^It must not be a link-local/)
      assert.match((yield* confirm("https://169.254.169.254/")) ?? "", /^It must not be a link-local/)
      assert.deepStrictEqual(asked, [])
    }),
  )
})
