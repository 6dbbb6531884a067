import { hash } from "node:crypto"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { HealthExamination } from "@tocsin/core/heart/health/HealthExamination"
import { Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as ApiServer from "../../../src/HttpServer.ts"
import { type DownloadFiles, makeDownloadFiles } from "../../../src/features/enrolment/DownloadFiles.ts"
import {
  FileChanged,
  type DownloadedFile,
  PIECE_BYTES,
} from "../../../src/features/enrolment/DownloadedFile.ts"
import { port, stubServices } from "../../TestServer.ts"
import { errorOf, exchange, send } from "../../http.ts"
import { until } from "../../until.ts"

const TARBALL = "t".repeat(3 * PIECE_BYTES + 1)
const AGENT = {
  version: "1.2.3",
  installer: "#!/bin/sh\nsums='\n@CHECKSUMS@\n'\n",
  tarball: Buffer.from(TARBALL).toString("base64"),
}
const SCRIPT = `#!/bin/sh\nsums='\n${hash("sha256", TARBALL)}  tocsin-agent.tgz\n'\n`

/** Runs a test against a server that hands these files out, beside its own. */
const served = <A, E>(
  others: ReadonlyArray<DownloadedFile>,
  test: (
    handout: DownloadFiles,
  ) => Effect.Effect<A, E, Layer.Success<ReturnType<typeof ApiServer.layerWithPages>> | Scope.Scope>,
) =>
  Effect.gen(function* () {
    const own = yield* makeDownloadFiles(AGENT, undefined)
    const files = new Map([...own.files, ...others.map((file) => [file.name, file] as const)])
    const handout = { ...own, files }
    const server = ApiServer.layerWithPages(
      { host: "127.0.0.1", port: 0, operatorTokens: [], handout },
      { version: "1.2.3", storage: "SQLite" },
    ).pipe(
      Layer.provide([
        stubServices({}),
        Layer.succeed(HealthExamination, { examine: () => Effect.succeed({ state: "well" }) }),
      ]),
    )
    return yield* Effect.provide(test(handout), Layer.fresh(server))
  })

/** A large file that counts its pieces that were read. */
const largeFile = (fails = false) => {
  const counted = { reads: 0, isOpen: 0 }
  const file: DownloadedFile = {
    name: "tocsin-agent-linux-x64",
    sha256: "0".repeat(64),
    bytes: 512 * PIECE_BYTES,
    open: Effect.acquireRelease(
      Effect.sync(() => {
        counted.isOpen += 1
        return () =>
          Effect.suspend(() => {
            counted.reads += 1
            return fails && counted.reads > 2
              ? Effect.fail(new FileChanged())
              : Effect.succeed(new Uint8Array(PIECE_BYTES))
          })
      }),
      () => Effect.sync(() => void (counted.isOpen -= 1)),
    ),
  }
  return { file, counted }
}

/** Begins a download and reads nothing of it. */
const begin = Effect.fnUntraced(function* (path: string) {
  const to = yield* port
  return yield* Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = connect(to, "127.0.0.1", () => {
        socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
        resume(Effect.succeed(socket))
      })
      socket.on("error", () => {})
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  )
})

