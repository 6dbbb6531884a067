import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { Effect } from "effect"
import { openReplica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, heartbeatOf, keyOf, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const MAX_OUTPUT_BYTES = 8192
const MAX_BATCH = 200

const [FIRST_SURROGATE, LAST_SURROGATE, LAST_CODE_POINT] = [0xd800, 0xdfff, 0x10ffff]

/** Every character that an output may hold, each once, in texts of at most 8192 bytes of UTF-8. */
const everyCharacter = (): ReadonlyArray<string> => {
  const texts: Array<string> = []
  let [text, bytes] = ["", 0]
  for (let code = 1; code <= LAST_CODE_POINT; code++) {
    if (code >= FIRST_SURROGATE && code <= LAST_SURROGATE) continue
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes + size > MAX_OUTPUT_BYTES) {
      texts.push(text)
      text = ""
      bytes = 0
    }
    text += String.fromCodePoint(code)
    bytes += size
  }
  return [...texts, text]
}

const chunksOf = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))

const HOSTILE = [
  "'; DROP TABLE agent; --",
  '"},{"hostname":"x',
  "\\x00 \\u0000 $1 ?1 :name {} %s",
  "\r\n\t\b\f\v\u001b[31m",
  " leading and trailing ",
  "\ufeffbyte order service heartbeat",
  "e\u0301 is not \u00e9",
  "\u{1f469}\u200d\u{1f4bb} \u202eright to left",
  "",
  "NULL",
  "x".repeat(MAX_OUTPUT_BYTES),
  "\u{10ffff}".repeat(MAX_OUTPUT_BYTES / 4),
]

/** Text comes back as it was sent, from an agent's request to an operator's list. */
export const textSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("text", () => {
    it.effect("outputs of up to 8192 bytes keep every Unicode character except NUL and surrogates", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* enroll(replica, "a")
        const outputs = [...HOSTILE, ...everyCharacter()]
        const events = outputs.map((output, n) => eventOf(n, { check_id: `check-${n}`, output }))
        for (const batch of chunksOf(events, MAX_BATCH)) yield* send(replica, "a", batch)
        const history = yield* rowsOf(replica, "history")
        assert.strictEqual(history.length, outputs.length)
        const checks = new Map(
          (yield* rowsOf(replica, "checks")).map((row) => [`${row.check_id}`, row.summary]),
        )
        const incidents = new Map(
          (yield* rowsOf(replica, "incidents")).map((row) => [`${row.check_id}`, row.summary]),
        )
        // Compared one by one: a diff of two such texts is useless.
        const changed = outputs.flatMap((output, n) => {
          const check = `check-${n}`
          const isSame =
            history[outputs.length - 1 - n]?.output === output &&
            checks.get(check) === output &&
            incidents.get(check) === headlineOf(output)
          return isSame ? [] : [`${check}: ${JSON.stringify(output.slice(0, 40))}`]
        })
        assert.deepStrictEqual(changed, [])
      }),
    )

    it.effect("label keys that are also names of object properties", () =>
      Effect.gen(function* () {
        const { ingest, queries } = yield* openReplica(subject)
        const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "a", "A"]
        const labels: Record<string, string> = Object.fromEntries(names.map((name) => [name, `of ${name}`]))
        yield* ingest.heartbeat(keyOf("a"), heartbeatOf("a", { labels }))
        const found = (yield* queries.agent(AgentId.make("a"))).labels ?? {}
        assert.deepStrictEqual(Object.entries(found).toSorted(), Object.entries(labels).toSorted())
      }),
    )

    it.effect("hostnames, incident keys and errors that look like SQL, JSON or numbers", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const odd = HOSTILE.map((text) =>
          Array.from(text.replaceAll(/\p{Cc}/gu, ""))
            .slice(0, 253)
            .join(""),
        ).filter((text) => text !== "")
        for (const [n, hostname] of odd.entries()) {
          yield* replica.ingest.heartbeat(keyOf(`agent-${n}`), heartbeatOf(`agent-${n}`, { hostname }))
        }
        const hostnames = new Map(
          (yield* rowsOf(replica, "agents")).map((row) => [`${row.agent_id}`, row.hostname]),
        )
        assert.deepStrictEqual(
          odd.map((_, n) => hostnames.get(`agent-${n}`)),
          odd,
        )
        yield* replica.admission.blockAll
        assert.deepStrictEqual(
          (yield* rowsOf(replica, "blacklist")).map((row) => row.hostname).toSorted(),
          odd.toSorted(),
        )
        yield* enroll(replica, "a")
        yield* send(
          replica,
          "a",
          odd.map((incident_key, n) => eventOf(n, { check_id: `check-${n}`, incident_key })),
        )
        const incidents = yield* rowsOf(replica, "incidents")
        assert.deepStrictEqual(incidents.map((row): string => row.incident_key).toSorted(), odd.toSorted())
      }),
    )
  })
}
