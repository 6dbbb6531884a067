import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Operations } from "@tocsin/core/usecases/Operations"
import { HealthExamination } from "@tocsin/core/health/HealthExamination"
import type { Health } from "@tocsin/core/health/judgeHealth"
import { Effect, Layer, Redacted } from "effect"
import * as ApiServer from "../../src/HttpServer.ts"
import { errorOf, send } from "../http.ts"
import { type Stubs, stubServices } from "../TestServer.ts"

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" }

interface Served extends Pick<Stubs, "readiness"> {
  readonly health?: Health
  readonly version?: string
  /** Counts how often anybody looked. */
  readonly looks?: { count: number }
}

const well: Health = { state: "well" }
const unwell = (name: "delivery_in_time" | "nothing_given_up" | "storage_keeps"): Health => ({
  state: "unwell",
  faults: [{ name, text: "webhook has not delivered <a secret>" }],
})

/** Runs a test against a server with pages. */
const served = <A, E>(
  { health = well, version = "1.2.3", readiness = {}, looks = { count: 0 } }: Served,
  test: Effect.Effect<A, E, Layer.Success<ReturnType<typeof ApiServer.layerWithPages>>>,
) => {
  const server = ApiServer.layerWithPages(
    { host: "127.0.0.1", port: 0, uiTokens: [Redacted.make("operator-token")] },
    { version, storage: "SQLite" },
  ).pipe(
    Layer.provide([
      stubServices({ readiness }),
      Layer.mock(Operations, {}),
      Layer.succeed(HealthExamination, {
        examine: () =>
          Effect.sync(() => {
            looks.count += 1
            return health
          }),
      }),
    ]),
  )
  return Effect.provide(test, Layer.fresh(server))
}

const page = Effect.map(send("GET", "/", { headers: BROWSER }), ({ body }) => body)
const document = Effect.map(
  send("GET", "/", { headers: { accept: "*/*" } }),
  ({ body }): Readonly<Record<string, unknown>> => JSON.parse(body),
)

describe("the first page", () => {
  it.live("is HTML that runs nothing and loads nothing, for browsers", () =>
    served(
      {},
      Effect.gen(function* () {
        const { status, headers, body } = yield* send("GET", "/", { headers: BROWSER })
        assert.strictEqual(status, 200)
        assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
        assert.strictEqual(headers["cache-control"], "no-store")
        assert.strictEqual(headers["x-content-type-options"], "nosniff")
        assert.strictEqual(headers["cross-origin-opener-policy"], "same-origin")
        assert.strictEqual(headers["vary"], "Accept")
        const style = /<style>([^]*?)<\/style>/.exec(body)?.[1] ?? ""
        assert.include(headers["content-security-policy"], `'sha256-${hash("sha256", style, "base64")}'`)
        assert.match(
          String(headers["content-security-policy"]),
          /^default-src 'none'; .*frame-ancestors 'none'$/,
        )
        assert.notMatch(body, /<script|\bon\w+=|style="|javascript:|https?:\/\/(?!www\.w3\.org)/)
        const sources = Array.from(body.matchAll(/(?:href|src)="([^"]*)"/g), ([, address = ""]) => address)
        for (const address of sources) assert.match(address, /^(?:data:image\/svg\+xml,|[a-z])/)
        assert.match(body, /<html lang="en">/)
        assert.match(body, /Up and working/)
        assert.match(body, /SQLite: reads and writes/)
        assert.match(body, />1\.2\.3</)
      }),
    ),
  )

  it.live("is short JSON for programs, and nothing but its head for HEAD", () =>
    served(
      {},
      Effect.gen(function* () {
        const { headers, body } = yield* send("GET", "/")
        assert.strictEqual(headers["content-type"], "application/json")
        const { started_at, uptime_seconds, links, ...rest } = JSON.parse(body)
        assert.deepStrictEqual(rest, {
          service: "tocsin",
          version: "1.2.3",
          status: "ok",
          storage: { kind: "SQLite", status: "ok" },
          notifications: { status: "in_time" },
        })
        assert.match(started_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        assert.isAtLeast(uptime_seconds, 0)
        assert.strictEqual(links.documentation, "/docs")
        const head = yield* send("HEAD", "/", { headers: BROWSER })
        assert.deepStrictEqual([head.status, head.body], [200, ""])
        assert.strictEqual(head.headers["content-type"], "text/html; charset=utf-8")
      }),
    ),
  )

  it.live("knows GET and HEAD only", () =>
    served(
      {},
      Effect.gen(function* () {
        const received = yield* send("POST", "/")
        assert.deepStrictEqual([received.status, received.headers["allow"]], [404, "GET, HEAD"])
        assert.strictEqual(errorOf(received).code, "not_found")
      }),
    ),
  )

  it.live.each([
    ["delivery_in_time", "late", /late: at least one has waited/],
    ["nothing_given_up", "given_up", /one failed within the last hour/],
    ["storage_keeps", "unknown", /does not answer, or refuses writes/],
  ] as const)("tells that %s does not hold, and no more of it", ([name, status, words]) =>
    served(
      { health: unwell(name) },
      Effect.gen(function* () {
        const found = yield* document
        assert.strictEqual(found["status"], "unwell")
        assert.deepStrictEqual(found["notifications"], { status })
        const body = yield* page
        assert.match(body, /Running, but needs attention/)
        assert.match(body, words)
        for (const text of [body, JSON.stringify(found)]) assert.notMatch(text, /webhook|secret/)
      }),
    ),
  )

  it.live("tells at once that the storage is away, without asking it", () => {
    const looks = { count: 0 }
    return served(
      { readiness: { isReady: Effect.succeed(false) }, looks },
      Effect.gen(function* () {
        assert.match(yield* page, /Not ready: the storage is unreachable or refuses writes/)
        assert.strictEqual((yield* document)["status"], "not_ready")
        assert.strictEqual(looks.count, 0)
      }),
    )
  })

  it.live("tells that the service is about to stop", () =>
    served(
      { readiness: { isReady: Effect.succeed(false), isDraining: () => true } },
      Effect.gen(function* () {
        assert.match(yield* page, /Shutting down/)
        assert.strictEqual((yield* document)["status"], "stopping")
      }),
    ),
  )

  it.live("looks at the storage once, however many ask", () => {
    const looks = { count: 0 }
    return served(
      { looks },
      Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 20 }), () => page, { concurrency: "unbounded" })
        assert.strictEqual(looks.count, 1)
      }),
    )
  })

  it.live("escapes what it shows", () =>
    served(
      { version: `<b>"&'</b>` },
      Effect.map(page, (body) => assert.include(body, ">&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt;<")),
    ),
  )

  it.live("search engines are asked to stay away", () =>
    served(
      {},
      Effect.gen(function* () {
        const { status, body } = yield* send("GET", "/robots.txt")
        assert.deepStrictEqual([status, body], [200, "User-agent: *\nDisallow: /\n"])
        assert.match(yield* page, /<meta name="robots" content="noindex"/)
      }),
    ),
  )
})
