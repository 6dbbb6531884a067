import { assert, describe, it } from "@effect/vitest"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { NameLookup, type ResolveName } from "@tocsin/adapter-notify/http/Target"
import { Duration, Effect, Result } from "effect"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { createServer } from "node:http"
import { createServer as createTcpServer } from "node:net"
import type { WatchProbe } from "@tocsin/contract/watches/WatchProbe"
import { checkedSettings } from "../../../src/settings/checkedSettings.ts"
import { makeWatchProbes, watchProbes } from "../../../src/features/watches/watchProbes.ts"

const MIB = 1_048_576

/** A server on the loopback: the probes' answers to it, and the addresses that it was asked for. */
const listening = Effect.acquireRelease(
  Effect.promise(async () => {
    const asked: Array<string> = []
    const server = createServer(({ url = "" }, response) => {
      asked.push(url)
      const { searchParams } = new URL(url, "http://x")
      const to = searchParams.get("to")
      if (to !== null) response.writeHead(302, { location: to }).end()
      else if (url === "/endless") {
        // Until the reader is gone: from then on each write fails at once.
        const write = (error?: Error | null) => void (error ?? response.write("a".repeat(MIB / 4), write))
        write()
      } else if (url === "/long") response.end(`b${"a".repeat(1_000)}b`)
      else if (url !== "/silent") response.end("a private body")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const bound = server.address()
    return { asked, server, port: typeof bound === "object" ? (bound?.port ?? 0) : 0 }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

const probing = (environment: Readonly<Record<string, string>>, watch: WatchProbe) =>
  Effect.gen(function* () {
    const probes = yield* WatchProbes
    assert.isDefined(probes)
    return yield* probes.run(watch)
  }).pipe(
    Effect.provide(
      watchProbes(Result.getOrThrow(checkedSettings({ SERVICE_NOTIFIERS: "debug", ...environment }))),
    ),
  )

const LOOPBACK = { SERVICE_WATCH_LOOPBACK: "true" }

describe("a probe of the server", () => {
  it.live("connects to no loopback address in any notation unless the setting allows it", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* listening
      const hosts = [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "127.1",
        "0.0.0.0",
        "１２７.0.0.1",
        "localhost.",
        "[::ffff:127.0.0.1]",
      ]
      for (const host of hosts) {
        const page = yield* probing({}, { http: { url: `http://${host}:${port}/` } })
        assert.strictEqual(page.status, "critical", host)
        const bare = host.replaceAll(/[[\]]/g, "")
        const connection = yield* probing({}, { tcp: { host: bare, port } })
        assert.strictEqual(connection.status, "critical", host)
      }
      assert.deepStrictEqual(asked, [])
      const allowed = yield* probing(LOOPBACK, { http: { url: `http://127.0.0.1:${port}/` } })
      assert.strictEqual(allowed.status, "ok")
      assert.notInclude(allowed.output, "private")
      assert.strictEqual((yield* probing(LOOPBACK, { tcp: { host: "localhost", port } })).status, "ok")
    }).pipe(Effect.scoped),
  )

  it.live("examines the address of a redirect", () =>
    Effect.gen(function* () {
      const { port } = yield* listening
      for (const to of ["http://169.254.169.254/latest/", "http://[fd00:ec2::254]/", "http://2852039166/"]) {
        const url = `http://127.0.0.1:${port}/?to=${encodeURIComponent(to)}`
        const { output, status } = yield* probing(LOOPBACK, { http: { url } })
        assert.strictEqual(status, "critical")
        assert.include(output, "is a link-local or metadata address, which no watch may reach")
      }
    }).pipe(Effect.scoped),
  )

  it.live("shows nothing of an answer that it cannot read", () =>
    Effect.gen(function* () {
      const OK = "HTTP/1.1 200 OK\r\n"
      for (const answer of [
        "secret\r\n\r\n",
        `${OK}secret\r\n\r\n`,
        `${OK}content-length: secret\r\n\r\n`,
        `${OK}secret: a\rb\r\n\r\n`,
        `${OK}content-type: text/plain; charset=secret\r\n\r\na`,
        `${OK}content-encoding: secret\r\n\r\na`,
        "HTTP/1.1 302 Found\r\nlocation: secret://x\r\n\r\n",
      ]) {
        const server = createTcpServer((socket) =>
          socket.on("error", () => {}).once("data", () => socket.end(answer, "latin1")),
        ).listen(0, "127.0.0.1")
        yield* Effect.promise(() => once(server, "listening"))
        const bound = server.address()
        const port = typeof bound === "object" ? (bound?.port ?? 0) : 0
        const watch = { http: { url: `http://127.0.0.1:${port}/`, text: "well" } }
        const { output, status } = yield* probing(LOOPBACK, watch)
        server.close()
        assert.strictEqual(status, "critical", answer)
        assert.notInclude(output, "secret")
      }
    }).pipe(Effect.scoped),
  )

  it.live("follows no redirect to an address with a user, which no watch may have", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* listening
      const to = `http://ann:secret@127.0.0.1:${port}/`
      const url = `http://127.0.0.1:${port}/?to=${encodeURIComponent(to)}`
      const { output, status } = yield* probing(LOOPBACK, { http: { url } })
      assert.strictEqual(status, "critical")
      assert.include(output, "redirected to an address with a user")
      assert.notInclude(output, "secret")
      assert.strictEqual(asked.length, 1)
    }).pipe(Effect.scoped),
  )

  it.effect(
    "is refused for an address that it must not reach, with the setting, before there is a watch",
    () =>
      Effect.gen(function* () {
        const refusal = (environment: Readonly<Record<string, string>>, watch: WatchProbe) =>
          Effect.flatMap(WatchProbes, (probes) => probes?.check(watch) ?? Effect.die("no probes")).pipe(
            Effect.match({ onSuccess: () => "accepted", onFailure: ({ message }) => message }),
            Effect.provide(watchProbes(Result.getOrThrow(checkedSettings(environment)))),
          )
        const loopback =
          "leads to the server's own machine: allow probes that only read in Settings of the console, or by tocsin settings set watch_loopback true; for others, start the server with SERVICE_WATCH_LOOPBACK=true to allow it"
        for (const host of ["127.0.0.1", "localhost", "a.localhost.", "0x7f.1", "2130706433", "0.0.0.0"]) {
          assert.strictEqual(
            yield* refusal({}, { http: { url: `http://${host}:80/` } }),
            `http.url ${loopback}`,
          )
          assert.strictEqual(yield* refusal({}, { tcp: { host, port: 22 } }), `tcp.host ${loopback}`)
          assert.strictEqual(yield* refusal({}, { tls: { host } }), `tls.host ${loopback}`)
          assert.strictEqual(yield* refusal(LOOPBACK, { tcp: { host, port: 22 } }), "accepted")
        }
        const closed = { SERVICE_WATCH_LOOPBACK: "false" }
        assert.strictEqual(
          yield* refusal(closed, { tls: { host: "localhost" } }),
          "tls.host leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it",
        )
        for (const host of ["::1", "[::1]", "0:0::1%lo", "[::1%lo]", "::ffff:127.0.0.1%eth0"])
          assert.strictEqual(yield* refusal({}, { tcp: { host, port: 22 } }), `tcp.host ${loopback}`)
        for (const host of [
          "fe80::1%eth0",
          "[fe80::1%eth0]",
          "fd00:ec2::254%1",
          "[::ffff:169.254.169.254%1]",
        ])
          assert.strictEqual(
            yield* refusal(LOOPBACK, { tls: { host } }),
            "tls.host is a link-local or metadata address, which no watch may reach",
          )
        assert.strictEqual(yield* refusal({}, { http: { url: "http://[::1]/" } }), `http.url ${loopback}`)
        assert.strictEqual(
          yield* refusal({ SERVICE_DENY_PRIVATE_TARGETS: "true" }, { tcp: { host: "10.0.0.1", port: 22 } }),
          "tcp.host is not public, and SERVICE_DENY_PRIVATE_TARGETS is set",
        )
        assert.strictEqual(
          yield* refusal(LOOPBACK, { http: { url: "http://169.254.169.254/" } }),
          "http.url is a link-local or metadata address, which no watch may reach",
        )
        for (const watch of [
          { http: { url: "https://example.org/" } },
          { tcp: { host: "10.0.0.1", port: 22 } },
          { dns: { name: "localhost" } },
        ])
          assert.strictEqual(yield* refusal({}, watch), "accepted")
      }),
  )

  it.live("connects to the address that it examined, when a name changes between two lookups", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* listening
      const lookups: Array<string> = []
      // A public address at first, and then one that is refused: DNS rebinding.
      const rebinding: ResolveName = (hostname, _options, callback) => {
        lookups.push(hostname)
        callback(null, [{ address: lookups.length === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }])
      }
      const probe = (watch: WatchProbe) =>
        probing(LOOPBACK, watch).pipe(Effect.provideService(NameLookup, rebinding))
      const first = yield* probe({ http: { url: `http://name.example:${port}/` } })
      assert.strictEqual(first.status, "ok")
      assert.deepStrictEqual([asked, lookups], [["/"], ["name.example"]])
      for (const watch of [
        { http: { url: `http://name.example:${port}/` } },
        { tcp: { host: "name.example", port } },
        { tls: { host: "name.example", port } },
      ]) {
        const { output, status } = yield* probe(watch)
        assert.strictEqual(status, "critical")
        assert.include(
          output,
          "name.example has no address that a watch may reach: see SERVICE_WATCH_LOOPBACK",
        )
      }
      assert.deepStrictEqual(asked, ["/"])
    }).pipe(Effect.scoped),
  )

  it.live("waits no longer than its time-out for an answer that never ends", () =>
    Effect.gen(function* () {
      const { port } = yield* listening
      const timeout = Duration.seconds(1)
      const { output, status } = yield* probing(LOOPBACK, {
        http: { url: `http://127.0.0.1:${port}/silent`, timeout },
      })
      assert.strictEqual(status, "critical")
      assert.include(output, "no answer within 1 s")
    }).pipe(Effect.scoped),
  )

  it.live("shows of a body only the beginning of the wanted text", () =>
    Effect.gen(function* () {
      const { port } = yield* listening
      const { output, status } = yield* probing(LOOPBACK, {
        http: { url: `http://127.0.0.1:${port}/long`, text: "a".repeat(300) },
      })
      assert.strictEqual(status, "ok")
      assert.include(output, `with "${"a".repeat(200)}…"`)
      assert.notInclude(output, "b")
    }).pipe(Effect.scoped),
  )

  it.live("refuses private addresses if the setting says so", () =>
    Effect.gen(function* () {
      const { port } = yield* listening
      const denying = { ...LOOPBACK, SERVICE_DENY_PRIVATE_TARGETS: "true" }
      const { output } = yield* probing(denying, { tcp: { host: "127.0.0.1", port } })
      assert.include(output, "127.0.0.1 is not public, and SERVICE_DENY_PRIVATE_TARGETS is set")
    }).pipe(Effect.scoped),
  )

  it.live("reads one MiB of an answer and no more", () =>
    Effect.gen(function* () {
      const { port } = yield* listening
      const { output, status } = yield* probing(LOOPBACK, {
        http: { url: `http://127.0.0.1:${port}/endless`, text: "needle" },
      })
      assert.strictEqual(status, "critical")
      assert.include(output, "in its first MiB")
    }).pipe(Effect.scoped),
  )

  it.effect("refuses options that are not those of one probe", () =>
    Effect.gen(function* () {
      const tcp = { host: "example.org", port: 1 }
      const refused: ReadonlyArray<readonly [WatchProbe, string]> = [
        [
          { http: { url: "http://a/", method: "HEAD", text: "b" } },
          "http.text searches a page, and HEAD asks for none: use method: GET",
        ],
        [{ tls: { host: "a b" } }, "tls.host must be a host name or an address"],
        [{ http: { url: "http://me:secret@example.org/" } }, "http.url must not contain a user: use auth"],
        [
          { http: { url: "file:///etc/passwd" } },
          "http.url must be an address such as https://shop.example/health",
        ],
        [{ tcp: { ...tcp, host: "a b" } }, "tcp.host must be a host name or an address"],
      ]
      for (const [watch, message] of refused)
        assert.strictEqual((yield* Effect.flip(probing({}, watch))).message, message)
    }),
  )

  it.effect("names no file, socket or authority of the server, by whichever way its options come", () =>
    Effect.gen(function* () {
      const probes = yield* WatchProbes
      assert.isDefined(probes)
      const url = "https://a.example/"
      for (const options of [
        { http: { url, ca: "/etc/ssl/cert.pem" } },
        { http: { url, ca: "system" } },
        { http: { url, cert: "/etc/client.pem" } },
        { http: { url, socket: "/run/docker.sock" } },
        { tls: { host: "a.example", key: "/etc/client.key" } },
      ]) {
        // The API refuses these fields before; nothing behind it may depend on that.
        const refused = yield* Effect.flip(probes.check(options as WatchProbe))
        assert.match(refused.message, /^(http|tls)\.\w+ is no option of watches$/)
      }
    }).pipe(Effect.provide(watchProbes(Result.getOrThrow(checkedSettings({ SERVICE_NOTIFIERS: "debug" }))))),
  )

  it.live("shows no secret that an answer repeats", () =>
    Effect.gen(function* () {
      const echo = createServer(({ headers }, response) => response.end(JSON.stringify(headers)))
      echo.listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(echo, "listening"))
      yield* Effect.addFinalizer(() => Effect.sync(() => echo.close()))
      const bound = echo.address()
      const url = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}/`
      const watch: WatchProbe = {
        http: {
          url,
          headers: { "x-k": "a secret" },
          auth: { basic: { user: "robot", password: "an0ther" } },
          expect: { json: { "/x-k": "other" } },
        },
      }
      const { output } = yield* probing(LOOPBACK, watch)
      assert.include(output, 'json /x-k is "***" and must be "other"')
    }).pipe(Effect.scoped),
  )

  it.effect("finds the secrets that a policy names, or says which one is missing", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "tocsin-secrets-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      writeFileSync(join(folder, "key"), "from a file\n")
      process.env["TOCSIN_SECRET_OF_WATCH"] = "from a variable"
      const settings = Result.getOrThrow(
        checkedSettings({ SERVICE_NOTIFIERS: "debug", SERVICE_SECRETS_DIR: folder }),
      )
      const { open } = yield* makeWatchProbes(settings)
      const env = { env: "TOCSIN_SECRET_OF_WATCH" }
      assert.deepStrictEqual(
        Result.getOrThrow(
          open({ headers: { a: { file: "key" }, b: "text" }, auth: { basic: { user: "u", password: env } } }),
        ),
        {
          headers: { a: "from a file", b: "text" },
          auth: { basic: { user: "u", password: "from a variable" } },
        },
      )
      delete process.env["TOCSIN_SECRET_OF_WATCH"]
      const lacking = open({ auth: { bearer: env }, headers: { a: { file: "none" } } })
      assert.include(
        Result.isFailure(lacking) ? lacking.failure : "",
        "the file none and the variable TOCSIN_SECRET_OF_WATCH",
      )
    }).pipe(Effect.scoped),
  )
})
