import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { PROBE_NAMES } from "../../src/config/configFields.ts"
import { configured } from "./probed.ts"

/** The settings of a probe, as the refusal of another one lists them. */
const settingsOf = (name: (typeof PROBE_NAMES)[number]): ReadonlyArray<string> => {
  try {
    configured(name, { other: 1 })
  } catch (error) {
    return /use one of ([\w, ]+)/.exec(String(error))?.[1]?.split(", ") ?? []
  }
  return []
}

describe("the table of probes in docs/agent.md", () => {
  const rows = readFileSync("docs/agent.md", "utf8").split("\n")

  it.each(PROBE_NAMES)("has the settings of %s", (name) => {
    const row = rows.find((line) => line.startsWith(`| \`${name}\` | `) && line.split(" | ").length === 4)
    assert.isDefined(row)
    const settings = settingsOf(name).filter((one) => one !== "warning" && one !== "critical")
    assert.isAbove(settings.length, 0)
    assert.deepStrictEqual(
      settings.filter((one) => !new RegExp(`\`${one}[\`:]`).test(row ?? "")),
      [],
    )
    assert.isTrue(rows.some((line) => line.includes("| [a probe](#probes)") && line.includes(`\`${name}\``)))
  })
})
