import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { addOperator, type Call, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { acceptedAgent, block, newAgent, pendingAgent } from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { onStorage } from "../onStorage.ts"

const WATCHES = "/ops/v1/watches"
const HOME = `${WATCHES}/home`
const SECRET = "Basic c2VjcmV0OnNlY3JldA=="

const messageOf = (text: string): string => JSON.parse(text).error.message

/** Watches, as operators define them (docs/rules.md#watches). */
export const watchSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a trial takes a watch as it would be created, and refuses what its creation refuses", () =>
    Effect.gen(function* () {
      const probe = { tcp: { host: "home.example", port: 443 } }
      const whole = { name: "home", every: "90s", confirm: { bad: 3, good: 2 }, ...probe }
      // This process probes nothing.
      for (const json of [whole, probe, { ...probe, every: "1d" }])
        expectError(yield* operate("POST", `${WATCHES}/try`, { json }), 409, "conflict")
      for (const wrong of [
        { every: "1s" },
        { every: 90 },
        { confirm: { bad: 11 } },
        { confirm: { worst: 1 } },
        { labels: { team: 7 } },
        { from: [] },
        { from: ["here", "here"] },
        { from: ["no name"] },
        { fails: "most" },
        { fails: 0 },
        { name: "no name" },
        { is_paused: true },
        { dns: { name: "home.example" } },
        { tcp: { host: "home.example", port: 443, timeout: "1d" } },
      ]) {
        const json = { ...whole, ...wrong }
        const tried = yield* operate("POST", `${WATCHES}/try`, { json })
        const created = yield* operate("POST", WATCHES, { json })
        assert.strictEqual(tried.status, 400, JSON.stringify(wrong))
        assert.strictEqual(messageOf(tried.text), messageOf(created.text))
      }
      assert.containSubset((yield* operate("GET", WATCHES)).body, { items: [] })
    }),
  )

  scenario(
    "a watch is shown with its defaults, and without its header fields",
    () =>
      Effect.gen(function* () {
        const http = { url: "https://home.example/", timeout: "5s" }
        const json = { name: "home", http: { ...http, headers: { authorization: SECRET } } }
        const created = yield* operate("POST", WATCHES, { json })
        assert.strictEqual(created.status, 201, created.text)
        assert.containSubset(created.body, {
          name: "home",
          every: "1m",
          confirm: { bad: 2, good: 1 },
          http,
          is_paused: false,
          status: null,
          last: null,
        })
        for (const answer of [created, yield* operate("GET", HOME), yield* operate("GET", WATCHES)])
          assert.notInclude(answer.text, SECRET)
        assert.containSubset(created.body, { secrets: ["headers.authorization"] })
        const changed = yield* operate("PATCH", HOME, { json: { every: "90s", confirm: { bad: 3 } } })
        assert.containSubset(changed.body, { every: "90s", confirm: { bad: 3, good: 1 }, http })
        const replaced = yield* operate("PATCH", HOME, { json: { tcp: { host: "home.example", port: 443 } } })
        assert.containSubset(replaced.body, { every: "90s", tcp: { host: "home.example", port: 443 } })
        assert.notProperty(replaced.body, "http")
        const { body } = yield* operate("GET", WATCHES)
        assert.containSubset(body, { items: [{ name: "home", every: "90s" }] })
        assert.deepStrictEqual((yield* operate("DELETE", HOME)).body, { count: 1 })
        expectError(yield* operate("GET", HOME), 404, "not_found")
      }),
    { secretsKey: "5a".repeat(32) },
  )

  scenario(
    "a changed probe keeps its secrets where the scheme, host and port stay, unless it states some",
    () =>
      Effect.gen(function* () {
        const url = "https://home.example/api"
        const http = { url, method: "POST", body: { query: SECRET }, auth: { bearer: SECRET } }
        const created = yield* operate("POST", WATCHES, { json: { name: "home", http } })
        assert.strictEqual(created.status, 201, created.text)
        assert.containSubset(created.body, { secrets: ["auth", "body"] })
        const changed = Effect.fnUntraced(function* (json: object) {
          const { body, text } = yield* operate("PATCH", HOME, { json: { http: json } })
          assert.notInclude(text, SECRET)
          return Object(body).secrets
        })
        assert.deepStrictEqual(yield* changed({ url: "https://HOME.example:443/other", method: "PUT" }), [
          "auth",
          "body",
        ])
        assert.deepStrictEqual(yield* changed({ url, headers: { "x-k": "other", a: "b" } }), [
          "headers.x-k",
          "headers.a",
        ])
        for (const other of [
          "http://home.example/",
          "https://home.example:444/",
          "https://home.example.org/",
        ]) {
          yield* changed({ url, headers: { "x-k": "other" } })
          assert.isUndefined(yield* changed({ url: other }), other)
        }
      }),
    { secretsKey: "5a".repeat(32) },
  )

  scenario("a probe whose options contradict each other is refused by the name of one", () =>
    Effect.gen(function* () {
      const url = "https://home.example/"
      for (const [options, message] of [
        [{ url, status: 200 }, /^http\.status must be an array with a length of at most 100$/],
        [{ url, expect: { json: { "/a": [] } } }, /^http\.expect\.json\["\/a"\] must be a text, a number/],
        [
          { url, expect: { status: ["300-200"] } },
          /^http\.expect\.status\[0\] must begin with its lower end$/,
        ],
        [{ url, expect: { other: 1 } }, /^http\.expect\.other is not a known field$/],
        [{ url, time: { warning: "3s", critical: "1s" } }, /^http\.time\.warning must not be more/],
        [{ url, days: { warning: 14, critical: 20 } }, /^http\.days\.warning must not be less than critical/],
        [{ url, body: "a" }, /^http\.body needs a method/],
        [{ url, auth: {} }, /^http\.auth must have either/],
      ] as const) {
        const { status, text } = yield* operate("POST", WATCHES, { json: { name: "home", http: options } })
        assert.strictEqual(status, 400, text)
        assert.match(messageOf(text), message)
      }
    }),
  )

  scenario("header fields need a key that encrypts them", () =>
    Effect.gen(function* () {
      const http = { url: "https://home.example/", headers: { authorization: SECRET } }
      const message = expectError(
        yield* operate("POST", WATCHES, { json: { name: "home", http } }),
        409,
        "conflict",
      )
      assert.match(message, /set SERVICE_SECRETS_KEY/)
      assert.strictEqual(
        (yield* operate("POST", WATCHES, { json: { name: "home", http: { url: http.url } } })).status,
        201,
      )
      expectError(yield* operate("PATCH", HOME, { json: { http } }), 409, "conflict")
    }),
  )

  scenario(
    "an agent asks for the watches that name it, with their secrets if it asks for these",
    () =>
      Effect.gen(function* () {
        const berlin = yield* acceptedAgent("berlin")
        const path = "/ops/v1/agents/berlin/watches"
        const ask = (made: Call = {}, secrets = "") =>
          call("GET", path + secrets, { token: berlin.key, ...made })
        const url = "https://home.example/"
        const http = { url, headers: { "x-key": SECRET } }
        const json = {
          name: "home",
          every: "30s",
          http,
          from: ["here", "berlin"],
          fails: 2,
          labels: { team: "web" },
        }
        const created = yield* operate("POST", WATCHES, { json })
        assert.containSubset(created.body, { from: ["here", "berlin"], fails: 2, labels: { team: "web" } })
        yield* operate("POST", WATCHES, { json: { name: "other", http: { url } } })
        const first = yield* ask()
        assert.strictEqual(first.headers["cache-control"], "no-store")
        const item = {
          name: "home",
          every: "30s",
          confirm: { bad: 2, good: 1 },
          http: { url },
          secrets: ["headers.x-key"],
        }
        assert.deepStrictEqual<unknown>(first.body, { items: [item] })
        const { etag } = first.headers
        const same = yield* ask({ headers: { "if-none-match": etag } })
        assert.deepStrictEqual([same.status, same.text, same.headers.etag], [304, "", etag])
        const told = yield* ask({}, "?secrets=true")
        assert.deepStrictEqual<unknown>(told.body, { items: [{ ...item, http }] })
        // Another secret is another answer, also without it.
        yield* operate("PATCH", HOME, { json: { http: { url, headers: { "x-key": "other" } } } })
        const changed = yield* ask({ headers: { "if-none-match": etag } })
        assert.strictEqual(changed.status, 200)
        assert.deepStrictEqual(changed.body, first.body)
        yield* operate("POST", `${HOME}/pause`, { json: { for: "1h" } })
        assert.deepStrictEqual<unknown>((yield* ask()).body, { items: [] })
        const shown = yield* operate("GET", HOME)
        assert.containSubset(shown.body, {
          places: [
            { place: "here", status: null, at: null, counts: false },
            { place: "berlin", status: null, at: null, counts: false },
          ],
        })

        for (const token of [undefined, (yield* Tocsin).uiToken])
          expectError(yield* ask({ token }), 401, "unauthorized")
        const [oslo, other] = [yield* pendingAgent("oslo"), yield* acceptedAgent("rome")]
        expectError(yield* ask({ token: other.key }), 403, "agent_not_accepted")
        expectError(yield* ask({ token: newAgent().key }), 403, "agent_not_accepted")
        expectError(
          yield* call("GET", "/ops/v1/agents/oslo/watches", { token: oslo.key }),
          403,
          "agent_not_accepted",
        )
        yield* block(berlin)
        expectError(yield* ask(), 403, "agent_blocked")
      }),
    { secretsKey: "5a".repeat(32) },
  )

  scenario("the places of a watch are named, and no more must fail than there are", () =>
    Effect.gen(function* () {
      const tcp = { host: "home.example", port: 443 }
      const refused = Effect.fnUntraced(function* (more: object, message: RegExp) {
        const { status, text } = yield* operate("POST", WATCHES, { json: { name: "home", tcp, ...more } })
        assert.strictEqual(status, 400, text)
        assert.match(messageOf(text), message)
      })
      yield* refused({ fails: 2 }, /^fails must not be more than the 1 of from$/)
      yield* refused({ from: ["here", "a", "b"], fails: 4 }, /^fails must not be more than the 3 of from$/)
      yield* refused({ fails: 1.5 }, /^fails must be majority, any, all, or a whole number/)
      yield* refused({ from: ["a", "a"] }, /^from must be 1 to 10 different names/)
      yield* refused({ name: "n".repeat(123), from: ["a"] }, /^name must have at most 122 characters/)
      const long = { name: "n".repeat(128), tcp }
      assert.strictEqual((yield* operate("POST", WATCHES, { json: long })).status, 201)
      const json = { name: "home", tcp, from: ["a", "b"], fails: 2 }
      assert.strictEqual((yield* operate("POST", WATCHES, { json })).status, 201)
      expectError(yield* operate("PATCH", HOME, { json: { from: ["a"] } }), 400, "validation")
      const changed = yield* operate("PATCH", HOME, { json: { from: ["a"], fails: "any" } })
      assert.containSubset(changed.body, { from: ["a"], fails: "any", tcp })
      const audited = yield* operate("GET", "/ops/v1/audit?action=watch.changed")
      assert.lengthOf(Object(audited.body).items, 1)
    }),
  )

  scenario("a pause until a watch is resumed is an admin's; one for a time is of all who may respond", () =>
    Effect.gen(function* () {
      const tcp = { host: "home.example", port: 443 }
      yield* operate("POST", WATCHES, { json: { name: "home", tcp } })
      const token = yield* addOperator("ann", "respond")
      const pauses = (time: string) => call("POST", `${HOME}/pause`, { token, json: { for: time } })
      const end = Effect.map(operate("GET", HOME), (answer) => {
        const { is_paused, paused_until } = Object(answer.body)
        return is_paused === true && (paused_until ?? "resumed by an admin")
      })
      assert.strictEqual((yield* pauses("1h")).status, 200)
      assert.match(String(yield* end), /^20/)
      assert.strictEqual((yield* pauses("0s")).status, 200)
      assert.isFalse(yield* end)
      yield* operate("PATCH", HOME, { json: { is_paused: true } })
      for (const time of ["0s", "1h"]) expectError(yield* pauses(time), 409, "conflict")
      assert.strictEqual(yield* end, "resumed by an admin")
      yield* operate("POST", `${HOME}/pause`, { json: { for: "0s" } })
      assert.isFalse(yield* end)
    }),
  )

  scenario("a watch has one probe, a name of its own and bounded times", () =>
    Effect.gen(function* () {
      const tcp = { host: "home.example", port: 443 }
      const refused = Effect.fnUntraced(function* (json: object) {
        expectError(yield* operate("POST", WATCHES, { json }), 400, "validation")
      })
      yield* refused({ name: "home" })
      yield* refused({ name: "home", tcp, dns: { name: "home.example" } })
      yield* refused({ name: "home", tcp, every: "9s" })
      yield* refused({ name: "home", tcp, confirm: { bad: 0 } })
      yield* refused({ name: "a b", tcp })
      yield* refused({ name: "home", tcp: { ...tcp, host: "a b" } })
      yield* refused({ name: "home", http: { url: "https://me:secret@home.example/" } })
      yield* refused({ name: "home", tcp, method: "GET" })
      assert.strictEqual((yield* operate("POST", WATCHES, { json: { name: "home", tcp } })).status, 201)
      expectError(yield* operate("POST", WATCHES, { json: { name: "home", tcp } }), 409, "conflict")
      expectError(yield* operate("POST", `${HOME}/pause`, { json: { for: "25h" } }), 400, "validation")
      const paused = yield* operate("POST", `${HOME}/pause`, { json: { for: "24h" } })
      assert.containSubset(paused.body, { is_paused: true })
      const forever = yield* operate("PATCH", HOME, { json: { is_paused: true } })
      assert.containSubset(forever.body, { is_paused: true, paused_until: null })
      const resumed = yield* operate("POST", `${HOME}/pause`, { json: { for: "0s" } })
      assert.containSubset(resumed.body, { is_paused: false })
    }),
  )
}
