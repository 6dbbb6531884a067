import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { newEventId } from "@tocsin/reporting/agent/CheckReport"
import { FaultyServer } from "@tocsin/testing/agents/FaultyServer"
import { serve } from "@tocsin/testing/agents/serve"
import { assert, describe, it, vi } from "vitest"
import { systemClock } from "../../src/clock/Clock.ts"
import { readConfig } from "../../src/config/readConfig.ts"
import { Daemon } from "../../src/daemon/Daemon.ts"
import { spoolPath } from "../../src/spool/StateFolder.ts"
import { SpoolFile } from "../../src/spool/SpoolFile.ts"

/** The notes of the spool in a folder that `status` shows. */
const notesOf = (state: string): ReadonlyMap<string, string> => {
  using file = SpoolFile.open(spoolPath(state))
  return file.notes()
}

describe("a daemon", () => {
  it("says once that it cannot read its key", async () => {
    vi.useFakeTimers()
    const state = mkdtempSync(join(tmpdir(), "tocsin-daemon-"))
    const logged: Array<string> = []
    writeFileSync(join(state, "key"), "no key")
    writeFileSync(join(state, "config.yaml"), "server: http://127.0.0.1:9\nagent_id: a\n")
    const { config } = readConfig(join(state, "config.yaml"))
    if (config === undefined) return assert.fail("the configuration is invalid")
    const log = (message: string) => void logged.push(message)
    const daemon = new Daemon({ config, state, clock: systemClock, random: () => 0.5, log })
    daemon.start()
    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()
    await daemon.stop()
    rmSync(state, { recursive: true })
    const said = logged.filter((line) => line.startsWith("cannot send"))
    assert.strictEqual(said.length, 1)
    assert.include(said[0], "holds no key")
  })

  it("gives commands a home", async () => {
    const state = mkdtempSync(join(tmpdir(), "tocsin-daemon-"))
    const server = new FaultyServer()
    const { send } = server
    const reported = new Promise<string>((resolve) => {
      server.send = (request) => {
        if (request.body.includes("home is")) resolve(request.body)
        return send(request)
      }
    })
    const { address, close } = await serve(server)
    const checks = "checks:\n  home: { shell: 'echo home is $HOME.', every: 1s }\n"
    writeFileSync(join(state, "config.yaml"), `server: ${address}\nagent_id: a\n${checks}`)
    const { config } = readConfig(join(state, "config.yaml"))
    if (config === undefined) return assert.fail("the configuration is invalid")
    const daemon = new Daemon({ config, state, clock: systemClock, random: () => 0.5, log: () => {} })
    daemon.start()
    assert.include(await reported, `home is ${process.env["HOME"] ?? state}.`)
    await daemon.stop()
    await close()
    rmSync(state, { recursive: true })
  })

  it("declares a check as a job once tocsin-agent run has reported it", async () => {
    const state = mkdtempSync(join(tmpdir(), "tocsin-daemon-"))
    const server = new FaultyServer()
    const { send } = server
    const declarations: Array<string> = []
    const stated = new Promise<void>((resolve) => {
      server.send = (request) => {
        if (request.kind === "declaration") declarations.push(request.body)
        if (request.kind === "declaration" && request.body.includes("own")) resolve()
        // The job reports while the agent runs.
        else if (request.kind === "declaration") noteJob()
        return send(request)
      }
    })
    const { address, close } = await serve(server)
    const file = join(state, "config.yaml")
    writeFileSync(file, `server: ${address}\nagent_id: a\nchecks:\n  job: { report_only: true }\n`)
    const { config } = readConfig(file)
    if (config === undefined) return assert.fail("the configuration is invalid")
    // As a member of the group hands it over.
    const noteJob = () => {
      const outcome = { status: "ok", exitCode: 0, durationMillis: 1, output: "", notificationsEnabled: true }
      const handed = { wall: 0, sinceBoot: 0, boot: "a", run: "run job 1", isDeclared: true }
      const name = `handed-a-${"0".repeat(15)}-${newEventId(0)}.json`
      writeFileSync(join(state, name), JSON.stringify({ ...handed, report: { checkId: "job", ...outcome } }))
    }
    const daemon = new Daemon({ config, state, clock: systemClock, random: () => 0.5, log: () => {} })
    daemon.start()
    await stated
    await daemon.stop()
    await close()
    rmSync(state, { recursive: true })
    assert.deepStrictEqual(
      declarations.map((body) => body.includes('"incident":"own"')),
      [false, true],
    )
  })

  it("shows the answer to a heartbeat before it sends anything else", async () => {
    const state = mkdtempSync(join(tmpdir(), "tocsin-daemon-"))
    const server = new FaultyServer()
    const { send } = server
    const declared = new Promise<ReadonlyMap<string, string>>((resolve) => {
      server.send = (request) => {
        if (request.kind === "declaration") resolve(notesOf(state))
        return send(request)
      }
    })
    const { address, close } = await serve(server)
    writeFileSync(join(state, "config.yaml"), `server: ${address}\nagent_id: a\n`)
    const { config } = readConfig(join(state, "config.yaml"))
    if (config === undefined) return assert.fail("the configuration is invalid")
    const daemon = new Daemon({ config, state, clock: systemClock, random: () => 0.5, log: () => {} })
    daemon.start()
    const notes = await declared
    await daemon.stop()
    await close()
    rmSync(state, { recursive: true })
    assert.strictEqual(notes.get("admission"), "accepted")
    assert.include(notes.get("last_answer"), '"kind":"heartbeat"')
  })
})
