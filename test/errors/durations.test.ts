import { createClient } from "@tocsin/client"
import { DurationText } from "@tocsin/contract/formats/DurationText"
import { duration } from "@tocsin/server/settings/settingTypes"
import { assert, describe, it } from "@effect/vitest"
import { duration as ofAgent } from "@tocsin/agent/config/Reader"
import { Duration, Option, Schema } from "effect"
import { createTestMonitor } from "tocsin/testing"

const EXPECTED = "a duration such as 90s, 8h or 7d, from "

/** A reader's milliseconds, or its complaint. */
type Reading = (text: string) => number | string | Promise<number | string>

const wire = Schema.decodeUnknownOption(DurationText({ min: "1 second", max: "31 days" }))

const readers: ReadonlyArray<readonly [name: string, read: Reading]> = [
  [
    "a setting",
    (text) => {
      const read = duration.parse(text)
      return read === undefined ? duration.takes : Duration.toMillis(read)
    },
  ],
  [
    "a policy and a request",
    (text) => Option.match(wire(text), { onSome: Duration.toMillis, onNone: () => `${EXPECTED}1s to 31d` }),
  ],
  [
    "the agent's configuration",
    (text) => {
      let complaint = ""
      const read = ofAgent({ max: "31d" })(text, { path: [], refuse: (message) => (complaint = message) })
      return read ?? complaint.replace("must be ", "")
    },
  ],
  [
    "an option of a monitor",
    async (text) => {
      try {
        await using monitor = await createTestMonitor({ deliveryLease: text as "1s" })
        const before = Date.parse(monitor.now())
        await monitor.advance(text as "1s")
        return Date.parse(monitor.now()) - before
      } catch (error) {
        return String(error).replace(/^.* must be /, "")
      }
    },
  ],
  [
    "an option of a client",
    (text) => {
      try {
        createClient({ baseUrl: "http://127.0.0.1:9", timeout: text as "1s" })
        return MILLIS[text] ?? Number.NaN
      } catch (error) {
        return String(error).replace(/^.* must be /, "")
      }
    },
  ],
]

const MILLIS: Readonly<Record<string, number>> = { "1500ms": 1_500, "90s": 90_000, "5m": 300_000 }

describe("durations", () => {
  it.each(readers)("have one grammar: %s", async (_, read) => {
    for (const [text, millis] of Object.entries(MILLIS)) assert.strictEqual(await read(text), millis)
    for (const text of ["5 minutes", "1.5s", "-5s", "5", "", "5 m", "1h30m", "5M", "Infinity", "0s"])
      assert.match(String(await read(text)), new RegExp(`^${EXPECTED}`), text)
  })
})
