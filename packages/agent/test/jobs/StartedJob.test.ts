import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { identify, savedIdentity, stateOfProcess, stateOfSession } from "../../src/jobs/StartedJob.ts"

const own = identify(process.pid)

describe("a process", () => {
  it("runs, also as a saved text, and has ended with its number, its start or its boot", () => {
    assert.strictEqual(stateOfProcess(own), "runs")
    assert.deepStrictEqual(savedIdentity(JSON.parse(JSON.stringify(own))), own)
    const { pid } = spawnSync("true")
    assert.strictEqual(stateOfProcess({ ...own, pid }), "ended")
    assert.strictEqual(stateOfProcess({ ...own, ticks: "1" }), "ended", "another one has its number")
    assert.strictEqual(stateOfProcess({ ...own, boot: "another" }), "ended")
  })

  it("is not the session of another that had its number", async () => {
    const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" })
    const leader = identify(child.pid ?? 0)
    assert.strictEqual(stateOfSession(leader), "runs")
    for (const other of [{ ticks: "1" }, { boot: "another" }])
      assert.strictEqual(stateOfSession({ ...leader, ...other }), "ended")
    assert.strictEqual(stateOfSession({ ...leader, space: "pid:[1]" }), "unknown")
    child.kill("SIGKILL")
    await once(child, "exit")
    assert.strictEqual(stateOfSession(leader), "ended")
  })

  it("is not judged from another container, nor without the system's word", () => {
    assert.strictEqual(stateOfProcess({ ...own, space: "pid:[1]" }), "unknown")
    assert.strictEqual(stateOfProcess({ ...own, space: "" }), "unknown")
  })

  it.each([undefined, "text", {}, { ...own, pid: -1 }, { ...own, pid: 1.5 }, { ...own, boot: 1 }])(
    "is not read from %j",
    (note) => assert.isUndefined(savedIdentity(note)),
  )
})
