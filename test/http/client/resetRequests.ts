import { spawnSync } from "node:child_process"
import process from "node:process"
import { assert } from "@effect/vitest"

const PROGRAM = `
  const [port, ...texts] = JSON.parse(require("node:fs").readFileSync(0, "utf8"))
  for (const text of texts) {
    const socket = require("node:net").connect(port, "127.0.0.1")
    socket.on("error", () => {})
    socket.write(text, () => socket.resetAndDestroy())
  }
`

/**
 * Sends each text on a connection of its own and resets it. This process stands still meanwhile, so
 * that its servers accept connections that are reset already.
 */
export const resetRequests = (port: number, texts: ReadonlyArray<string>): void => {
  const { status } = spawnSync(process.execPath, ["-e", PROGRAM], { input: JSON.stringify([port, ...texts]) })
  assert.strictEqual(status, 0)
}
