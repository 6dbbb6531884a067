import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { identify, savedIdentity, stateOfProcess } from "../../src/jobs/StartedJob.ts"

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

  it("is not judged from another container, nor without the system's word", () => {
    assert.strictEqual(stateOfProcess({ ...own, space: "pid:[1]" }), "unknown")
    assert.strictEqual(stateOfProcess({ ...own, space: "" }), "unknown")
  })

  it.each([undefined, "text", {}, { ...own, pid: -1 }, { ...own, pid: 1.5 }, { ...own, boot: 1 }])(
    "is not read from %j",
    (note) => assert.isUndefined(savedIdentity(note)),
  )
})
