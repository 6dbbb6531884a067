import { assert } from "@effect/vitest"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect, Result } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { type Item, itemsOf, type Page, pageOf } from "../client/itemsOf.ts"
import { until } from "../../processes/until.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const debug: Notifier = {
  kind: "debug",
  send: () => Effect.succeed({ outcome: "delivered" }),
  test: Effect.die("nobody tests here"),
}
const options = { notifiers: new Map([["debug" as const, debug]]) }

const critical = { status: "critical", exit_code: 2, incident_key: "db" }
const OUTBOX = "/ops/v1/outbox"
const INCIDENTS = "/ops/v1/incidents"

/** An acknowledged incident whose second member has a firing that waits. */
const held = Effect.gen(function* () {
  const agent = yield* acceptedAgent()
  yield* push(agent, event({ ...critical, check_id: "disk", notifications_enabled: false }))
  const [incident] = yield* itemsOf(INCIDENTS)
  const id = String(incident?.["id"])
  const answer = yield* operate("PUT", `${INCIDENTS}/${id}/acknowledgement`, { json: { note: "mine" } })
  assert.strictEqual(answer.status, 200, answer.text)
  yield* push(agent, event({ ...critical, check_id: "cpu" }))
  const [item] = yield* itemsOf(`${OUTBOX}?held=true`)
  return { id, agent, acknowledgement: answer.body as Item, item: item ?? assert.fail("nothing is held") }
})