describe("the agent's files", () => {
  it.effect("are handed out without authentication, and the script has their checksums", () =>
    served([], ({ sha256 }) =>
      Effect.gen(function* () {
        const script = yield* send("GET", "/agent/install.sh")
        assert.deepStrictEqual([script.status, script.body], [200, SCRIPT])
        assert.strictEqual(sha256, hash("sha256", SCRIPT))
        assert.strictEqual(script.headers["etag"], `"${sha256}"`)
        assert.strictEqual(script.headers["content-type"], "text/plain; charset=utf-8")
        const other = yield* send("GET", "/agent/install.sh?x=1", { headers: { host: "other.example" } })
        assert.strictEqual(other.body, SCRIPT)
        const tarball = yield* send("GET", "/agent/tocsin-agent.tgz", { headers: { range: "bytes=0-3" } })
        assert.deepStrictEqual([tarball.status, tarball.body], [200, TARBALL])
        assert.strictEqual(tarball.headers["content-length"], String(TARBALL.length))
        assert.strictEqual(tarball.headers["x-content-type-options"], "nosniff")
      }),
    ),
  )

  it.effect("are not sent to those who have them, nor for HEAD", () =>
    served([], ({ sha256 }) =>
      Effect.gen(function* () {
        for (const tag of [`"${sha256}"`, `W/"${sha256}"`, `"other", "${sha256}"`, "*"]) {
          const known = yield* send("GET", "/agent/install.sh", { headers: { "if-none-match": tag } })
          assert.deepStrictEqual([known.status, known.body, known.headers["etag"]], [304, "", `"${sha256}"`])
        }
        const head = yield* send("HEAD", "/agent/install.sh")
        assert.deepStrictEqual(
          [head.status, head.body, head.headers["content-length"]],
          [200, "", String(SCRIPT.length)],
        )
      }),
    ),
  )

  it.effect("are found by their exact names alone", () =>
    served([], () =>
      Effect.gen(function* () {
        const paths = [
          "",
          "x",
          "../etc/passwd",
          "%2e%2e/etc/passwd",
          "..%2fetc%2fpasswd",
          "install.sh/",
          "install%2esh",
        ]
        for (const path of [...paths, "./install.sh", "tocsin-agent.tgz%00", "constructor", "__proto__"]) {
          const answer = yield* exchange((socket) =>
            socket.write(`GET /agent/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
          )
          assert.match(answer, /^HTTP\/1\.1 404 /, path)
        }
        const post = yield* send("POST", "/agent/install.sh")
        assert.deepStrictEqual([post.status, post.headers["allow"]], [404, "GET, HEAD"])
      }),
    ),
  )

  it.effect("are 404 once they have changed, also for those who have the former", () => {
    const { file } = largeFile()
    return served([{ ...file, open: Effect.fail(new FileChanged()) }], () =>
      Effect.gen(function* () {
        for (const headers of [{}, { "if-none-match": "*" }]) {
          const answer = yield* send("GET", `/agent/${file.name}`, { headers })
          assert.strictEqual(answer.status, 404)
          if (answer.body !== "") assert.include(errorOf(answer).message, "start the server again")
        }
      }),
    )
  })

  it.effect("end early if they change meanwhile", () => {
    const { counted, file } = largeFile(true)
    return served([file], () =>
      Effect.gen(function* () {
        const socket = yield* begin(`/agent/${file.name}`)
        let received = 0
        socket.on("data", (part) => void (received += part.length)).resume()
        yield* until(() => socket.closed)
        assert.isBelow(received, 4 * PIECE_BYTES)
        assert.strictEqual(counted.isOpen, 0)
      }),
    )
  })

  it.effect(
    "go to eight clients at a time, a piece each; who reads too slowly loses the place",
    () => {
      const { counted, file } = largeFile()
      return served([file], () =>
        Effect.gen(function* () {
          const path = `/agent/${file.name}`
          const slow = yield* Effect.forEach(Array(8).keys(), () => begin(path), { concurrency: 8 })
          yield* until(() => counted.isOpen === 8)
          const ninth = yield* send("GET", path)
          assert.deepStrictEqual([ninth.status, ninth.headers["retry-after"]], [503, "5"])
          assert.strictEqual((yield* send("HEAD", path)).status, 200)
          // The system takes a few MiB of each; no more is read.
          assert.isBelow(counted.reads, (8 * file.bytes) / PIECE_BYTES / 2)
          yield* TestClock.adjust("29 seconds")
          assert.strictEqual(counted.isOpen, 8)
          // Also a client that took a piece just now.
          yield* TestClock.adjust("31 seconds")
          yield* until(() => counted.isOpen === 0)
          for (const socket of slow) socket.resume()
          yield* until(() => slow.every(({ closed }) => closed))
          const next = yield* send("GET", path)
          assert.deepStrictEqual([next.status, next.body.length], [200, file.bytes])
        }),
      )
    },
    30_000,
  )
})
