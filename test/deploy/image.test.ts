import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Scope } from "effect"
import { faultsOfAdmission } from "../console/Console.ts"
import { call, OPERATOR_TOKEN, operate, statusOf } from "../processes/api.ts"
import { JSON_STORE } from "../processes/jsonStore.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { until } from "../processes/until.ts"
import { assembleImage } from "./assembleImage.ts"
import { startContainer, whyNotIsolated } from "./Container.ts"
import { readImage } from "./readImage.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const unsupported = process.platform === "linux" ? undefined : "the image is one of Linux"
const notIsolated = whyNotIsolated()
const image = readImage()

/** The contract's: service managers kill after ten seconds. */
const TIME_TO_STOP_MILLIS = 10_000
const PATIENCE_MILLIS = 600_000

const scope = Effect.runSync(Scope.make())
let root: string
let data: string
let secrets: Readonly<Record<string, string>>

const PAGER = `import { appendFileSync } from "node:fs"
export default { notifiers: [{ name: "pager", send: () => {}, test: () => appendFileSync("/data/tests.log", "tested\\n") }] }
`

const heartbeat = (agent_id: string) => ({
  agent_id,
  observed_at: new Date().toISOString(),
  hostname: `${agent_id}.example`,
  features: { push: true, metrics: false },
})

const start = Effect.suspend(() => startContainer(image, { root, data }, secrets))

