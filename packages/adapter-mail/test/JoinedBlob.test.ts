import { assert, it } from "@effect/vitest"
import { JoinedBlob } from "../src/mailThread.ts"

it("a joined Blob has the bytes of its parts, as that of Node.js", async () => {
  const parts = ["é", "\n", new Uint8Array([0xff, 0]), new Uint8Array([1, 2]).buffer, ""]
  const options = { type: "application/octet-stream" }
  const [joined, usual] = [new JoinedBlob(parts, options), new Blob(parts, options)]
  assert.deepStrictEqual(await joined.arrayBuffer(), await usual.arrayBuffer())
  assert.strictEqual(joined.type, usual.type)
  assert.strictEqual(new JoinedBlob().size, 0)
})
