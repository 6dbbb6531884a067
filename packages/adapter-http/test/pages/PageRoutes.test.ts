import { assert, describe, it } from "@effect/vitest"
import { type Health, HealthExamination } from "@tocsin/core/heart/health/HealthExamination"
import { Effect, Layer, Redacted } from "effect"
import * as ApiServer from "../../src/HttpServer.ts"
import { type PageOptions, wantsHtml } from "../../src/pages/PageRoutes.ts"
import { type Stubs, stubServices } from "../TestServer.ts"
import { errorOf, send } from "../http.ts"

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" }

interface Served extends Pick<PageOptions, "console">, Pick<Stubs, "readiness"> {
  readonly health?: Health
  readonly version?: string
  /** Counts how often anybody looked. */
  readonly looks?: { count: number }
}

const well: Health = { state: "well" }
const unwell = (
  name: "delivery_in_time" | "nothing_given_up" | "policy_sound" | "receivers_usable" | "storage_keeps",
): Health => ({
  state: "unwell",
  faults: [{ name, text: "webhook has not delivered <a secret>" }],
})

/** Runs a test against a server with pages. */
const served = <A, E>(
  { health = well, version = "1.2.3", readiness = {}, looks = { count: 0 }, console }: Served,
  test: Effect.Effect<A, E, Layer.Success<ReturnType<typeof ApiServer.layerWithPages>>>,
) => {
  const server = ApiServer.layerWithPages(
    { host: "127.0.0.1", port: 0, operatorTokens: [Redacted.make("operator-token")] },
    { version, storage: "SQLite" },
    console,
  ).pipe(
    Layer.provide([
      stubServices({ readiness }),
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

const document = Effect.map(
  send("GET", "/", { headers: { accept: "*/*" } }),
  ({ body }): Readonly<Record<string, unknown>> => JSON.parse(body),
)

describe("the first page", () => {
  it.live("links pages of the documentation: HTML for browsers, else their Markdown", () =>
    served(
      { console: { script: "1", style: "a{}", pages: { "policy.md": "# Policy\n\n## A route\n" } } },
      Effect.gen(function* () {
        const path = "/console/policy.md"
        const browser = yield* send("GET", path, { headers: BROWSER })
        assert.strictEqual(browser.headers["content-type"], "text/html; charset=utf-8")
        assert.include(browser.body, '<h2 id="a-route">A route</h2>')
        assert.notInclude(browser.body, "<script")
        assert.match(
          String(browser.headers["content-security-policy"]),
          /^default-src 'none'; style-src 'sha256-/,
        )
        const program = yield* send("GET", path, { headers: { accept: "*/*" } })
        assert.strictEqual(program.headers["content-type"], "text/plain; charset=utf-8")
        assert.strictEqual(program.body, "# Policy\n\n## A route\n")
        for (const { headers } of [browser, program])
          assert.strictEqual(headers["vary"], "accept-encoding, accept")
        const etag = String(program.headers["etag"])
        const statusFor = (accept: string) =>
          Effect.map(
            send("GET", path, { headers: { accept, "if-none-match": etag } }),
            ({ status }) => status,
          )
        assert.deepStrictEqual([yield* statusFor("*/*"), yield* statusFor("text/html")], [304, 200])
      }),
    ),
  )

  it.live("is the console for browsers, if there is one", () =>
    served(
      { console: { script: "1", style: "a{}" } },
      Effect.gen(function* () {
        const browser = yield* send("GET", "/", { headers: BROWSER })
        assert.strictEqual(browser.headers["content-type"], "text/html; charset=utf-8")
        assert.include(browser.body, '<div id="console"><p id="waiting">The console does not load.')
        const [script = ""] = /console\/app\.js\?v=[0-9a-f]+/.exec(browser.body) ?? []
        const kept = (path: string) =>
          Effect.map(send("GET", path), ({ headers }) => /immutable/.test(headers["cache-control"] ?? ""))
        assert.isTrue(yield* kept(`/${script}`))
        for (const other of ["", "?v=", "?v=0123456789abcdef", `?w=1&${script.split("?")[1]}0`])
          assert.isFalse(yield* kept(`/console/app.js${other}`), other)
        const program = yield* send("GET", "/")
        assert.strictEqual(program.headers["content-type"], "application/json")
        assert.strictEqual(program.headers["vary"], "Accept")
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
        assert.strictEqual(head.headers["content-type"], "application/json")
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
    ["receivers_usable", "unusable"],
    ["delivery_in_time", "late"],
    ["nothing_given_up", "given_up"],
    ["policy_sound", "policy_outdated"],
    ["storage_keeps", "unknown"],
  ] as const)("tells that %s does not hold, and no more of it", ([name, status]) =>
    served(
      { health: unwell(name) },
      Effect.gen(function* () {
        const found = yield* document
        assert.strictEqual(found["status"], "unwell")
        assert.deepStrictEqual(found["notifications"], { status })
        assert.notMatch(JSON.stringify(found), /webhook|secret/)
      }),
    ),
  )

  it.live("tells at once that the storage is away, without asking it", () => {
    const looks = { count: 0 }
    return served(
      { readiness: { isReady: Effect.succeed(false) }, looks },
      Effect.gen(function* () {
        assert.strictEqual((yield* document)["status"], "not_ready")
        assert.strictEqual(looks.count, 0)
      }),
    )
  })

  it.live("tells that the service is about to stop", () =>
    served(
      { readiness: { isReady: Effect.succeed(false), isDraining: () => true } },
      Effect.gen(function* () {
        assert.strictEqual((yield* document)["status"], "stopping")
      }),
    ),
  )

  it.live("looks at the storage once, however many ask", () => {
    const looks = { count: 0 }
    return served(
      { looks },
      Effect.gen(function* () {
        yield* Effect.forEach(Array.from({ length: 20 }), () => document, { concurrency: "unbounded" })
        assert.strictEqual(looks.count, 1)
      }),
    )
  })

  it.live("search engines are asked to stay away", () =>
    served(
      {},
      Effect.gen(function* () {
        const { status, body } = yield* send("GET", "/robots.txt")
        assert.deepStrictEqual([status, body], [200, "User-agent: *\nDisallow: /\n"])
      }),
    ),
  )
})

describe("HTML is wanted", () => {
  it("by those who name it, and prefer nothing to it", () => {
    for (const accept of [
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "text/html",
      "TEXT/HTML;level=1",
      "application/json;q=0.5, text/html;q=0.5",
      "application/xhtml+xml",
    ]) {
      assert.isTrue(wantsHtml(accept), accept)
    }
  })

  it("not by programs", () => {
    for (const accept of [
      undefined,
      "",
      "*/*",
      "application/json",
      "text/html;q=0",
      "application/json, text/html;q=0.9",
      "text/*",
      "text/htmlx",
      ";;;,,q=",
    ]) {
      assert.isFalse(wantsHtml(accept), accept)
    }
  })
})
