import { assert, it } from "@effect/vitest"
import { requireNode } from "../src/requireNode.ts"

it("an older Node.js is refused in words", () => {
  for (const node of ["20.11.1", "18.0.0", "23.9.0"])
    assert.throws(
      () => requireNode({ node }),
      `tocsin needs Node.js 24 or newer, and this is ${node}: update Node.js`,
    )
  for (const node of ["24.0.0", "26.1.0"]) requireNode({ node })
})
