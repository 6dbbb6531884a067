import { describe, expect, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/Instant"
import { isOlderRunning } from "../../src/liveness/olderVersion.ts"

const at = (seconds: number) => Instant.fromMillis(seconds * 1_000)
const NOW = at(1_000)

describe("a server of an older version", () => {
  it.each([
    ["15 s ago has ended", 985, false],
    ["less than 15 s ago runs", 986, true],
    // Replicas' clocks differ a little.
    ["a little ahead runs", 1_014, true],
    ["far ahead left it before a clock was set back", 1_015, false],
  ])("whose mark is from %s", (_when, seconds, isRunning) => {
    const ended = { outage_began_at: undefined, outage_ended_at: undefined }
    expect(isOlderRunning({ name: "service", marked_at: at(seconds), ...ended }, NOW)).toBe(isRunning)
  })
})
