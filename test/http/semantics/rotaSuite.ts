import { assert } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { Override, RotaPlan } from "@tocsin/client/Resources"
import type { DeliveryResult, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Duration, Effect, Queue } from "effect"
import ICAL from "ical.js"
import { addOperator, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { openStream } from "../client/openStream.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

const PUBLIC = "https://tocsin.example/base"
const NIGHT = { hours: "22:00-07:00", tz: "UTC", below: "critical" } as const
const receiver = { kind: "messenger", url_env: "URL" } as const

const POLICY: PolicyDocument = {
  receivers: {
    ann: receiver,
    ann_mail: { ...receiver, quiet: NIGHT },
    bob: receiver,
    carl: { ...receiver, shadow: true },
    dora: receiver,
  },
  rotas: {
    primary: { order: [["ann", "ann_mail"], "bob"], every: Duration.days(7), from: "2026-01-05T09:00" },
    hourly: { order: ["ann", "bob"], every: Duration.hours(1), from: "2026-01-05T00:00" },
    odd: { order: ["carl", "dora"], every: Duration.days(1), from: "2026-01-05T00:00" },
  },
  routes: [{ to: ["bob"] }],
}

const notifier: Notifier = {
  kind: "messenger",
  send: () => Effect.succeed({ outcome: "delivered" }),
  test: Effect.die("nobody tests here"),
}

/** No server can use `dora`. */
const OPTIONS: TocsinOptions = {
  linkKey: "5a".repeat(32),
  notifiers: new Map(["ann", "ann_mail", "bob", "carl"].map((name) => [name, notifier])),
  rules: { publicUrl: PUBLIC, policy: POLICY, failedAuthenticationRate: { perMinute: 1, burst: 3 } },
}

/** A time by the service's clock. */
const inHours = (hours: number) =>
  Effect.map(Tocsin, ({ clock }) => {
    const now = Instant.fromNanos(clock.currentTimeNanosUnsafe())
    return Instant.format(Instant.plus(now, Duration.hours(hours)))
  })

const overrideOf = Effect.fnUntraced(function* (body: object, rota = "primary") {
  const { body: answer, status } = yield* operate("POST", `/ops/v1/rotas/${rota}/overrides`, {
    body: JSON.stringify(body),
  })
  assert.strictEqual(status, 201, JSON.stringify(answer))
  return answer as Override
})

const planOf = Effect.fnUntraced(function* (rota: string, query = "") {
  const { body, status } = yield* operate("GET", `/ops/v1/rotas/${rota}${query}`)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body as RotaPlan
})

const create = (body: object, rota = "primary") =>
  operate("POST", `/ops/v1/rotas/${rota}/overrides`, { body: JSON.stringify(body) })

/** Rotas and their overrides over HTTP (docs/rules.md#on-call). */
export const rotaSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)
  const onCall = (name: string, run: () => Effect.Effect<void, never, Tocsin>) => scenario(name, run, OPTIONS)

  onCall("an override takes a rota over until it ends or is ended", () =>
    Effect.gen(function* () {
      const to = yield* inHours(2)
      const made = yield* overrideOf({ to, receivers: ["bob", "ann"], note: "a wedding" })
      assert.deepInclude(made, {
        rota: "primary",
        state: "active",
        receivers: ["bob", "ann"],
        missing: [],
        note: "a wedding",
        left_out: ["ann_mail"],
      })
      const plan = yield* planOf("primary")
      assert.deepInclude(plan.now, { receivers: ["bob", "ann"], by: "override", until: to })
      assert.strictEqual(plan.next?.by, "turn")
      const [first, second] = plan.turns
      assert.deepInclude(first, { receivers: ["bob", "ann"], by: "override", to })
      assert.deepInclude(second, { from: to, by: "turn" })
      assert.deepStrictEqual(plan.overrides, [made])
      const listed = yield* operate("GET", "/ops/v1/rotas/primary/overrides")
      assert.deepStrictEqual(listed.body, { items: [made] })
      const rotas = (yield* operate("GET", "/ops/v1/rotas")).body as {
        readonly items: ReadonlyArray<{ readonly name: string; readonly now: { readonly by: string } }>
      }
      assert.deepStrictEqual(
        rotas.items.map(({ name, now }) => `${name} ${now.by}`),
        ["primary override", "hourly turn", "odd turn"],
      )
      // Another operator may end it.
      const token = yield* addOperator("eva", "respond")
      const end = call("DELETE", `/ops/v1/rotas/primary/overrides/${made.id}`, { token })
      assert.deepStrictEqual((yield* end).body, { count: 1 })
      assert.deepStrictEqual((yield* end).body, { count: 0 })
      const after = yield* planOf("primary")
      assert.strictEqual(after.now.by, "turn")
      assert.deepStrictEqual(after.overrides, [])
      const past = yield* operate("GET", `/ops/v1/rotas/primary/overrides?from=${yield* inHours(-1)}`)
      assert.deepInclude((past.body as { readonly items: ReadonlyArray<unknown> }).items[0], {
        id: made.id,
        state: "ended",
      })
      const { body } = yield* operate("GET", "/ops/v1/audit")
      const { items } = body as { readonly items: ReadonlyArray<{ readonly action: string }> }
      assert.deepStrictEqual(
        items.map(({ action }) => action).filter((action) => action.startsWith("override")),
        ["override.ended", "override.created"],
      )
    }),
  )

  onCall("an override is created once by one idempotency key, and announced", () =>
    Effect.gen(function* () {
      const { uiToken } = yield* Tocsin
      const { events } = yield* openStream(uiToken)
      const body = JSON.stringify({ to: yield* inHours(2), receivers: ["bob"] })
      const headers = { "idempotency-key": "one" }
      const once = operate("POST", "/ops/v1/rotas/primary/overrides", { body, headers })
      const [first, second] = [yield* once, yield* once]
      assert.deepStrictEqual([first.status, second.status], [201, 201])
      assert.deepStrictEqual(first.body, second.body)
      assert.lengthOf((yield* planOf("primary")).overrides, 1)
      assert.include((yield* Queue.take(events)).topics, "rotas")
      const text = JSON.stringify({
        receivers: { ann: { kind: "debug" } },
        rotas: { primary: { order: ["ann"], every: "7d", from: "2026-01-05T09:00" } },
      })
      const { body: checked } = yield* operate("POST", "/ops/v1/policy/check", { body: text })
      const { warnings } = checked as {
        readonly warnings: ReadonlyArray<{ readonly path: string; readonly message: string }>
      }
      assert.deepStrictEqual(
        warnings
          .filter(({ path }) => path.startsWith("rotas"))
          .map(({ message, path }) => `${path} ${/lacks \w+|no route names/.exec(message)?.[0]}`),
        ["rotas.primary no route names", "rotas.primary lacks bob"],
      )
    }).pipe(Effect.scoped),
  )

  onCall("an override is refused that nobody could mean", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const to = yield* inHours(2)
      const refusals: ReadonlyArray<readonly [body: object, status: 400 | 409, message: RegExp]> = [
        [{ to, receivers: [] }, 400, /receivers/],
        [{ to, receivers: ["ann", "ann"] }, 400, /receivers/],
        [{ to, receivers: ["a", "b", "c", "d", "e", "f"] }, 400, /receivers/],
        [{ to, receivers: ["eve"] }, 400, /no receiver has the name eve/],
        [{ to, receivers: ["primary"] }, 400, /no receiver has the name primary/],
        [{ to, receivers: ["bob", "carl"] }, 409, /carl is a shadow/],
        [{ to, receivers: ["dora"] }, 409, /no running server can use the receiver dora/],
        [{ to: yield* inHours(-1), receivers: ["bob"] }, 400, /to must be in the future/],
        [{ from: yield* inHours(-1), to, receivers: ["bob"] }, 400, /a minute in the past/],
        [{ to: yield* inHours(24 * 31 + 1), receivers: ["bob"] }, 400, /31 days/],
      ]
      for (const [body, status, message] of refusals) {
        const answer = yield* create(body)
        expectError(answer, status, status === 400 ? "validation" : "conflict")
        assert.match(answer.text, message)
      }
      expectError(yield* create({ to, receivers: ["bob"] }, "tertiary"), 404, "not_found")
      expectError(yield* operate("GET", "/ops/v1/rotas/tertiary"), 404, "not_found")
      const forbidden = call("POST", "/ops/v1/rotas/primary/overrides", {
        token: readToken,
        body: JSON.stringify({ to, receivers: ["bob"] }),
      })
      expectError(yield* forbidden, 403, "forbidden")
      assert.deepStrictEqual((yield* planOf("primary")).overrides, [])
    }),
  )

  onCall("turns are shown for a year and a thousand at most, with what is wrong with them", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const from = "2026-01-05T09:00:00.000Z"
      const { turns } = yield* planOf("primary", `?from=${from}&to=2026-01-19T10:00:00Z`)
      assert.deepStrictEqual(turns as ReadonlyArray<unknown>, [
        { from, to: "2026-01-12T09:00:00.000Z", receivers: ["ann", "ann_mail"], by: "turn" },
        { from: "2026-01-12T09:00:00.000Z", to: "2026-01-19T09:00:00.000Z", receivers: ["bob"], by: "turn" },
        {
          from: "2026-01-19T09:00:00.000Z",
          to: "2026-01-19T10:00:00.000Z",
          receivers: ["ann", "ann_mail"],
          by: "turn",
        },
      ])
      const thousand = yield* planOf("hourly", "?from=2026-01-05T00:00:00Z&to=2026-02-15T16:00:00Z")
      assert.lengthOf(thousand.turns, 1_000)
      for (const query of [
        "hourly?from=2026-01-05T00:00:00Z&to=2026-02-15T17:00:00Z",
        "primary?from=2026-01-05T00:00:00Z&to=2027-01-07T00:00:00Z",
        "primary?from=2026-01-05T00:00:00Z&to=2026-01-05T00:00:00Z",
      ])
        expectError(yield* operate("GET", `/ops/v1/rotas/${query}`), 400, "validation")
      const reasons = (gaps: RotaPlan["gaps"]) =>
        new Set(gaps.map(({ reason, receiver }) => `${receiver} ${reason}`))
      assert.deepStrictEqual(
        reasons((yield* planOf("odd")).gaps),
        new Set(["carl shadow", "dora unavailable"]),
      )
      assert.deepStrictEqual(reasons((yield* planOf("primary")).gaps), new Set(["ann_mail quiet"]))
      assert.deepStrictEqual((yield* planOf("primary", `?from=${from}&to=2026-01-19T10:00:00Z`)).gaps, [])
      const { body } = yield* call("GET", "/ops/v1/rotas/primary", { token: readToken })
      assert.notProperty(body, "calendar")
    }),
  )

  onCall("a calendar is read by its token alone", () =>
    Effect.gen(function* () {
      const { observatory } = yield* Tocsin
      const [from, to] = [yield* inHours(1), yield* inHours(3)]
      yield* overrideOf({ from, to, receivers: ["bob", "ann"], note: "a wedding" })
      const span = `?from=${yield* inHours(-24 * 31)}&to=${yield* inHours(24 * 93)}`
      const { calendar = "", turns } = yield* planOf("primary", span)
      assert.match(calendar, /^https:\/\/tocsin\.example\/base\/on-call\/[0-9a-f]{64}\.ics$/)
      const path = calendar.slice(PUBLIC.length)
      // Nothing else may show it from now on.
      observatory.forbid(path.slice("/on-call/".length, -".ics".length))
      const { headers, status, text } = yield* call("GET", path)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "text/calendar; charset=utf-8")
      assert.notMatch(text, /wedding|override|turn\b/)
      const read = new ICAL.Component(ICAL.parse(text))
      for (const name of ["name", "x-wr-calname"])
        assert.strictEqual(read.getFirstPropertyValue(name), "On call: primary")
      const events = read.getAllSubcomponents("vevent").map((event) => new ICAL.Event(event))
      const seconds = (at: unknown) => String(at).slice(0, 19)
      // The first and the last turn are whole in the calendar.
      const middle = turns
        .slice(1, -1)
        .map((turn) => [seconds(turn.from), seconds(turn.to), turn.receivers.join(", ")])
      const shown = events.map(({ endDate, startDate, summary }) => [
        seconds(startDate.toJSDate().toISOString()),
        seconds(endDate.toJSDate().toISOString()),
        summary,
      ])
      for (const turn of middle) assert.deepInclude(shown, turn)
      assert.lengthOf(new Set(events.map(({ uid }) => uid)), events.length)
      assert.strictEqual(headers["cache-control"], "private, no-cache")
      assert.strictEqual((yield* call("GET", path)).text, text)
      // Thunderbird 153 names a calendar by the last part of its address.
      const named = path.replace(/\.ics$/, "/primary.ics")
      assert.strictEqual((yield* call("GET", named)).text, text)
      assert.strictEqual((yield* call("HEAD", path)).status, 200)
      const same = yield* call("GET", named, { headers: { "if-none-match": String(headers["etag"]) } })
      assert.deepStrictEqual([same.status, same.text], [304, ""])
      const { headers: zipped } = yield* call("GET", path, { headers: { "accept-encoding": "gzip" } })
      assert.deepStrictEqual([zipped["content-encoding"], zipped["etag"]], ["gzip", headers["etag"]])
      for (const unknown of [
        path.replace(/[0-9a-f]{64}/, "0".repeat(64)),
        path.replace(".ics", ""),
        named.replace("primary", "hourly"),
        named.replace(".ics", ""),
        named.replace("/primary.ics", "/.ics"),
        "/on-call/.ics",
        "/on-call/x.ics",
      ]) {
        const answer = yield* call("GET", unknown)
        assert.strictEqual(answer.status, 404)
        assert.include(answer.text, "This calendar is not known.")
      }
    }),
  )

  let answer: DeliveryResult = { outcome: "delivered" }
  const fickle: Notifier = {
    kind: "messenger",
    send: () => Effect.sync(() => answer),
    test: Effect.sync(() => ({ result: answer, status: undefined })),
  }
  scenario(
    "a receiver on call that refused the last message for good is a gap until it takes a message or a test",
    () =>
      Effect.gen(function* () {
        const gaps = Effect.map(planOf("primary"), ({ gaps: found }) =>
          found.filter(({ reason }) => reason === "refused").map(({ message }) => message),
        )
        const until = Effect.fnUntraced(function* (state: string, count: number) {
          while ((yield* itemsOf(`/api/v1/notifiers/outbox?state=${state}`)).length < count)
            yield* Effect.sleep("5 millis")
        })
        const tested = Effect.map(operate("POST", "/ops/v1/notifiers/bob/test"), ({ status }) => status)
        const agent = yield* acceptedAgent()
        const turns = (status: string, second: number) =>
          push(
            agent,
            event({
              status,
              exit_code: status === "ok" ? 0 : 2,
              observed_at: `2026-03-01T12:00:0${second}Z`,
            }),
          )
        answer = { outcome: "refused", error: "the receiver answered 404" }
        yield* turns("critical", 1)
        yield* until("failed", 1)
        const found = yield* gaps
        assert.isAbove(found.length, 0)
        assert.deepStrictEqual(
          new Set(found),
          new Set([
            "bob refused the last message for good (the receiver answered 404): correct it, and send a test",
          ]),
        )
        assert.strictEqual(yield* tested, 200)
        assert.isAbove((yield* gaps).length, 0)
        // Nothing is owed any more.
        yield* turns("ok", 2)
        answer = { outcome: "delivered" }
        yield* tested
        assert.deepStrictEqual(yield* gaps, [])
        answer = { outcome: "refused", error: "the receiver answered 410" }
        yield* turns("critical", 3)
        yield* until("failed", 2)
        assert.isAbove((yield* gaps).length, 0)
        answer = { outcome: "delivered" }
        yield* turns("ok", 4)
        yield* turns("critical", 5)
        yield* until("sent", 1)
        assert.deepStrictEqual(yield* gaps, [])
      }),
    { ...OPTIONS, notifiers: new Map([...(OPTIONS.notifiers ?? []), ["bob", fickle]]) },
  )
}
