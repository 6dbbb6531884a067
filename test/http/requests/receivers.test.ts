import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect } from "effect"
import { operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { storedPolicySource } from "../service/storedPolicySource.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

const notifierOf = (kind: string): readonly [string, Notifier] => {
  const result = { outcome: "delivered" } as const
  return [kind, { kind, send: () => Effect.succeed(result), test: Effect.succeed({ result, status: 200 }) }]
}

/** Settings with an address of a webhook, beside the log. */
const notifiers = new Map([notifierOf("debug"), notifierOf("webhook")])

const STORED: TocsinOptions = {
  notifiers,
  policySource: storedPolicySource(notifiers),
  rules: { notifiers: ["debug", "webhook"], keepsNotifiers: false },
}

const served = <E>(effect: Effect.Effect<void, E, Tocsin>, options = STORED) =>
  Effect.provide(effect, Tocsin.layer(MemoryStorage.layer, options))

const hash = Effect.map(operate("GET", "/ops/v1/policy"), ({ body }) => String(Object(body).hash))

/** Sends a change of a receiver, of the policy in force unless another is given. */
const change = Effect.fnUntraced(function* (
  method: "PUT" | "DELETE",
  path: string,
  {
    match,
    receiver,
    values,
  }: { readonly match?: string; readonly receiver?: object; readonly values?: object } = {},
) {
  return yield* operate(method, `/ops/v1/receivers/${path}`, {
    headers: { "if-match": match ?? (yield* hash) },
    ...(receiver !== undefined && { json: { receiver, ...(values && { values }) } }),
  })
})

const apply = (body: string) => operate("PUT", "/ops/v1/policy?confirm=true", { body })

const storedText = Effect.map(
  operate("GET", "/ops/v1/policy/versions"),
  ({ body }) => Object(body).items[0].text,
)

const CHAT = { kind: "messenger", type: "ntfy", url_file: "chat" }

describe("a receiver over HTTP", () => {
  it.live("is defined, replaced and removed, in the text as it is", () =>
    served(
      Effect.gen(function* () {
        const text = "# ours\nreceivers:\n  webhook: { kind: webhook, url_file: a, secret_file: b } # hook\n"
        assert.strictEqual((yield* apply(text)).status, 200)
        const before = yield* hash
        const first = yield* change("PUT", "chat", { receiver: CHAT })
        assert.strictEqual(first.status, 200)
        assert.deepInclude(Object(first.body), { version: 2, firings: [], unavailable: [] })
        const added = `${text}  chat: { kind: messenger, type: ntfy, url_file: chat }\n`
        assert.strictEqual(yield* storedText, added)
        // It is in force in the server that answers, and the request is safe to repeat.
        assert.strictEqual(yield* hash, Object(first.body).hash)
        const again = yield* change("PUT", "chat", { receiver: CHAT, match: before })
        assert.deepInclude(Object(again.body), { version: 2 })

        const stale = yield* change("PUT", "chat", {
          receiver: { ...CHAT, url_file: "other" },
          match: before,
        })
        expectError(stale, 412, "conflict")
        const noMatch = yield* operate("PUT", "/ops/v1/receivers/chat", { json: { receiver: CHAT } })
        assert.include(expectError(noMatch, 400, "validation"), "if-match")
        const wrong = yield* change("PUT", "chat", { receiver: { ...CHAT, colour: "red" } })
        assert.include(
          expectError(wrong, 400, "validation"),
          "line 4: receivers.chat.colour is not a known field",
        )

        expectError(yield* change("DELETE", "none"), 404, "not_found")
        const removed = yield* change("DELETE", "chat")
        assert.deepInclude(Object(removed.body), { version: 3, text })
        const former: string = Object(first.body).hash
        assert.strictEqual((yield* change("DELETE", "chat", { match: former })).status, 200)
        // Only what was there is removed already.
        expectError(yield* change("DELETE", "none", { match: former }), 404, "not_found")
        expectError(yield* change("DELETE", "chat", { match: before }), 404, "not_found")

        const { body } = yield* operate("GET", "/ops/v1/audit?limit=10")
        const acts = Object(body).items.map((item: unknown) => {
          const { action, parameters, subjects } = Object(item)
          return `${action} ${subjects[0].id} ${parameters.version}`
        })
        const ofReceivers = acts.filter((act: string) => act.startsWith("receiver."))
        assert.deepStrictEqual(ofReceivers, ["receiver.removed chat 3", "receiver.changed chat 2"])
      }),
    ),
  )

  it.live("has its secrets stored and deleted with it", () =>
    served(
      Effect.gen(function* () {
        const phone = { kind: "messenger", type: "ntfy" }
        const path = "chat?confirm=true"
        const secrets = Effect.map(operate("GET", "/ops/v1/secrets"), ({ body }) =>
          Object(body).items.map((item: unknown) => [
            Object(item).name,
            Object(item).keys.join(),
            Object(item).receiver,
          ]),
        )
        const none = yield* hash
        const url = "https://ntfy.example/alarms"
        const first = yield* change("PUT", path, { receiver: phone, values: { url } })
        assert.include(Object(first.body).text, "chat: { kind: messenger, type: ntfy, secrets: chat }")
        assert.deepStrictEqual(yield* secrets, [["chat", "url", "chat"]])
        // Other secrets alone make no version, but replace only those of the policy that is named.
        const both = { receiver: phone, values: { url, token: "t" } }
        expectError(yield* change("PUT", path, { ...both, match: none }), 412, "conflict")
        assert.deepInclude(Object((yield* change("PUT", path, both)).body), { version: 1 })
        // A refused change stores none of them, and an entry that names its row keeps it whole.
        const refused = { receiver: { ...phone, colour: "red" }, values: { url } }
        expectError(yield* change("PUT", path, refused), 400, "validation")
        const kept = { receiver: { ...phone, secrets: "chat", concurrency: 2 } }
        assert.deepInclude(Object((yield* change("PUT", path, kept)).body), { version: 2 })
        assert.deepStrictEqual(yield* secrets, [["chat", "token,url", "chat"]])
        assert.strictEqual((yield* change("DELETE", path)).status, 200)
        assert.deepStrictEqual(yield* secrets, [])
      }),
      { ...STORED, secretsKey: "5a".repeat(32) },
    ),
  )

  it.live("keeps no secrets that would leave without TLS for the first time", () =>
    served(
      Effect.gen(function* () {
        const path = "mail?confirm=true"
        const mail = { kind: "messenger", type: "email", from: "tocsin@example.org", to: ["ops@example.org"] }
        const values = { url: "smtp://ops:word@mail.example.org:587" }
        assert.strictEqual((yield* change("PUT", path, { receiver: mail, values })).status, 200)
        const plain = { ...mail, secrets: "mail", tls: "off" }
        const tried = (json: object) => operate("POST", "/ops/v1/receivers/mail/try", { json })
        for (const refused of [
          yield* change("PUT", path, { receiver: plain }),
          yield* tried({ receiver: plain }),
        ])
          assert.include(expectError(refused, 400, "validation"), "give them again as values")
        assert.strictEqual((yield* tried({ receiver: plain, values })).status, 200)
        assert.strictEqual((yield* change("PUT", path, { receiver: plain, values })).status, 200)
        const kept = { ...plain, concurrency: 2 }
        assert.strictEqual((yield* change("PUT", path, { receiver: kept })).status, 200)
        assert.strictEqual((yield* tried({ receiver: kept })).status, 200)
        const required = { ...kept, tls: "required" }
        assert.strictEqual((yield* change("PUT", path, { receiver: required })).status, 200)
        expectError(yield* change("PUT", path, { receiver: kept }), 400, "validation")
        // The text of a policy says no more than an entry may.
        const text = JSON.stringify({ receivers: { mail: kept } })
        const said = [
          expectError(yield* apply(text), 400, "validation"),
          Object((yield* operate("POST", "/ops/v1/policy/check", { body: text })).body).issues[0].message,
        ]
        for (const message of said) assert.include(message, "give them again as values")
      }),
      { ...STORED, secretsKey: "5a".repeat(32) },
    ),
  )

  it.live("must be confirmed if no server can use it, but not if that is another one", () =>
    served(
      Effect.gen(function* () {
        const lacking = { kind: "messenger", type: "ntfy", secrets: "lost" }
        const refused = yield* change("PUT", "lost?confirm=true", { receiver: lacking })
        assert.strictEqual(refused.status, 200)
        const receiver = { kind: "debug" }
        assert.strictEqual((yield* change("PUT", "log", { receiver })).status, 200)
        const again = yield* change("PUT", "lost", { receiver: { ...lacking, concurrency: 2 } })
        assert.include(expectError(again, 409, "conflict"), "no server could use 1 of the receivers (lost)")
        const text = JSON.stringify({ receivers: { log: receiver, lost: lacking } })
        const whole = yield* operate("PUT", "/ops/v1/policy", { body: text })
        assert.include(expectError(whole, 409, "conflict"), "(lost)")
        assert.strictEqual((yield* change("DELETE", "log")).status, 200)
      }),
      { ...STORED, secretsKey: "5a".repeat(32) },
    ),
  )

  it.live("is tried before it is stored", () =>
    served(
      Effect.gen(function* () {
        const receiver = { kind: "webhook", url_file: "a", secret_file: "b" }
        const tried = (json: object) => operate("POST", "/ops/v1/receivers/webhook/try", { json })
        assert.deepStrictEqual((yield* tried({ receiver })).body, {
          outcome: "delivered",
          status: 200,
          error: null,
        })
        expectError(yield* tried({ receiver: { kind: "webhook" } }), 400, "validation")
        const withoutKey = yield* change("PUT", "chat", { receiver: CHAT, values: { token: "t" } })
        assert.include(expectError(withoutKey, 409, "conflict"), "SERVICE_SECRETS_KEY")
        assert.strictEqual((yield* operate("GET", "/ops/v1/policy/versions")).text, '{"items":[]}')
        // Its test, once it is stored as it was tried.
        const tested = Effect.map(operate("GET", "/ops/v1/policy"), ({ body }) =>
          Object(body).receivers.map(({ tested_at }: { readonly tested_at?: string }) => tested_at),
        )
        const other = { ...receiver, url_file: "c" }
        assert.strictEqual((yield* change("PUT", "webhook", { receiver: other })).status, 200)
        assert.deepStrictEqual(yield* tested, [undefined])
        assert.strictEqual((yield* change("PUT", "webhook", { receiver })).status, 200)
        const [at] = yield* tested
        assert.isString(at)
        // Later, nothing has been sent to it.
        for (const again of [other, receiver])
          assert.strictEqual((yield* change("PUT", "webhook", { receiver: again })).status, 200)
        assert.deepStrictEqual(yield* tested, [at])
      }),
    ),
  )

  it.live("of two changes at once, one counts", () =>
    served(
      Effect.gen(function* () {
        yield* apply("receivers: { webhook: { kind: webhook, url_file: a, secret_file: b } }\n")
        const match = yield* hash
        const put = (name: string) => change("PUT", name, { match, receiver: { ...CHAT, url_file: name } })
        const answers = yield* Effect.all([put("a"), put("b"), put("c")], { concurrency: 3 })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 412, 412])
        const { body } = yield* operate("GET", "/ops/v1/policy")
        assert.strictEqual(Object.keys(Object(body).policy.receivers).length, 2)
      }),
    ),
  )

  it.live("must be confirmed where others fall silent, speak again, or no one is notified", () =>
    served(
      Effect.gen(function* () {
        const silent = "receivers replaces the notifiers of the settings, which fall silent: webhook"
        const first = yield* change("PUT", "chat", { receiver: CHAT })
        assert.include(expectError(first, 409, "conflict"), silent)
        assert.strictEqual((yield* change("PUT", "chat?confirm=true", { receiver: CHAT })).status, 200)
        // A receiver of the same name goes on with what waits for the notifier.
        const checked = yield* operate("POST", "/ops/v1/policy/check", { body: "{}" })
        const speaking = "is absent, so that the notifiers of the settings notify again: webhook"
        assert.deepStrictEqual(Object(checked.body).warnings, [{ path: "receivers", message: speaking }])
        const last = yield* change("DELETE", "chat")
        assert.include(expectError(last, 409, "conflict"), speaking)

        const shadow = yield* change("PUT", "chat", { receiver: { ...CHAT, shadow: true } })
        assert.include(expectError(shadow, 409, "conflict"), "receivers has no one to notify")
        const log = yield* change("PUT", "chat", { receiver: { kind: "debug" } })
        assert.include(expectError(log, 409, "conflict"), "to chat alone, which writes them to the log")
        // A route that takes everything to a shadow leaves no one to notify, whatever other receivers there are.
        const routed =
          "receivers: { a: { kind: debug, shadow: true }, b: { kind: debug } }\nroutes: [{ to: [a] }]"
        const { body } = yield* operate("POST", "/ops/v1/policy/check", { body: routed })
        assert.match(JSON.stringify(Object(body).warnings), /has no one to notify: each of them/u)

        yield* apply(`receivers: { chat: ${JSON.stringify(CHAT)} }\nroutes: [{ to: [chat] }]\n`)
        assert.include(
          expectError(yield* change("DELETE", "chat?confirm=true"), 400, "validation"),
          "routes[0].to[0] names no receiver; the receivers are debug, webhook",
        )
        yield* apply(`receivers: { chat: ${JSON.stringify(CHAT)} }\n`)
        assert.deepInclude(Object((yield* change("DELETE", "chat?confirm=true")).body), { text: "{}\n" })
        assert.deepStrictEqual(Object((yield* operate("GET", "/ops/v1/policy")).body).policy, {})
      }),
    ),
  )

  it.live("is a conflict with the lines to paste where a file decides", () =>
    served(
      Effect.gen(function* () {
        const lines = 'under receivers:   chat: {"kind":"messenger","type":"ntfy","url_file":"chat"}'
        const put = yield* change("PUT", "chat", { receiver: CHAT })
        assert.isTrue(expectError(put, 409, "conflict").endsWith(lines))
        const removed = yield* change("DELETE", "chat")
        assert.include(expectError(removed, 409, "conflict"), "to remove from receivers: chat")
        // The entry is judged first, and no answer repeats a long one.
        const to = Array.from({ length: 40 }, (_, n) => `operator-${n}@mail.example.org`)
        const mail = { kind: "messenger", type: "email", url_file: "mail", from: "tocsin@example.org", to }
        const long = expectError(yield* change("PUT", "mail", { receiver: mail }), 409, "conflict")
        assert.strictEqual(long.length, 1_000)
        const unknown = { ...CHAT, colour: "y".repeat(300_000) }
        const tried = yield* operate("POST", "/ops/v1/receivers/chat/try", { json: { receiver: unknown } })
        for (const refused of [tried, yield* change("PUT", "chat", { receiver: unknown })]) {
          const message = expectError(refused, 400, "validation")
          assert.include(message, "is not a known field")
          assert.isBelow(message.length, 1_000)
        }
      }),
      { notifiers },
    ),
  )

  it.live("versions are listed without their texts, and read one by one", () =>
    served(
      Effect.gen(function* () {
        yield* apply("routes: [] # one\n")
        yield* apply("routes: [] # two\n")
        const { body } = yield* operate("GET", "/ops/v1/policy/versions?without_texts=true")
        const brief = Object(body).items.map((item: object) => [Object(item).version, "text" in item])
        assert.deepStrictEqual(brief, [
          [2, false],
          [1, false],
        ])
        const one = yield* operate("GET", "/ops/v1/policy/versions?version=1")
        assert.deepStrictEqual(
          Object(one.body)
            .items.map(Object)
            .map(({ text }: { text: string }) => text),
          ["routes: [] # one\n"],
        )
        assert.strictEqual((yield* operate("GET", "/ops/v1/policy/versions?version=9")).text, '{"items":[]}')
        expectError(yield* operate("GET", "/ops/v1/policy/versions?version=0"), 400, "validation")
      }),
    ),
  )
})
