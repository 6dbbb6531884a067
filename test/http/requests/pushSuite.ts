import { assert, it } from "@effect/vitest"
import { browser } from "@tocsin/adapter-notify/push/browser"
import { pushService } from "@tocsin/adapter-notify/push/pushService"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Duration, Effect, Fiber, Queue } from "effect"
import { makeBrowser } from "../../../packages/adapter-notify/test/push/PushBrowser.ts"
import { startPushServer } from "../../../packages/adapter-notify/test/push/PushServer.ts"
import { until } from "../../processes/until.ts"
import { AT_LENGTH } from "../../properties/atLength.ts"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { acceptedAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { turns } from "../semantics/linkSuite.ts"
import { newToken } from "../service/Observatory.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

const SUBSCRIPTIONS = "/ops/v1/subscriptions"
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"
const KEY = "5a".repeat(32)

const makeOperator = Effect.fnUntraced(function* (name: string, role: string) {
  const { body } = yield* operate("POST", "/ops/v1/operators", { json: { name, role } })
  return (body as { readonly token: string }).token
})

const add = (token: string, json: object) =>
  call("POST", SUBSCRIPTIONS, { token, json, headers: { "user-agent": AGENT } })

const idOf = ({ body }: { readonly body: unknown }): string => (body as { readonly id: string }).id

const listed = (token: string, query = "") =>
  Effect.map(
    call("GET", `${SUBSCRIPTIONS}${query}`, { token }),
    ({ body }) => (body as { readonly items: ReadonlyArray<Record<string, unknown>> }).items,
  )

const servedBy = (services: ReadonlyArray<string>, more: Partial<Parameters<typeof pushService>[0]> = {}) =>
  pushService({
    contact: () => "mailto:ops@example.org",
    denyPrivateTargets: false,
    mayReachLoopback: true,
    services,
    ...more,
  })

const acknowledge = Duration.hours(1)

const ringingBy = (push: ReturnType<typeof pushService>): TocsinOptions => ({
  secretsKey: KEY,
  linkKey: KEY,
  push,
  notifiers: new Map([["phones", browser("ann")]]),
  rules: {
    policy: { receivers: { phones: { kind: "messenger", type: "browser", operator: "ann", acknowledge } } },
  },
})

/** Browsers that get notifications, over HTTP (docs/rules.md#browsers). */
export const pushSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario, tocsin } = onStorage(subject)
  const withPush = (
    name: string,
    services: ReadonlyArray<string>,
    run: () => Effect.Effect<void, never, Tocsin>,
  ) => scenario(name, run, { secretsKey: KEY, push: servedBy(services) })

  withPush("each role has its own browsers, and an admin everybody's", ["https://push.example"], () =>
    Effect.gen(function* () {
      const { observatory, readToken, uiToken } = yield* Tocsin
      const [ann, bob, eve] = [
        yield* makeOperator("ann", "read"),
        yield* makeOperator("bob", "respond"),
        yield* makeOperator("eve", "admin"),
      ]
      const keys = makeBrowser()
      const given = (path: string) => ({
        endpoint: `https://push.example/${path}`,
        expirationTime: null,
        keys: { p256dh: keys.publicKey, auth: keys.auth },
      })
      const state = (yield* call("GET", "/ops/v1/push", { token: ann })).body as Record<string, string>
      assert.deepStrictEqual(Object.keys(state), ["public_key"])
      assert.lengthOf(Buffer.from(state["public_key"] ?? "", "base64url"), 65)
      for (const token of [bob, eve, readToken])
        assert.deepStrictEqual((yield* call("GET", "/ops/v1/push", { token })).body, state)
      const secret = newToken()
      observatory.forbid(secret)
      observatory.forbid(keys.auth)
      const created = yield* add(ann, given(secret))
      assert.strictEqual(created.status, 201)
      assert.deepInclude(created.body, {
        operator: "ann",
        name: "Firefox on Linux",
        service: "push.example",
        taken_at: null,
        shown_at: null,
        last_error: null,
      })
      const id = idOf(created)
      const again = yield* add(ann, { ...given(secret), name: "My desk" })
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual(again.body, { ...(created.body as object), name: "My desk" })
      const other = idOf(yield* add(bob, given("other")))

      // Who may do what: a row each.
      const isSeen = (items: ReadonlyArray<Record<string, unknown>>) => items.map((row) => row["id"])
      assert.deepStrictEqual(isSeen(yield* listed(ann)), [id])
      assert.deepStrictEqual(isSeen(yield* listed(ann, "?operator=bob")), [])
      assert.deepStrictEqual(isSeen(yield* listed(bob)), [other])
      assert.deepStrictEqual(isSeen(yield* listed(eve)), [other, id])
      assert.deepStrictEqual(isSeen(yield* listed(eve, "?operator=ann")), [id])
      assert.deepStrictEqual(isSeen(yield* listed(readToken)), [])
      expectError(yield* call("DELETE", `${SUBSCRIPTIONS}/${id}`, { token: bob }), 404, "not_found")
      expectError(yield* call("POST", `${SUBSCRIPTIONS}/${id}/test`, { token: bob }), 404, "not_found")
      expectError(yield* call("POST", "/ops/v1/push/key", { token: bob }), 403, "forbidden")
      expectError(yield* call("GET", SUBSCRIPTIONS, {}), 401, "unauthorized")
      const nobody = yield* add(uiToken, given("third"))
      expectError(nobody, 409, "conflict")
      assert.include(nobody.text, "a shared token is nobody's")
      assert.deepInclude((yield* call("DELETE", `${SUBSCRIPTIONS}/${other}`, { token: eve })).body, {
        count: 1,
      })
      assert.deepStrictEqual(isSeen(yield* listed(bob)), [])

      // Another operator's browser leaves the former one.
      const moved = yield* add(bob, given(secret))
      assert.strictEqual(moved.status, 201)
      assert.deepStrictEqual(isSeen(yield* listed(ann)), [])
      const acts = yield* itemsOf("/ops/v1/audit")
      const ofBrowsers = acts.filter((row) => String(row["action"]).startsWith("subscription."))
      assert.deepStrictEqual(
        ofBrowsers
          .map((row) => [row["actor"], row["action"], (row["parameters"] as { operator: string }).operator])
          .toReversed(),
        [
          ["ann", "subscription.created", "ann"],
          ["bob", "subscription.created", "bob"],
          ["eve", "subscription.removed", "bob"],
          ["bob", "subscription.removed", "ann"],
          ["bob", "subscription.created", "bob"],
        ],
      )

      // Another key is bound to no browser.
      const replaced = yield* call("POST", "/ops/v1/push/key", { token: eve })
      assert.notStrictEqual((replaced.body as Record<string, string>)["public_key"], state["public_key"])
      assert.deepStrictEqual(yield* listed(eve), [])
      const [act] = yield* itemsOf("/ops/v1/audit?action=push_key.replaced")
      assert.deepInclude(act, {
        actor: "eve",
        subjects: [{ kind: "push_key", id: "vapid" }],
        parameters: { removed: 1 },
      })
      assert.deepStrictEqual(observatory.leaks, [])
    }),
  )

  withPush("what no browser gives, and what no push service is, is refused", ["https://push.example"], () =>
    Effect.gen(function* () {
      const ann = yield* makeOperator("ann", "read")
      const keys = makeBrowser()
      const given = {
        endpoint: "https://push.example/1",
        expirationTime: null,
        keys: { p256dh: keys.publicKey, auth: keys.auth },
      }
      for (const bad of [
        { ...given, more: 1 },
        { ...given, keys: { ...given.keys, p256dh: "BAAA" } },
        { ...given, keys: { ...given.keys, p256dh: `BA${"A".repeat(85)}` } },
        { ...given, keys: { ...given.keys, auth: "AAAA" } },
        { ...given, keys: { p256dh: keys.publicKey } },
        { ...given, name: "x".repeat(101) },
        { ...given, name: "a\tb" },
        { ...given, name: "a\u202eb" },
        { ...given, endpoint: "" },
      ])
        expectError(yield* add(ann, bad), 400, "validation")
      for (const endpoint of [
        "https://push.example:8443/1",
        "http://push.example/1",
        "https://user@fcm.googleapis.com/1",
        "https://fcm.googleapis.com.example/1",
        "https://fcm.googleapis.com:444/1",
        "http://fcm.googleapis.com/1",
        "https://push.services.mozilla.com.example/1",
        "https://169.254.169.254/1",
        "https://127.0.0.1/1",
        "no address",
      ]) {
        const refused = yield* add(ann, { ...given, endpoint: endpoint.replaceAll(" ", "_") })
        expectError(refused, 409, "conflict")
        assert.include(refused.text, "SERVICE_PUSH_SERVICES")
      }
      for (const endpoint of [
        "https://fcm.googleapis.com/fcm/send/1",
        "https://updates.push.services.mozilla.com/wpush/v2/1",
        "https://web.push.apple.com/1",
        "https://wns2-par02p.notify.windows.com/w/?token=1",
      ])
        assert.strictEqual((yield* add(ann, { ...given, endpoint })).status, 201)
      // An emoji of several code points has format characters.
      for (const name of [
        "\u{1f469}\u200d\u{1f4bb} desk",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}",
        "\u{1f600}".repeat(100),
      ]) {
        const named = yield* add(ann, { ...given, endpoint: "https://fcm.googleapis.com/fcm/send/1", name })
        assert.deepStrictEqual([named.status, (named.body as { readonly name: string }).name], [200, name])
      }
      for (let number = 4; number < 20; number += 1)
        yield* add(ann, { ...given, endpoint: `https://push.example/${number}` })
      const full = yield* add(ann, { ...given, endpoint: "https://push.example/20" })
      expectError(full, 409, "conflict")
      assert.include(full.text, "20 browsers at most")
      assert.strictEqual((yield* add(ann, { ...given, endpoint: "https://push.example/19" })).status, 200)
    }),
  )

  const PROBLEMS = [
    [
      "a contact",
      { secretsKey: KEY, push: servedBy([], { contact: () => undefined }) },
      "SERVICE_PUSH_CONTACT",
    ],
    ["a key of secrets", { push: servedBy([]) }, "SERVICE_SECRETS_KEY"],
  ] as const
  for (const [what, options, setting] of PROBLEMS)
    scenario(
      `without ${what}, the problem names the setting`,
      () =>
        Effect.gen(function* () {
          const [ann, eve] = [yield* makeOperator("ann", "read"), yield* makeOperator("eve", "admin")]
          const { body } = yield* call("GET", "/ops/v1/push", { token: ann })
          assert.deepStrictEqual(Object.keys(body as object), ["problem"])
          assert.include((body as { problem: string }).problem, setting)
          const keys = makeBrowser()
          const given = {
            endpoint: "https://fcm.googleapis.com/1",
            keys: { p256dh: keys.publicKey, auth: keys.auth },
          }
          const refused = yield* add(ann, given)
          expectError(refused, 409, "conflict")
          assert.include(refused.text, setting)
          expectError(yield* call("POST", "/ops/v1/push/key", { token: eve }), 409, "conflict")
        }),
      options,
    )

  scenario(
    "loopback needs its setting",
    () =>
      Effect.gen(function* () {
        const ann = yield* makeOperator("ann", "read")
        const keys = makeBrowser()
        const refused = yield* add(ann, {
          endpoint: "http://127.0.0.1:9000/1",
          keys: { p256dh: keys.publicKey, auth: keys.auth },
        })
        expectError(refused, 409, "conflict")
        assert.include(refused.text, "SERVICE_WATCH_LOOPBACK=true")
      }),
    { secretsKey: KEY, push: servedBy(["http://127.0.0.1:9000"], { mayReachLoopback: false }) },
  )

  withPush(
    "browsers leave with their operator, and with a rotation without grace",
    ["https://push.example"],
    () =>
      Effect.gen(function* () {
        const { uiToken } = yield* Tocsin
        const keys = makeBrowser()
        const ofNew = Effect.fnUntraced(function* (name: string) {
          yield* add(yield* makeOperator(name, "read"), {
            endpoint: `https://push.example/${name}`,
            keys: { p256dh: keys.publicKey, auth: keys.auth },
          })
        })
        yield* ofNew("ann")
        yield* ofNew("bob")
        const count = Effect.map(listed(uiToken), ({ length }) => length)
        yield* operate("POST", "/ops/v1/operators/ann/rotate", { json: { grace: "1h" } })
        assert.strictEqual(yield* count, 2)
        yield* operate("POST", "/ops/v1/operators/ann/rotate", { json: { grace: "0s" } })
        assert.strictEqual(yield* count, 1)
        yield* operate("DELETE", "/ops/v1/operators/bob")
        assert.strictEqual(yield* count, 0)
        const removed = yield* itemsOf("/ops/v1/audit?action=subscription.removed")
        assert.lengthOf(removed, 2)
      }),
  )

  const ringsIn = (name: string, run: (ring: Ring) => Effect.Effect<void, never, Tocsin>) =>
    it.live(
      name,
      () =>
        Effect.gen(function* () {
          const server = yield* startPushServer
          const ringing = Effect.gen(function* () {
            yield* run({ ann: yield* makeOperator("ann", "read"), server })
          })
          yield* Effect.provide(ringing, tocsin(ringingBy(servedBy([server.origin]))))
        }),
      30_000,
    )

  ringsIn("a browser rings, acknowledges without a page, and is quiet again", ({ ann, server }) =>
    Effect.gen(function* () {
      const { observatory } = yield* Tocsin
      const agent = yield* acceptedAgent()
      yield* add(yield* makeOperator("bob", "admin"), server.subscribe("bob's"))
      // Without a browser of its operator, what is due waits.
      yield* turns(agent, "critical", { output: "disk full" })
      const waiting = yield* until(
        "the row is there",
        Effect.map(itemsOf("/api/v1/notifiers/outbox"), ([row]) => row ?? false),
      )
      assert.strictEqual(waiting["state"], "pending")
      const desk = idOf(yield* add(ann, server.subscribe("desk")))
      // No other browser gets it: each that follows is named.
      const atDesk = yield* Queue.take(server.arrived)
      assert.strictEqual(atDesk.browser, "desk")
      const { bytes, headers, message } = atDesk
      assert.strictEqual(bytes, 3_103)
      assert.deepInclude(headers, {
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: "86400",
        urgency: "high",
      })
      assert.match(String(headers["topic"]), /^[A-Za-z0-9_-]{32}$/)
      for (const field of ["cookie", "referer", "origin"]) assert.notProperty(headers, field)
      const [, claims = ""] =
        /^vapid t=[^.]+\.([^.]+)\.[^,]+, k=.+$/.exec(String(headers["authorization"])) ?? []
      const { aud, exp, sub } = JSON.parse(Buffer.from(claims, "base64url").toString())
      assert.deepStrictEqual([aud, sub], [server.origin, "mailto:ops@example.org"])
      assert.isNumber(exp)
      const incident = String((yield* itemsOf("/api/v1/incidents"))[0]?.["id"])
      assert.deepInclude(message, {
        tag: incident,
        renotify: true,
        silent: false,
        requireInteraction: true,
        open: `#/incidents/${incident}`,
      })
      assert.include(String(message["title"]), "CRITICAL")
      assert.include(String(message["body"]), "disk full")
      const [link, shown] = [String(message["link"]), String(message["shown"])]
      assert.match(link, /^a\/[0-9a-f]{96}$/)
      assert.match(shown, /^a\/[0-9a-f]{96}\/shown$/)
      observatory.forbid(link.slice(2))

      // A browser that its push service knows no more is removed.
      const phone = idOf(yield* add(ann, { ...server.subscribe("phone"), name: "My phone" }))
      server.answers.set("phone", [410])
      yield* operate("POST", `${SUBSCRIPTIONS}/${phone}/test`)
      // Touching it leads to the page that has the button.
      const told = { tag: "test", open: "#/receivers" }
      assert.deepInclude((yield* Queue.take(server.arrived)).message, told)
      const [row] = yield* listed(ann)
      assert.strictEqual(row?.["id"], desk)
      assert.isString(row?.["taken_at"])
      assert.isNull(row?.["shown_at"])
      assert.strictEqual((yield* call("POST", `/${shown}`)).status, 204)
      assert.isString((yield* listed(ann))[0]?.["shown_at"])
      assert.strictEqual((yield* call("GET", `/${shown}`)).status, 405)
      assert.strictEqual(
        (yield* call("POST", `/${shown.replace(/.(?=\/shown$)/, (c) => (c === "0" ? "1" : "0"))}`)).status,
        404,
      )

      const press = Effect.map(
        call("POST", `/${link}`, { headers: { accept: "application/json" } }),
        ({ body, status }) => [status, (body as { outcome: string }).outcome] as const,
      )
      assert.deepStrictEqual(yield* press, [200, "acknowledged"])
      assert.deepStrictEqual(yield* press, [200, "already"])
      const page = yield* call("POST", `/${link}`, { headers: { accept: "text/html, application/json" } })
      assert.include(page.text, "<!doctype html>")
      const unknown = yield* call("POST", "/a/x", { headers: { accept: "application/json" } })
      assert.deepInclude(unknown.body, { outcome: "unknown" })
      assert.strictEqual(unknown.status, 404)

      yield* turns(agent, "ok")
      const resolved = yield* Queue.take(server.arrived)
      assert.deepInclude(resolved.message, { tag: incident, renotify: false, silent: true })
      assert.notProperty(resolved.message, "link")
      assert.strictEqual(resolved.headers["urgency"], "normal")
      assert.strictEqual(resolved.headers["topic"], headers["topic"])
      assert.deepStrictEqual(yield* press, [410, "ended"])
      yield* call("POST", `${SUBSCRIPTIONS}/${desk}/test`, { token: ann })
      const own = yield* Queue.take(server.arrived)
      assert.deepStrictEqual([own.browser, own.message["tag"]], ["desk", "test"])
      assert.strictEqual(yield* Queue.size(server.arrived), 0)
      assert.deepStrictEqual(observatory.leaks, [])
    }),
  )

  ringsIn("an operator that has expired gets nothing, and what is due waits", ({ ann, server }) =>
    Effect.gen(function* () {
      const { clock, uiToken } = yield* Tocsin
      yield* add(ann, server.subscribe("desk"))
      const [operator] = yield* itemsOf("/ops/v1/operators")
      const expires_at = new Date(Date.parse(String(operator?.["created_at"])) + 3_600_000).toISOString()
      yield* operate("PATCH", "/ops/v1/operators/ann", { json: { expires_at } })
      clock.advance("2 hours")
      const test = yield* call("POST", "/ops/v1/notifiers/phones/test", { token: uiToken })
      assert.include(test.text, "the operator ann has expired")
      yield* turns(yield* acceptedAgent(), "critical")
      const row = yield* until(
        "no attempt is under way",
        Effect.map(itemsOf("/api/v1/notifiers/outbox"), ([one]) => one?.["state"] !== "sending" && one),
      )
      assert.include(["pending", "retry"], row["state"])
      assert.strictEqual(yield* Queue.size(server.arrived), 0)
    }),
  )

  // They wait for second tries, of which storages know nothing.
  if (subject.name !== "memory" && !AT_LENGTH) return

  ringsIn("a browser that leaves during an attempt gets no more, and what is due waits", ({ ann, server }) =>
    Effect.gen(function* () {
      const desk = idOf(yield* add(ann, server.subscribe("desk")))
      const shownAt = Effect.map(listed(ann), ([row]) => row?.["shown_at"])
      const show = Effect.flatMap(Queue.take(server.arrived), ({ message }) =>
        call("POST", `/${String(message["shown"])}`),
      )
      const test = operate("POST", `${SUBSCRIPTIONS}/${desk}/test`)
      yield* test
      yield* show
      const first = yield* shownAt
      assert.isString(first)

      // It shows a test before its push service answers, and within a minute of the last one.
      server.answers.set("desk", [503])
      const testing = yield* Effect.forkChild(test)
      yield* show
      assert.notStrictEqual(yield* shownAt, first)
      yield* Fiber.join(testing)
      yield* Queue.take(server.arrived)

      server.answers.set("desk", [503])
      yield* turns(yield* acceptedAgent(), "critical")
      yield* Queue.take(server.arrived)
      yield* call("DELETE", `${SUBSCRIPTIONS}/${desk}`, { token: ann })
      const row = yield* until(
        "the attempt has ended",
        Effect.map(itemsOf("/api/v1/notifiers/outbox"), ([one]) => one?.["state"] !== "sending" && one),
      )
      assert.strictEqual(row["state"], "retry")
      assert.include(String(row["last_error"]), "no browser is left")
      assert.strictEqual(yield* Queue.size(server.arrived), 0)
      const { clock } = yield* Tocsin
      clock.advance("7 seconds")
      yield* add(ann, server.subscribe("phone"))
      assert.strictEqual((yield* Queue.take(server.arrived)).browser, "phone")
    }),
  )

  ringsIn("an attempt tries each browser twice, and says who failed", ({ ann, server }) =>
    Effect.gen(function* () {
      yield* add(ann, { ...server.subscribe("desk"), name: "My desk" })
      yield* add(ann, { ...server.subscribe("phone"), name: "My phone" })
      const test = Effect.map(operate("POST", "/ops/v1/notifiers/phones/test"), ({ body }) => body)
      server.answers.set("desk", [503])
      server.answers.set("phone", [403])
      const first = (yield* test) as { readonly error: string; readonly outcome: string }
      assert.strictEqual(first.outcome, "delivered")
      assert.match(first.error, /^My phone: its push service answered 403: /)
      const messages = [1, 2, 3].map(() => Queue.take(server.arrived))
      const told = yield* Effect.all(messages)
      assert.deepStrictEqual(told.map((each) => each.browser).toSorted(), ["desk", "desk", "phone"])
      assert.deepInclude(told[0]?.headers, { ttl: "60", urgency: "normal" })
      // Later than the second try: there is none within the attempt.
      server.answers.set("desk", [[429, "60"]])
      server.answers.set("phone", [[503, "30"]])
      const second = (yield* test) as { readonly error: string; readonly outcome: string }
      assert.strictEqual(second.outcome, "deferred")
      assert.notInclude(second.error, "secret of the push service")
      const [desk] = (yield* listed(ann)).filter((row) => row["name"] === "My desk")
      assert.match(String(desk?.["last_error"]), /^its push service answered 429: /)
    }),
  )
}

interface Ring {
  readonly ann: string
  readonly server: Effect.Success<typeof startPushServer>
}
