import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { HealthConditions } from "@tocsin/core/heart/health/HealthExamination"

it("docs/watchdog.md defines health in the words of the table that decides it", () => {
  const page = readFileSync(fileURLToPath(new URL("../../docs/watchdog.md", import.meta.url)), "utf8")
  const rows = Array.from(page.matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm), ([, name, meaning]) => ({
    name,
    meaning,
  }))
  assert.deepStrictEqual(
    rows,
    HealthConditions.map(({ name, meaning }) => ({ name, meaning })),
  )
})
