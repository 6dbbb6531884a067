import { assert } from "@effect/vitest"
import type { DeliveryAttempt, MessageLinks, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import type { Language } from "@tocsin/contract/languages/Language"
import { loadWords } from "@tocsin/contract/languages/Languages"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Duration, Effect } from "effect"
import { call, operate } from "../client/call.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { acceptedAgent, event, push, type TestAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

await loadWords(["de"])

const PUBLIC = "https://tocsin.example/base"
const KEY = "5a".repeat(32)

/** A service that sends to the receiver `phone`, whose messages have links. */
export const messages = (lang?: Language) => {
  const sent: Array<DeliveryAttempt> = []
  const phone: Notifier = {
    kind: "messenger",
    send: (notification) => {
      sent.push(notification)
      return Effect.succeed({ outcome: "delivered" })
    },
    test: Effect.die("nobody tests here"),
  }
  const acknowledge = Duration.hours(1)
  const options: TocsinOptions = {
    linkKey: KEY,
    notifiers: new Map([["phone", phone]]),
    rules: {
      publicUrl: PUBLIC,
      policy: {
        receivers: { phone: { kind: "messenger", url_env: "URL", acknowledge, ...(lang && { lang }) } },
      },
      failedAuthenticationRate: { perMinute: 1, burst: 3 },
    },
  }
  /** The message of a position, once its row says that it was sent; nothing else may then contain its token. */
  const message = Effect.fnUntraced(function* (position: number) {
    const { observatory } = yield* Tocsin
    for (;;) {
      const links: MessageLinks | undefined = sent[position]?.links
      const stored = yield* itemsOf("/api/v1/notifiers/outbox?state=sent")
      if (links?.acknowledge !== undefined && stored.length > position) {
        const path = links.acknowledge.url.slice(PUBLIC.length)
        assert.match(path, /^\/a\/[0-9a-f]{96}$/)
        observatory.forbid(path.slice(3))
        return { path, links }
      }
      yield* Effect.sleep("5 millis")
    }
  })
  return { message, options }
}

export const turns = (agent: TestAgent, status: string, more: object = {}) =>
  push(agent, event({ status, exit_code: status === "ok" ? 0 : status === "warning" ? 1 : 2, ...more }))

const textOf = (answer: { readonly status: number; readonly text: string }) =>
  `${answer.status} ${answer.text.replaceAll(/<style>.*?<\/style>|<[^>]*>/gs, " ").replaceAll(/\s+/g, " ")}`

/** The rows that a link could change: its incident and the audit. */
export const state = Effect.gen(function* () {
  const { body } = yield* operate("GET", "/api/v1/incidents")
  const audit = yield* operate("GET", "/ops/v1/audit")
  return JSON.stringify([body, audit.body])
})

export const shownLog = Effect.gen(function* () {
  const { body } = yield* operate("GET", "/ops/v1/audit?action=incident.acknowledged")
  const { items } = body as { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>> }
  return items.map(({ actor, parameters, via }) => {
    const { severity } = parameters as { readonly severity: string }
    return { actor, via, severity }
  })
})

