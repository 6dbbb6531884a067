import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { heardIn } from "../../../packages/adapter-notify/test/services/TelephoneService.ts"
import { call, operate } from "../client/call.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { acceptedAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { messages, shownLog, state, turns } from "./linkSuite.ts"

const FORM = { "content-type": "application/x-www-form-urlencoded" }
const OPENING = "Tocsin: critical. web-1/disk. Press 1 to acknowledge."

/** Presses a key in a call; `undefined` for none. Returns the status and all that is heard then. */
const press = Effect.fnUntraced(function* (path: string, digits: string | undefined) {
  const body = new URLSearchParams({
    CallSid: "CA1",
    ...(digits !== undefined && { Digits: digits }),
  }).toString()
  const answer = yield* call("POST", `${path}/call`, { body, headers: FORM })
  assert.deepInclude(answer.headers, {
    "cache-control": "no-store",
    "content-type": "text/xml; charset=utf-8",
  })
  return { status: answer.status, ...heardIn(answer.text) }
})

/** Keys that are pressed in calls (docs/rules.md#phones). */
export const callSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)
  const sent = messages()

  scenario(
    "the key 1 of a call acknowledges, another or none says the call once more",
    () =>
      Effect.gen(function* () {
        const { message } = sent
        yield* turns(yield* acceptedAgent("web-1"), "critical")
        const { path } = yield* message(0)
        const before = yield* state
        for (const digits of ["2", undefined, "", "11", "1\u0000"]) {
          const { gather, status, text } = yield* press(path, digits)
          assert.deepStrictEqual([status, text], [200, OPENING])
          // A key goes to the address of this answer, which repeats no token.
          assert.deepStrictEqual(gather, { numDigits: "1", timeout: "10", method: "POST" })
        }
        assert.strictEqual(yield* state, before)
        const done = yield* press(path, "1")
        assert.deepStrictEqual([done.status, done.text], [200, "Acknowledged for 1 hour. Thank you."])
        assert.isUndefined(done.gather)
        const { clock } = yield* Tocsin
        clock.advance("15 minutes")
        for (const digits of ["1", "2"])
          assert.match(
            (yield* press(path, digits)).text,
            /^It was acknowledged before, by a message to phone, for another 44 minutes \d+ seconds\.$/,
          )
        assert.deepStrictEqual(yield* shownLog, [{ actor: "link:phone", via: "link", severity: "critical" }])
      }),
    sent.options,
  )

  const german = messages("de")
  scenario(
    "the answers to keys have the words and the voice of the receiver",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent("web-1")
        yield* turns(agent, "critical")
        const { path } = yield* german.message(0)
        const said = [
          yield* press(path, "2"),
          yield* press(path, "1"),
          yield* press(path, "1"),
          yield* turns(agent, "ok", { observed_at: "2026-03-01T12:00:01Z" }).pipe(
            Effect.andThen(press(path, "1")),
          ),
        ]
        assert.deepStrictEqual(
          said.map(({ text }) => text.replace(/59 Minuten, 5\d Sekunden/u, "1 Stunde")),
          [
            "Tocsin: kritisch. web-1/disk. Drücken Sie die 1, um zu bestätigen.",
            "Bestätigt für 1 Stunde. Danke.",
            "Es wurde schon bestätigt, von einer Nachricht an phone, noch für 1 Stunde.",
            "Die Störung, um die es in diesem Anruf ging, ist behoben.",
          ],
        )
        for (const { languages } of said) assert.deepStrictEqual(languages, ["de-DE"])
      }),
    german.options,
  )

  const worse = messages()
  scenario(
    "a key acknowledges nothing that is worse, has resolved or has ended",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent("web-1")
        yield* turns(agent, "warning")
        const { path } = yield* worse.message(0)
        yield* turns(agent, "critical", { observed_at: "2026-03-01T12:00:01Z" })
        yield* worse.message(1)
        for (const digits of ["1", "5"])
          assert.match(
            (yield* press(path, digits)).text,
            /^Nothing is acknowledged: the incident is critical now/,
          )
        yield* turns(agent, "ok", { observed_at: "2026-03-01T12:00:02Z" })
        for (const digits of ["1", undefined])
          assert.strictEqual((yield* press(path, digits)).text, "The incident of this call has resolved.")
        yield* turns(agent, "critical", { check_id: "cpu" })
        const { path: later } = yield* worse.message(3)
        const { clock } = yield* Tocsin
        clock.advance("168 hours")
        assert.match((yield* press(later, "1")).text, /^This call is older than a week/)
        assert.deepStrictEqual(yield* shownLog, [])
      }),
    worse.options,
  )

  const hostile = messages()
  scenario(
    "a key takes any form, and an unknown call costs what a failed authentication does",
    () =>
      Effect.gen(function* () {
        yield* turns(yield* acceptedAgent("web-1"), "critical")
        const { path } = yield* hostile.message(0)
        const bodies = [
          "%",
          "Digits=%ff%00",
          "Digits[]=1&digits=1",
          '{"Digits":"1"}',
          "\u0000".repeat(1_000),
          `Digits=${"1".repeat(70_000)}`,
          "=".repeat(1_000_000),
          new Uint8Array([0xff, 0xfe]),
        ]
        for (const body of bodies) {
          const { status, text } = yield* call("POST", `${path}/call`, { body, headers: FORM })
          assert.deepStrictEqual([status, heardIn(text).text], [200, OPENING])
        }
        assert.deepStrictEqual(yield* shownLog, [])
        for (const method of ["GET", "PUT", "DELETE"]) {
          const { headers, status } = yield* call(method, `${path}/call`)
          assert.deepStrictEqual([status, headers["allow"]], [404, "POST"])
        }
        const connections: Array<string | undefined> = []
        for (const other of [`${path.slice(0, -1)}x`, "/a/x", "/a/%00", `${path}0`]) {
          const { headers, status, text } = yield* call("POST", `${other}/call`, {
            body: "Digits=1",
            headers: FORM,
          })
          assert.deepStrictEqual([status, heardIn(text).text], [404, "This call is not known."])
          connections.push(headers["connection"])
        }
        assert.deepStrictEqual(connections, ["keep-alive", "keep-alive", "keep-alive", "close"])
        assert.strictEqual((yield* press(path, "1")).text, "Acknowledged for 1 hour. Thank you.")
        // Nothing of the form is kept.
        const { body: audit } = yield* operate("GET", "/ops/v1/audit")
        assert.notInclude(JSON.stringify([audit, yield* itemsOf("/api/v1/incidents")]), "CA1")
      }),
    hostile.options,
  )
}
