import { assert, it } from "@effect/vitest"
import { isNodeNewEnough, NODE_RANGE, nodeRefusal } from "../../src/formats/nodeVersions.ts"

it("the repaired versions of Node.js are new enough, and no others", () => {
  for (const node of ["24.22.1", "24.22.3", "24.23.0", "26.12.0", "26.12.1", "26.13.0", "27.0.0", "28.1.2"])
    assert.isTrue(isNodeNewEnough({ node }), node)
  const older = ["", "18.0.0", "20.20.2", "22.23.3", "23.9.0", "24.0.0", "24.15.0", "24.21.0", "24.22.0"]
  for (const node of [...older, "25.0.0", "25.9.0", "26.0.0", "26.10.0", "26.11.1"])
    assert.isFalse(isNodeNewEnough({ node }), node)
  assert.isTrue(isNodeNewEnough({ node: "24.22.1-nightly20261128" }))
  assert.isTrue(isNodeNewEnough(process.versions))
})

it("Bun and Deno have TLS of their own, and name an older Node.js", () => {
  for (const runtime of [{ bun: "1.4.2" }, { deno: "2.9.0" }]) {
    assert.isTrue(isNodeNewEnough({ node: "24.3.0", ...runtime }))
    assert.isFalse(isNodeNewEnough({ node: "22.6.0", ...runtime }))
  }
})

it("people and npm read the same versions", () => {
  const words = nodeRefusal("tocsin", { node: "24.21.0" })
  assert.strictEqual(
    words,
    "tocsin needs Node.js 24.22.1 or newer (of 26: 26.12 or newer), and this is 24.21.0: update Node.js",
  )
  for (const [, first = ""] of NODE_RANGE.matchAll(/(\d+\.\d+)/g)) assert.include(words, first)
})