describe.skipIf(unsupported !== undefined)(
  `the content of the image${skippedFor(unsupported)}`,
  { timeout: PATIENCE_MILLIS },
  () => {
    beforeAll(async () => {
      const folder = await Effect.runPromise(Scope.provide(scratchFolder, scope))
      root = join(folder, "root")
      assembleImage(image, root, folder)
      // A new volume, owned like the image's folder, as container engines create it.
      data = join(root, "data")
      const file = join(root, "data", "token")
      writeFileSync(file, `${OPERATOR_TOKEN}\n`)
      chmodSync(file, 0o444)
      secrets = { SERVICE_AUTH_TOKEN_FILE: notIsolated === undefined ? "/data/token" : file }
      return () => Effect.runPromise(Scope.close(scope, Exit.void))
    }, PATIENCE_MILLIS)

    it("contains Node.js, its libraries and the program, with their licenses", () => {
      for (const file of [
        "usr/local/bin/node",
        "usr/local/bin/tocsin",
        "tocsin/tocsin.mjs",
        "tocsin/server.mjs",
        "tocsin/health.mjs",
      ]) {
        assert.isTrue(existsSync(join(root, file)), file)
      }
      assert.match(
        readFileSync(join(root, "tocsin/LICENSES.txt"), "utf8"),
        /MIT License\n\nCopyright \(c\) 2026 Tocsin contributors/,
      )
      for (const absent of ["bin/sh", "usr/bin/env", "usr/local/bin/npm"])
        assert.isFalse(existsSync(join(root, absent)), absent)
    })

    it.live("answers, is healthy unless nothing answers, stops in time with code 0, and keeps its data", () =>
      Effect.gen(function* () {
        const first = yield* start
        yield* until(
          "it is ready",
          Effect.map(statusOf(first, "/api/v1/ready"), (status) => status === 200),
        )
        const { status } = yield* call(first, "POST", "/api/v1/heartbeat", {
          token: "key-of-web-1",
          json: heartbeat("web-1"),
        })
        assert.strictEqual(status, 202)
        // Parts of the program that are loaded on request.
        for (const path of ["/docs", "/openapi.json", "/metrics"]) yield* operate(first, "GET", path)
        assert.deepStrictEqual(yield* Effect.promise(() => faultsOfAdmission(first.baseUrl)), [])
        assert.deepStrictEqual(yield* first.exec(image.healthCheck), { code: 0, output: "" })
        const [node = "", script = ""] = image.healthCheck
        const elsewhere = `process.env.SERVICE_PORT = "1"; await import(${JSON.stringify(notIsolated === undefined ? script : join(root, script))})`
        const ill = yield* first.exec([node, "--input-type=module", "--eval", elsewhere])
        assert.deepStrictEqual([ill.code, /ECONNREFUSED/.test(ill.output)], [1, true], ill.output)
        const stopped = yield* first.stop
        assert.strictEqual(stopped.code, 0)
        assert.isBelow(stopped.millis, TIME_TO_STOP_MILLIS)

        const second = yield* start
        const { text } = yield* operate(second, "GET", "/api/v1/agents/web-1")
        assert.include(text, "web-1.example")
        assert.strictEqual((yield* second.stop).code, 0)
      }),
    )

    it.live.skipIf(notIsolated !== undefined)(
      `runs as process 1 without privileges, writes only to its volume, and includes the command line${skippedFor(notIsolated)}`,
      () =>
        Effect.gen(function* () {
          const container = yield* start
          const status = readFileSync(`/proc/${container.pid}/status`, "utf8")
          const [uid] = image.user.split(":")
          assert.match(status, /^NSpid:\t\d+\t1$/m)
          assert.match(status, new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, "m"))
          assert.match(status, /^CapEff:\t0+$/m)
          assert.match(status, /^NoNewPrivs:\t1$/m)
          const write = (path: string) =>
            container.exec(["node", "--eval", `fs.writeFileSync(${JSON.stringify(path)}, "")`])
          assert.match((yield* write("/tmp/file")).output, /EROFS/)
          assert.strictEqual((yield* write("/data/file")).code, 0)
          const listed = yield* container.exec(["tocsin", "agents", "list", "--json"])
          assert.strictEqual(listed.code, 0, listed.output)
          assert.include(listed.output, `"items":`)
        }),
    )

    it.live.skipIf(notIsolated !== undefined)(
      `shows a generated token as the page on containers reads it${skippedFor(notIsolated)}`,
      () =>
        Effect.gen(function* () {
          const container = yield* startContainer(image, { root, data }, {})
          const page = readFileSync("docs/install/container.md", "utf8")
          const [, program = ""] = /docker exec tocsin node -p '([^']+)'/.exec(page) ?? []
          const { code, output } = yield* container.exec(["node", "-p", program])
          assert.strictEqual(code, 0, output)
          assert.match(output, /^[\w-]{32}\n$/)
          yield* container.stop
        }),
    )

    it.live.skipIf(notIsolated !== undefined)(
      `loads a notifier and a storage from a folder of root's${skippedFor(notIsolated)}`,
      () =>
        Effect.gen(function* () {
          mkdirSync(join(root, "extensions"))
          writeFileSync(join(root, "extensions/pager.mjs"), PAGER)
          writeFileSync(join(root, "extensions/store.mjs"), JSON_STORE.replaceAll(`"store.`, `"/data/store.`))
          const withPager = { ...secrets, SERVICE_EXTENSIONS: "/extensions/pager.mjs" }
          const notifying = yield* startContainer(image, { root, data }, withPager)
          const examined = yield* notifying.exec(["tocsin", "doctor", "--send-test"])
          assert.include(examined.output, "the notifier of /extensions/pager.mjs accepted the test message")
          assert.strictEqual(readFileSync(join(data, "tests.log"), "utf8"), "tested\n")
          yield* notifying.stop

          const withBoth = { ...secrets, SERVICE_EXTENSIONS: "/extensions/pager.mjs,/extensions/store.mjs" }
          const storing = yield* startContainer(image, { root, data }, withBoth)
          const token = "key-of-web-2"
          const { status } = yield* call(storing, "POST", "/api/v1/heartbeat", {
            token,
            json: heartbeat("web-2"),
          })
          assert.strictEqual(status, 202)
          const beside = yield* storing.exec(["tocsin", "agents", "list"])
          assert.include(beside.output, " of /extensions/store.mjs cannot be opened: ")
          assert.strictEqual((yield* storing.stop).code, 0)
          const again = yield* startContainer(image, { root, data }, withBoth)
          const { text } = yield* operate(again, "GET", "/api/v1/agents")
          assert.deepStrictEqual([text.includes("web-2"), text.includes("web-1")], [true, false])
          yield* again.stop
        }),
    )

    it.live.skipIf(notIsolated !== undefined)(
      `reports a secret that its user cannot read${skippedFor(notIsolated)}`,
      () =>
        Effect.gen(function* () {
          writeFileSync(join(data, "closed"), OPERATOR_TOKEN, { mode: 0o400 })
          const settings = { SERVICE_AUTH_TOKEN_FILE: "/data/closed" }
          const started = yield* Effect.exit(startContainer(image, { root, data }, settings))
          assert(Exit.isFailure(started))
          assert.include(
            Cause.pretty(started.cause),
            "SERVICE_AUTH_TOKEN_FILE names a file that Tocsin's user cannot read",
          )
        }),
    )
  },
)
