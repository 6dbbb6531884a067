import { assert, it } from "@effect/vitest"
import { isOutdated } from "../../src/format/isOutdated.ts"

it.each([
  ["0.3.0", "0.3.0", false],
  ["0.2.9", "0.3.0", true],
  ["0.9.0", "0.10.0", true],
  ["1.0.0", "0.10.0", false],
  ["0.3.0-beta", "0.3.0", false],
  ["unknown", "0.3.0", false],
  ["0.3.0", undefined, false],
])("an agent of version %s on a server of version %s is outdated: %s", (own, server, expected) => {
  assert.strictEqual(isOutdated({ service_agent_version: own }, server), expected)
  assert.isFalse(isOutdated({}, server))
})