/** The holds that /ops/v1 shows, and the release of a held notification (docs/rules.md#release). */
export const heldSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario(
    "lists show what withholds incidents and notifications, and until when",
    () =>
      Effect.gen(function* () {
        const { acknowledgement, agent, id, item } = yield* held
        assert.deepInclude(item, {
          incident_id: id,
          state: "pending",
          next_attempt_at: null,
          attempts: 0,
          receiver: "debug",
          notifier: "debug",
          cause: "opened",
          held_by: ["ack"],
          held_until: acknowledgement["until"],
        })
        yield* push(agent, event({ status: "critical", exit_code: 2, check_id: "other" }))
        const [incident] = yield* itemsOf(`${INCIDENTS}?acknowledged=true`)
        assert.deepInclude(incident, { id, acknowledgement, held_by: ["ack"] })
        const [other] = yield* itemsOf(`${INCIDENTS}?acknowledged=false`)
        assert.deepInclude(other, { acknowledgement: null, held_by: [] })
        const [free] = yield* itemsOf(`${OUTBOX}?held=false`)
        assert.deepInclude(free, { incident_id: other?.["id"], held_by: [], held_until: null })

        // Without these fields, and without these filters, the lists are those of v1.
        const v1 = yield* itemsOf("/api/v1/incidents")
        const plain = ({ acknowledgement: _, held_by: __, resolution: ___, title: ____, ...rest }: Item) =>
          rest
        assert.deepStrictEqual((yield* itemsOf(INCIDENTS)).map(plain), v1)
        const shown = (yield* operate("GET", `${INCIDENTS}/${id}`)).body as Item
        assert.deepStrictEqual(shown["held_by"], ["ack"])
        assert.deepStrictEqual(shown["deliveries"], [{ ...item, why: "held by ack" }])
      }),
    options,
  )

  scenario(
    "notifications are listed by their notifier, also one of a program, and by their receiver, page by page",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        for (const check_id of ["disk", "cpu", "memory"])
          yield* push(agent, event({ status: "critical", exit_code: 2, check_id }))
        const receivers = Effect.fnUntraced(function* (filter: string) {
          const found: Array<unknown> = []
          for (let cursor: string | null = ""; cursor !== null;) {
            const from: string = cursor === "" ? "" : `&cursor=${cursor}`
            const page: Page = yield* pageOf(`${OUTBOX}?limit=2&${filter}${from}`)
            found.push(...page.items.map(({ receiver }) => receiver))
            cursor = page.next_cursor
          }
          return found
        })
        const lamps = ["lamp", "lamp", "lamp"]
        assert.deepStrictEqual(yield* receivers("notifier=lamp"), lamps)
        assert.deepStrictEqual(yield* receivers("receiver=lamp&sort=created_at"), lamps)
        assert.deepStrictEqual(yield* receivers("receiver=lamp&notifier=debug"), [])
        assert.deepStrictEqual(yield* receivers("receiver=none"), [])
        expectError(yield* operate("GET", `${OUTBOX}?receiver=A`), 400, "validation")
        expectError(yield* operate("GET", "/api/v1/notifiers/outbox?notifier=lamp"), 400, "validation")
      }),
    { rules: { notifiers: ["debug", "lamp"] } },
  )

  scenario(
    "incidents are listed with their receivers, those that were reached once as such, on request",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const { agent } = yield* held
        yield* push(agent, event({ status: "critical", exit_code: 2, check_id: "other" }))
        const lists = `${INCIDENTS}?with_receivers=true&acknowledged`
        yield* until(
          "it was sent",
          Effect.map(itemsOf(`${OUTBOX}?state=sent`), ({ length }) => length === 1),
        )
        const [other] = yield* itemsOf(`${lists}=false`)
        assert.deepStrictEqual(other?.["receivers"], [{ receiver: "debug", state: "sent", held_by: [] }])
        const [acknowledged] = yield* itemsOf(`${lists}=true`)
        // Its holds are those of the incident.
        assert.deepStrictEqual(acknowledged?.["receivers"], [
          { receiver: "debug", state: "pending", held_by: [] },
        ])
        assert.notProperty((yield* itemsOf(INCIDENTS))[0], "receivers")
        clock.advance("1 second")
        yield* push(agent, event({ status: "ok", exit_code: 0, check_id: "other" }))
        const [resolved] = yield* itemsOf(`${INCIDENTS}?with_receivers=true&state=resolved`)
        assert.deepStrictEqual(resolved?.["receivers"], other?.["receivers"])
        expectError(yield* operate("GET", `${INCIDENTS}?with_receivers=yes`), 400, "validation")
      }),
    options,
  )

  scenario(
    "an incident that is open for long has the silences of its last 31 days",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const agent = yield* acceptedAgent("web-1")
        const silence = (comment: string, length: string) => {
          const matchers = [Result.getOrThrow(parseMatcher("incident_key = db"))]
          return operate("POST", "/ops/v1/silences", { json: { comment, for: length, matchers } })
        }
        yield* push(agent, event({ incident_key: "db", status: "critical", check_id: "disk" }))
        const [incident] = yield* itemsOf(INCIDENTS)
        const shown = Effect.gen(function* () {
          const { body } = yield* operate("GET", `${INCIDENTS}/${String(incident?.["id"])}`)
          const { silences } = body as { readonly silences: ReadonlyArray<Item> }
          return silences.map((one) => [one["comment"], one["state"]])
        })
        yield* silence("at first", "1h")
        clock.advance("1 day")
        yield* silence("long", "30d")
        clock.advance("30 days")
        assert.deepStrictEqual(yield* shown, [
          ["long", "expired"],
          ["at first", "expired"],
        ])
        clock.advance("2 hours")
        yield* silence("now", "1h")
        assert.deepStrictEqual(yield* shown, [
          ["now", "active"],
          ["long", "expired"],
        ])
      }),
    options,
  )

  scenario(
    "an incident has the silences that covered it, also after it resolved",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const agent = yield* acceptedAgent("web-1")
        const silence = Effect.fnUntraced(function* (comment: string, ...texts: ReadonlyArray<string>) {
          const matchers = texts.map((text) => Result.getOrThrow(parseMatcher(text)))
          const { body } = yield* operate("POST", "/ops/v1/silences", {
            json: { comment, for: "1h", matchers },
          })
          return body as Item
        })
        const end = ({ id }: Item) => operate("DELETE", `/ops/v1/silences/${String(id)}`)
        const reports = (minute: number, status: string) =>
          push(
            agent,
            ...["disk", "cpu"].map((check_id) =>
              event({ incident_key: "db", status, check_id, observed_at: `2026-03-01T12:0${minute}:00Z` }),
            ),
          )
        yield* end(yield* silence("over before it opened", "check_id = disk"))
        clock.advance("1 minute")
        yield* reports(1, "critical")
        const [incident] = yield* itemsOf(INCIDENTS)
        clock.advance("1 minute")
        yield* silence("all of it", "incident_key = db")
        clock.advance("1 second")
        yield* silence("a part while it was critical", "check_id = disk", "severity = critical")
        clock.advance("1 second")
        const host = yield* silence("its host", "hostname = web-1.example.org")
        yield* silence("another check", "check_id = load")
        yield* end(host)
        const shown = Effect.gen(function* () {
          const { body } = yield* operate("GET", `${INCIDENTS}/${String(incident?.["id"])}`)
          const { silences } = body as { readonly silences: ReadonlyArray<Item> }
          return silences.map((one) => [one["comment"], one["covers_all"], one["state"]])
        })
        const covering = [
          ["its host", true, "expired"],
          ["a part while it was critical", false, "active"],
          ["all of it", true, "active"],
        ]
        assert.deepStrictEqual(yield* shown, covering)
        yield* reports(3, "warning")
        clock.advance("1 minute")
        yield* reports(4, "ok")
        clock.advance("1 minute")
        yield* silence("after it resolved", "incident_key = db")
        assert.deepStrictEqual(yield* shown, covering)
      }),
    options,
  )

  scenario(
    "a released notification is sent though the incident is still acknowledged",
    () =>
      Effect.gen(function* () {
        const { id, item } = yield* held
        const path = `${OUTBOX}/${String(item["id"])}/release`
        const { readToken } = yield* Tocsin
        expectError(yield* call("POST", path, { token: readToken }), 403, "forbidden")
        assert.deepStrictEqual((yield* operate("POST", path)).body, { count: 1 })
        for (let sent = false; !sent; yield* Effect.sleep("5 millis")) {
          const [now] = yield* itemsOf(`${OUTBOX}?state=sent`)
          if (now === undefined) continue
          assert.deepInclude(now, { id: item["id"], held_by: [], held_until: null, attempts: 1 })
          sent = true
        }
        assert.deepInclude((yield* itemsOf(`${INCIDENTS}?acknowledged=true`))[0], { id, held_by: ["ack"] })
        expectError(yield* operate("POST", path), 409, "conflict")
      }),
    options,
  )

  scenario(
    "of two operators who release at the same time, one does",
    () =>
      Effect.gen(function* () {
        const { item } = yield* held
        const path = `${OUTBOX}/${String(item["id"])}/release`
        const answers = yield* Effect.all([operate("POST", path), operate("POST", path)], {
          concurrency: "unbounded",
        })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
        const unknown = `${OUTBOX}/0192a3b4-0000-7000-8000-000000000000/release`
        expectError(yield* operate("POST", unknown), 404, "not_found")
      }),
    options,
  )
}
