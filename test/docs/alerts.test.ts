import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

const RULES = "deploy/prometheus/tocsin.rules.yml"
const PAGE = "docs/alerts.md"

const named = (path: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(readFileSync(path, "utf8").matchAll(pattern), ([, name = ""]) => name).toSorted()

describe("alerts", () => {
  it("have one section each with what to do, and no section is unused", () => {
    const alerts = named(RULES, /^ *- alert: (\w+)$/gm)
    assert.isAbove(alerts.length, 10)
    assert.deepStrictEqual(named(PAGE, /^### (Tocsin\w+)$/gm), alerts)
  })
})
