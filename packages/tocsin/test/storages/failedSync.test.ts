import { fdatasync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { enroll, resultOf, send } from "../../../../test/library/requests.ts"
import { assemble, createMonitor, start } from "../../src/createMonitor.ts"
import { isTocsinError, type Monitor, sqlite } from "../../src/index.ts"
import * as SqliteStorage from "../../src/layers/SqliteStorage.ts"
import { logLayer } from "../../src/options/log.ts"
import { readOptions } from "../../src/options/readOptions.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-unsynced-"))
afterAll(() => rmSync(folder, { recursive: true }))

const failureOf = (monitor: Monitor, agent: string) =>
  send(monitor, agent, resultOf("critical")).then(
    () => undefined,
    (error: unknown) =>
      isTocsinError(error) ? `${error.code} ${error.reason} ${error.message}` : String(error),
  )

describe("a monitor whose disk fails to sync", () => {
  it("refuses every change until it is created again, and has then lost nothing", async () => {
    const file = join(folder, "monitor.db")
    let isFailing = false
    const storage = SqliteStorage.layer({
      file,
      log: {
        sync: (descriptor, done) =>
          fdatasync(descriptor, (error) => done(isFailing ? new Error("EIO") : error)),
      },
    })
    const read = readOptions({ storage: sqlite(file), notifiers: [] })
    const { services, scope } = await start({ ...read, tocsin: { ...read.tocsin, storage } }, logLayer(false))
    const monitor = assemble(read, services, scope)
    await enroll(monitor, "web-1")
    await send(monitor, "web-1", resultOf("warning"))
    isFailing = true
    const first = await failureOf(monitor, "web-1")
    assert.match(first ?? "", /^storage unavailable .*monitor\.db-wal could not be written to the disk: /)
    isFailing = false
    assert.strictEqual(await failureOf(monitor, "web-1"), first)
    await monitor.close()
    await using again = await createMonitor({ storage: sqlite(file), log: false, notifiers: [] })
    await send(again, "web-1", resultOf("ok"))
    const { items } = await again.checks.list()
    assert.deepStrictEqual(
      items.map(({ agent_id }) => agent_id),
      ["web-1"],
    )
  })
})
