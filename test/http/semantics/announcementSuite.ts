import { assert } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { Announcement, AuditEntry } from "@tocsin/client/Resources"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Duration, Effect, Queue } from "effect"
import { addOperator, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { openStream } from "../client/openStream.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const PATH = "/ops/v1/announcements"

const groups = [
  {
    title: "Shop",
    lines: [
      { name: "Web shop", match: [] },
      { name: "Mail", id: "mail-out", match: [] },
    ],
  },
] as const

const POLICY: PolicyDocument = {
  pages: {
    public: { title: "Example", groups },
    team: { title: "Team", groups, announce: "respond" },
  },
}

const INCIDENT = {
  page: "public",
  kind: "incident",
  title: "Slow",
  text: "Pages take\nten seconds.",
} as const

/** A time by the service's clock. */
const inMinutes = (minutes: number) =>
  Effect.map(Tocsin, ({ clock }) => {
    const now = Instant.fromNanos(clock.currentTimeNanosUnsafe())
    return Instant.format(Instant.plus(now, Duration.minutes(minutes)))
  })

const create = Effect.fnUntraced(function* (json: object, headers = {}) {
  const { body, status } = yield* operate("POST", PATH, { json, headers })
  assert.strictEqual(status, 201, JSON.stringify(body))
  return body as Announcement
})

const itemsAt = Effect.fnUntraced(function* (query: string) {
  const { body, status } = yield* operate("GET", `${PATH}${query}`)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return (body as { readonly items: ReadonlyArray<Announcement> }).items
})

const titlesAt = (query: string) => Effect.map(itemsAt(query), (items) => items.map(({ title }) => title))

/** Announcements of public pages over HTTP (docs/rules.md#announcements). */
export const announcementSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario(
    "an announcement is published, updated and ended by operators who may, and never edited",
    () =>
      Effect.gen(function* () {
        const { readToken, uiToken } = yield* Tocsin
        const { events } = yield* openStream(uiToken)
        const first = yield* create({ ...INCIDENT, lines: ["web-shop"] }, { "idempotency-key": "one" })
        assert.deepInclude(first, {
          ...INCIDENT,
          state: "open",
          lines: ["web-shop"],
          ends_at: null,
          updates: [],
        })
        // Sent again by the same key, it is the same one.
        const again = yield* create({ ...INCIDENT, lines: ["web-shop"] }, { "idempotency-key": "one" })
        assert.deepStrictEqual(again, first)
        assert.include((yield* Queue.take(events)).topics, "announcements")

        const [starts_at, ends_at] = [yield* inMinutes(60), yield* inMinutes(90)]
        const disks = { page: "team", kind: "maintenance", title: "Disks", text: "We swap them." } as const
        const planned = yield* create({ ...disks, lines: ["mail-out", "web-shop"], starts_at, ends_at })
        assert.deepInclude(planned, { state: "scheduled", starts_at, ends_at })
        assert.deepStrictEqual(yield* titlesAt(""), ["Disks", "Slow"])
        assert.deepStrictEqual(yield* titlesAt("?page=public"), ["Slow"])
        assert.deepStrictEqual(yield* titlesAt("?page=gone"), [])
        assert.deepStrictEqual(yield* titlesAt("?state=scheduled"), ["Disks"])
        assert.deepStrictEqual(yield* titlesAt("?page=team&state=open"), [])

        const token = yield* addOperator("eva", "respond")
        const byEva = (path: string, json?: object) => call("POST", `${PATH}${path}`, { token, json })
        // Who may respond may announce where the policy says so.
        assert.match(expectError(yield* byEva("", INCIDENT), 403, "forbidden"), /only admins announce/)
        expectError(yield* byEva(`/${first.id}/updates`, { text: "No" }), 403, "forbidden")
        expectError(yield* byEva(`/${first.id}/end`), 403, "forbidden")
        expectError(yield* call("POST", PATH, { token: readToken, json: disks }), 403, "forbidden")
        const updated = yield* byEva(`/${planned.id}/updates`, { text: "Also new cables." })
        assert.strictEqual(updated.status, 201, updated.text)
        const { updates, ...rest } = updated.body as Announcement
        assert.deepStrictEqual({ ...rest, updates: [] }, planned)
        assert.deepInclude(updates[0], { text: "Also new cables.", by: "eva" })

        const end = byEva(`/${planned.id}/end`)
        assert.deepStrictEqual([(yield* end).body, (yield* end).body], [{ count: 1 }, { count: 0 }])
        const ended = yield* byEva(`/${planned.id}/updates`, { text: "Late" })
        assert.match(expectError(ended, 409, "conflict"), /has ended; create another one/)
        assert.deepStrictEqual(yield* titlesAt("?state=ended"), ["Disks"])
        const none = planned.id.replace(/.{4}$/, "0000")
        const late = yield* operate("POST", `${PATH}/${none}/updates`, { json: { text: "Late" } })
        assert.match(expectError(late, 404, "not_found"), /list announcements with GET/)
        expectError(yield* operate("POST", `${PATH}/${none}/end`), 404, "not_found")

        const refusals: ReadonlyArray<readonly [body: object, message: RegExp]> = [
          [{ page: "shop" }, /page must be a page of the policy \(public, team\), got shop/],
          // A name of every object.
          [{ page: "constructor" }, /got constructor/],
          [{ lines: ["mail-out", "mail"] }, /lines of the page public \(web-shop, mail-out\), got mail/],
          [{ lines: ["mail-out", "mail-out"] }, /lines/],
          [{ text: "" }, /text/],
          [{ text: "x".repeat(4_001) }, /4000/],
          [{ title: "two\nlines" }, /title/],
          [{ kind: "outage" }, /kind/],
          [{ starts_at: yield* inMinutes(-2) }, /a minute in the past/],
          [{ ends_at: yield* inMinutes(-1) }, /ends_at must be in the future/],
        ]
        for (const [changes, message] of refusals) {
          const answer = yield* operate("POST", PATH, { json: { ...INCIDENT, ...changes } })
          assert.match(expectError(answer, 400, "validation"), message)
        }
        assert.lengthOf(yield* itemsAt(""), 2)
        const { body } = yield* operate("GET", "/ops/v1/audit")
        const { items } = body as { readonly items: ReadonlyArray<AuditEntry> }
        assert.deepStrictEqual(
          items
            .filter(({ action }) => action.startsWith("announcement"))
            .map(({ action, actor, subjects }) => [action, actor === "eva", subjects[0]?.id]),
          [
            ["announcement.ended", true, planned.id],
            ["announcement.updated", true, planned.id],
            ["announcement.created", false, planned.id],
            ["announcement.created", false, first.id],
          ],
        )
      }).pipe(Effect.scoped),
    { rules: { policy: POLICY } },
  )
}
