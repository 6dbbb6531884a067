import { assert, it } from "@effect/vitest"
import { requireNode } from "../src/requireNode.ts"

it("an older Node.js is refused in words", () => {
  for (const node of ["20.11.1", "18.0.0", "23.9.0", "24.21.0", "26.10.0"])
    assert.throws(() => requireNode({ node }), `, and this is ${node}: update Node.js`)
  for (const versions of [{ node: "24.22.1" }, { node: "26.12.0" }, { node: "24.3.0", bun: "1.4.2" }])
    requireNode(versions)
})
