import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll } from "vitest"
import { notifySystemd } from "../src/notifySystemd.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-systemd-"))
afterAll(() => rmSync(folder, { recursive: true }))
const notices = join(folder, "notices")
writeFileSync(notices, "")
writeFileSync(join(folder, "systemd-notify"), `#!/bin/sh\necho "$* to $NOTIFY_SOCKET" >>'${notices}'\n`, {
  mode: 0o755,
})

/** Begins with other variables, which it reads at once. */
const notifying = (environment: Record<string, string>, failed: (error: Error) => void) => {
  const before = { ...process.env }
  Object.assign(process.env, environment)
  const stop = notifySystemd(failed)
  for (const name of Object.keys(environment)) {
    if (before[name] === undefined) delete process.env[name]
    else process.env[name] = before[name]
  }
  return stop
}

const failOn = (error: Error) => assert.fail(error.message)

describe("notices to systemd", () => {
  it("say that the program is ready, and then regularly that it is alive", async () => {
    const stop = notifying(
      { NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "30000", PATH: `${folder}:/usr/bin:/bin` },
      failOn,
    )
    let lines: ReadonlyArray<string> = []
    while (lines.length < 3) {
      await sleep(5)
      lines = (await readFile(notices, "utf8")).split("\n").filter((line) => line !== "")
    }
    stop()
    assert.deepStrictEqual(lines.slice(0, 3), [
      "READY=1 to /run/notify",
      "WATCHDOG=1 to /run/notify",
      "WATCHDOG=1 to /run/notify",
    ])
  })

  it("that fail are reported, and not repeated without a watchdog", async () => {
    const error = await new Promise<Error>((resolve) => {
      notifying({ NOTIFY_SOCKET: "/run/notify", PATH: "/nowhere" }, resolve)
    })
    assert.include(error.message, "systemd-notify")
  })

  it("are none where systemd asks for none", () => notifying({ PATH: "/nowhere" }, failOn)())
})