/** Links in messages (docs/rules.md#links). */
export const linkSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)
  const linked = (
    name: string,
    run: (sent: ReturnType<typeof messages>) => Effect.Effect<void, never, Tocsin>,
    lang?: Language,
  ) => {
    const sent = messages(lang)
    scenario(name, () => run(sent), sent.options)
  }

  linked("a program that opens every link of a message changes nothing", ({ message }) =>
    Effect.gen(function* () {
      yield* turns(yield* acceptedAgent("web-1"), "critical", { output: "<b>&\"'</b> <script>x()</script>" })
      const { links, path } = yield* message(0)
      assert.match(links.incident, /^https:\/\/tocsin\.example\/base\/#\/incidents\/[0-9a-f-]{36}$/)
      const before = yield* state
      for (const method of ["GET", "HEAD", "GET"]) {
        const { headers, status, text } = yield* call(method, path)
        assert.strictEqual(status, 200)
        assert.deepInclude(headers, {
          "cache-control": "no-store",
          "referrer-policy": "no-referrer",
          "x-robots-tag": "noindex, nofollow, noarchive",
          "x-content-type-options": "nosniff",
        })
        assert.notProperty(headers, "set-cookie")
        const policy = headers["content-security-policy"] ?? ""
        for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"])
          assert.include(policy, part)
        assert.notInclude(policy, "unsafe")
        if (method === "HEAD") continue
        assert.include(text, "<h1>CRITICAL: web-1/disk</h1>")
        // People press at night: the output first, then the button, and below it what it means.
        assert.match(
          text,
          /class="lead">[^]*<button>[^]*Everyone who can read the message can use this link\./,
        )
        assert.notMatch(text, /Incident: [0-9a-f]{8}/)
        assert.include(text, "&lt;b&gt;&amp;&quot;&#39;&lt;/b&gt; &lt;script&gt;x()&lt;/script&gt;")
        assert.notMatch(text, /<script|<b>|src=/)
        // The page of the console, which a program opens like any other.
        const hrefs = Array.from(
          text.matchAll(/href="([^"]*)"/g),
          ([, address = ""]) => new URL(address, links.acknowledge?.url).href,
        )
        assert.deepStrictEqual(hrefs, [links.incident])
        assert.match(
          text,
          /<html lang="en">[^]*name="viewport"[^]*<form method="post"><button>Acknowledge for 1h</,
        )
      }
      assert.strictEqual(yield* state, before)
    }),
  )

  linked(
    "of two that press at the same instant one acknowledges, and the other sees who did",
    ({ message }) =>
      Effect.gen(function* () {
        yield* turns(yield* acceptedAgent("web-1"), "critical")
        const { path } = yield* message(0)
        const pressed = yield* Effect.all([call("POST", path), call("POST", path, { body: "a=b" })], {
          concurrency: "unbounded",
        })
        const shown = yield* call("GET", path)
        for (const answer of [...pressed, shown]) {
          assert.match(
            textOf(answer),
            /^200 .*CRITICAL: web-1\/disk Acknowledged by link:phone until 2026-03-01 13:00 UTC, up to critical\./,
          )
          assert.lengthOf(answer.text.match(/Acknowledged by/g) ?? [], 1, "said once")
          assert.notInclude(answer.text, "<form")
        }
        assert.deepStrictEqual(yield* shownLog, [{ actor: "link:phone", via: "link", severity: "critical" }])
      }),
  )

  linked("the link about a warning acknowledges nothing that is critical now", ({ message }) =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent("web-1")
      yield* turns(agent, "warning")
      const old = yield* message(0)
      yield* turns(agent, "critical", { observed_at: "2026-03-01T12:00:01Z" })
      const { path } = yield* message(1)
      const before = yield* state
      for (const [method, status] of [
        ["POST", 409],
        ["GET", 200],
      ] as const) {
        const answer = yield* call(method, old.path)
        assert.strictEqual(answer.status, status)
        assert.match(textOf(answer), /WARNING: web-1\/disk The incident is critical now/)
        assert.notInclude(answer.text, "<form")
      }
      assert.strictEqual(yield* state, before)
      yield* turns(agent, "warning", { observed_at: "2026-03-01T12:00:02Z" })
      assert.strictEqual((yield* call("POST", path)).status, 200)
      assert.deepStrictEqual(yield* shownLog, [{ actor: "link:phone", via: "link", severity: "critical" }])
    }),
  )

  linked("a link ends with its incident, and seven days after its message was sent", ({ message }) =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const agent = yield* acceptedAgent("web-1")
      yield* turns(agent, "critical")
      const first = yield* message(0)
      yield* turns(agent, "ok", { observed_at: "2026-03-01T12:00:01Z" })
      for (const method of ["GET", "POST"])
        assert.match(
          textOf(yield* call(method, first.path)),
          /^410 .*This link has ended The incident of this message has resolved\./,
        )
      yield* turns(agent, "critical", { check_id: "cpu" })
      const { path } = yield* message(2)
      clock.advance("167 hours")
      assert.strictEqual((yield* call("GET", path)).status, 200)
      clock.advance("1 hour")
      assert.match(textOf(yield* call("POST", path)), /^410 .*The message is older than a week\./)
      assert.deepStrictEqual(yield* shownLog, [])
    }),
  )

  linked(
    "a link has the language of its receiver before its button, behind it and after its end",
    ({ message }) =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent("web-1")
        yield* turns(agent, "critical")
        const { path } = yield* message(0)
        const open = yield* call("GET", path)
        assert.include(open.text, '<html lang="de">')
        assert.include(open.text, "<h1>KRITISCH: web-1/disk</h1>")
        assert.include(open.text, "<button>Für 1 Std. bestätigen</button>")
        assert.include(open.text, "Er bestätigt als link:phone.")
        const accept = { accept: "application/json" }
        const done = yield* call("POST", path, { headers: accept })
        const until = "1. März 2026, 13:00 UTC"
        assert.deepStrictEqual(JSON.parse(done.text), {
          outcome: "acknowledged",
          text: `Bestätigt bis ${until}.`,
        })
        const text = `Es ist schon bestätigt, von einer Nachricht an phone bis ${until}.`
        const again = yield* call("POST", path, { headers: accept })
        assert.deepStrictEqual(JSON.parse(again.text), { outcome: "already", text })
        assert.include(
          textOf(yield* call("GET", path)),
          `Bestätigt von link:phone bis ${until}, bis zur Stufe „kritisch“.`,
        )
        yield* turns(agent, "ok", { observed_at: "2026-03-01T12:00:01Z" })
        const ended = yield* call("GET", path)
        assert.include(ended.text, '<html lang="de">')
        assert.match(
          textOf(ended),
          /^410 .*Dieser Link gilt nicht mehr Die Störung, um die es in dieser Nachricht ging, ist behoben\./,
        )
        const reported = yield* call("POST", path, { headers: accept })
        assert.include(
          reported.text,
          "Die Störung, um die es in dieser Nachricht ging, ist behoben. Es ist nichts bestätigt.",
        )
        const unknown = yield* call("GET", "/a/x")
        assert.include(unknown.text, '<html lang="en">')
      }),
    "de",
  )

  linked("unknown tokens are 404, and cost what failed authentications do", ({ message }) =>
    Effect.gen(function* () {
      yield* turns(yield* acceptedAgent("web-1"), "critical")
      const { path } = yield* message(0)
      const digit = path.endsWith("0") ? "1" : "0"
      const others = [
        path.slice(0, -1) + digit,
        path.slice(0, -1),
        "/a/x",
        path.toUpperCase().replace("/A/", "/a/"),
      ]
      const connections: Array<string | undefined> = []
      for (const other of others) {
        const answer = yield* call("GET", other)
        assert.match(textOf(answer), /^404 .*This link is not known/)
        connections.push(answer.headers["connection"])
      }
      assert.deepStrictEqual(connections, ["keep-alive", "keep-alive", "keep-alive", "close"])
      assert.strictEqual((yield* call("GET", path)).status, 200)
    }),
  )
}
