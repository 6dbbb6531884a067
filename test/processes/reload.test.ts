import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { faultyNetwork } from "../postgres/faultyNetwork.ts"
import { call } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { secretOf, webhookSecretOf } from "./secrecy.ts"
import { launch, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

/** Notes the path of every request. */
const receiver = Effect.acquireRelease(
  Effect.callback<{ readonly origin: string; readonly paths: Array<string>; readonly close: () => void }>(
    (resume) => {
      const paths: Array<string> = []
      const server = createServer(({ url = "" }, response) => {
        paths.push(url)
        response.writeHead(204).end()
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => void server.close()
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, paths, close }))
      })
    },
  ),
  ({ close }) => Effect.sync(close),
)

describe("on SIGHUP", () => {
  it.live("tokens and secrets are read again from their files, and all stay if one is bad", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const { origin, paths } = yield* receiver
      const write = (name: string, text: string) => writeFileSync(join(cwd, name), `${text}\n`)
      const rotate = (generation: string) => {
        for (const name of ["operator", "reader", "metrics"]) write(name, secretOf(`${generation}-${name}`))
        write("url", `${origin}/${generation}`)
        write("heartbeat", `${origin}/heartbeat-${generation}`)
        write("secret", webhookSecretOf(generation))
      }
      rotate("a")
      const server = yield* startServer({
        cwd,
        environment: {
          DATABASE_URL: "memory:",
          SERVICE_AUTH_TOKEN_FILE: join(cwd, "operator"),
          SERVICE_READ_TOKEN_FILE: join(cwd, "reader"),
          SERVICE_METRICS_TOKEN_FILE: join(cwd, "metrics"),
          SERVICE_WEBHOOK_URL_FILE: join(cwd, "url"),
          SERVICE_WEBHOOK_SECRET_FILE: join(cwd, "secret"),
          SERVICE_WATCHDOG_URL_FILE: join(cwd, "heartbeat"),
        },
      })
      const statusesOf = Effect.fnUntraced(function* (generation: string) {
        const status = (method: string, path: string, name: string) =>
          Effect.map(
            Effect.orDie(call(server, method, path, { token: secretOf(`${generation}-${name}`) })),
            (answer) => answer.status,
          )
        return [
          yield* status("POST", "/ops/v1/notifiers/webhook/test", "operator"),
          yield* status("GET", "/api/v1/agents", "reader"),
          yield* status("GET", "/metrics", "metrics"),
        ]
      })
      const isLogged = (text: string) =>
        until(
          text,
          Effect.sync(() => server.output.stderr.includes(text) || undefined),
        )
      assert.deepStrictEqual(yield* statusesOf("a"), [200, 200, 200])
      assert.deepStrictEqual(yield* statusesOf("b"), [401, 401, 401])

      rotate("b")
      yield* server.signal("SIGHUP")
      yield* isLogged("tokens and secrets were read again")
      assert.deepStrictEqual(yield* statusesOf("b"), [200, 200, 200])
      assert.deepStrictEqual(yield* statusesOf("a"), [401, 401, 401])
      assert.deepStrictEqual(
        paths.filter((path) => !path.startsWith("/heartbeat")),
        ["/a", "/b"],
      )

      rotate("c")
      write("secret", "whsec_short")
      yield* server.signal("SIGHUP")
      yield* isLogged(
        '"cannot reload tokens and secrets because a setting is invalid; keeping the current ones","problem":"the file that SERVICE_WEBHOOK_SECRET_FILE names is set to a value that is not shown, but must be',
      )
      assert.notInclude(server.output.stderr, "cannot start")
      assert.deepStrictEqual(yield* statusesOf("b"), [200, 200, 200])
      assert.deepStrictEqual(yield* statusesOf("c"), [401, 401, 401])
    }),
  )

  it.live("a server that starts follows once it listens", () =>
    Effect.gen(function* () {
      const { url } = yield* scratchPostgres
      const network = yield* faultyNetwork(url)
      yield* network.holdReplies
      const environment = {
        DATABASE_URL: Redacted.value(network.url),
        SERVICE_AUTH_TOKEN: secretOf("operator"),
      }
      const server = yield* launch({ cwd: yield* scratchFolder, environment })
      yield* until(
        "the start waits for PostgreSQL",
        Effect.map(network.connections, (count) => count > 0),
      )
      yield* server.signal("SIGHUP")
      yield* network.passReplies
      yield* Effect.raceFirst(
        until(
          "it listens, and has read its files again",
          Effect.sync(() => /Tocsin listens on .*were read again/s.test(server.output.stderr)),
        ),
        Effect.flatMap(server.ended, (end) => Effect.die(new Error(`it ended: ${JSON.stringify(end)}`))),
      )
    }),
  )

  it.live("the metrics open and close with the file of their token", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const file = join(cwd, "metrics")
      writeFileSync(file, "open")
      const environment = { DATABASE_URL: "memory:", SERVICE_METRICS_TOKEN_FILE: file }
      const server = yield* startServer({ cwd, environment })
      const statuses = Effect.forEach([{}, { token: secretOf("metrics") }], (made) =>
        Effect.map(call(server, "GET", "/metrics", made), ({ status }) => status),
      )
      assert.deepStrictEqual(yield* statuses, [200, 200])
      for (const { times, text, expected } of [
        { times: 1, text: secretOf("metrics"), expected: [401, 200] },
        { times: 2, text: "open", expected: [200, 200] },
      ]) {
        writeFileSync(file, text)
        yield* server.signal("SIGHUP")
        yield* until(
          "the file is read again",
          Effect.sync(() => server.output.stderr.split("were read again").length > times || undefined),
        )
        assert.deepStrictEqual(yield* statuses, expected)
      }
    }),
  )
})
