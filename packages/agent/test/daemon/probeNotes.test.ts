import { assert, describe, it } from "@effect/vitest"
import { appendFileSync, existsSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { AgentHost, until } from "../commands/AgentHost.ts"

describe("the position of a log", () => {
  it("is kept with its result, so that a line counts once though the agent is killed", async () => {
    using host = new AgentHost()
    const log = join(host.folder, "app.log")
    const check = `{ log: { file: ${log}, match: bad }, every: 1s, timeout: 1s }`
    writeFileSync(join(host.folder, "config.yaml"), `server: http://127.0.0.1:9\nchecks:\n  app: ${check}\n`)
    writeFileSync(log, "bad before the first run\n")
    const found = () =>
      host
        .kept()
        .events.filter(({ check_id: id, status }) => id === "app" && status === "critical")
        .map(({ output = "" }) => output.replace(/ \|.*/, ""))
    const running = async (what: string, look: () => boolean) => {
      const { child, closed } = host.begin("start", [])
      await until(what, look)
      child.kill("SIGKILL")
      await closed
    }
    const note = () => host.kept().notes.get("probe:app")
    await running("the log was searched", () => existsSync(host.spool) && note() !== undefined)
    appendFileSync(log, "bad 1\n")
    renameSync(log, `${log}.1`)
    writeFileSync(log, "bad 2\n")
    await running("both files were searched", () => found().length > 0)
    const all = [`LOG CRITICAL - 2 of 2 lines match in ${log}: "bad 1", "bad 2"`]
    assert.deepStrictEqual(found(), all)
    const before = note()
    appendFileSync(log, "good\n")
    await running("the log was searched again", () => note() !== before)
    assert.deepStrictEqual(found(), all)
    writeFileSync(join(host.folder, "config.yaml"), "server: http://127.0.0.1:9\n")
    await running("the note of the removed check is gone", () => note() === undefined)
  })
})
