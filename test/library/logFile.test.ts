import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { logFile } from "@tocsin/examples/custom-storage/logFile"
import { createMonitor, keyValue, type KeyValueStore, type Monitor, TocsinError } from "tocsin"
import { collect, enroll, heartbeatOf, keyOf, resultOf, send } from "./requests.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-logfile-"))
afterAll(() => rmSync(folder, { recursive: true }))

const newPath = () => join(folder, `${crypto.randomUUID()}.log`)

const open = (path: string) =>
  createMonitor({
    storage: logFile(path),
    log: false,
    notifiers: [],
    housekeeping: false,
    heartbeatRate: false,
  })

/** All that operators can see. */
const everything = async (monitor: Monitor) => ({
  agents: await collect(monitor.agents.all()),
  checks: await collect(monitor.checks.all()),
  history: await collect(monitor.history.all()),
  incidents: await collect(monitor.incidents.all()),
  blacklist: await collect(monitor.blacklist.all()),
})

const failureOf = (path: string): Promise<TocsinError> =>
  open(path).then(
    () => assert.fail("it was opened"),
    (error: TocsinError) => error,
  )

const populate = async (path: string) => {
  await using monitor = await open(path)
  await enroll(monitor, "a", "b", "c")
  await monitor.agents.block("c")
  await send(monitor, "a", resultOf("critical", { output: 'quotes " \\ \n \u2028 𝄞' }))
  await send(monitor, "a", resultOf("ok"))
  await send(monitor, "b", resultOf("warning", { incident_key: "shared" }))
  const page = await monitor.history.list({ limit: 1 })
  return { seen: await everything(monitor), cursor: page.next_cursor ?? undefined }
}

describe("a log file", () => {
  it("gives back all that was kept, and cursors from before", async () => {
    const path = newPath()
    const { seen, cursor } = await populate(path)
    await using monitor = await open(path)
    assert.deepStrictEqual(await everything(monitor), seen)
    const rest = await monitor.history.list({ cursor })
    assert.deepStrictEqual(rest.items, seen.history.slice(1))
    await send(monitor, "a", resultOf("critical"))
    assert.lengthOf(await collect(monitor.history.all()), seen.history.length + 1)
  })

  it("forgets what was cut short, wherever it was cut", async () => {
    const path = newPath()
    const { seen } = await populate(path)
    await (await open(path)).close()
    const whole = readFileSync(path).length
    await using monitor = await open(path)
    await monitor.heartbeat(keyOf("late"), heartbeatOf("late"))
    await monitor.close()
    const longer = readFileSync(path)
    for (const length of [whole, whole + 1, whole + 17, whole + 40, longer.length - 2]) {
      writeFileSync(path, longer)
      truncateSync(path, length)
      await using reopened = await open(path)
      assert.deepStrictEqual(await everything(reopened), seen)
      await reopened.heartbeat(keyOf("later"), heartbeatOf("later"))
      await reopened.close()
      await using again = await open(path)
      assert.lengthOf(await collect(again.agents.all()), seen.agents.length + 1)
    }
  })

  it("refuses damage in the middle, with the line's number", async () => {
    const path = newPath()
    await populate(path)
    const lines = readFileSync(path, "utf8").split("\n")
    const damaged = lines.findIndex((line) => line.includes("critical"))
    writeFileSync(
      path,
      lines.map((line, n) => (n === damaged ? line.replace("critical", "CRITICAL") : line)).join("\n"),
    )
    const error = await failureOf(path)
    assert.deepStrictEqual([error.code, error.reason], ["storage", "damaged"])
    assert.include(error.message, `line ${damaged + 1} of ${path} is damaged`)
  })

  it("belongs to one process, and goes from one that was killed to the next, with all that was answered", async () => {
    const path = newPath()
    const program = `
      import { createMonitor } from "tocsin"
      import { logFile } from "./examples/custom-storage/logFile.ts"
      const monitor = await createMonitor({
        storage: logFile(${JSON.stringify(path)}), log: false, notifiers: [], registrationRate: false,
      })
      for (let n = 0; ; n += 1) {
        await monitor.heartbeat("key-" + n, {
          agent_id: "agent-" + n, observed_at: "2026-01-01T00:00:00Z", hostname: "h",
          features: { push: true, metrics: false },
        })
        process.stdout.write(n + "\\n")
      }`
    const writer = spawn(process.execPath, ["--input-type=module-typescript", "-e", program])
    let answered = -1
    writer.stdout.on("data", (data: Buffer) => {
      answered = Number(data.toString().trim().split("\n").at(-1))
    })
    while (answered < 20) await once(writer.stdout, "data")
    const error = await failureOf(path)
    assert.strictEqual(error.reason, "in_use")
    assert.match(error.message, /is open in process \d+; stop that process/)
    writer.kill("SIGKILL")
    await once(writer, "close")
    await using monitor = await open(path)
    assert.isAtLeast((await collect(monitor.agents.all())).length, answered + 1)
  })
})

describe.skipIf(process.platform === "win32")("a log file on a disk that fills", () => {
  // The limit of the shell cuts the write that crosses it short, as a full disk does.
  const fill = async (path: string): Promise<ReadonlyArray<string>> => {
    const program = `
      import { createMonitor } from "tocsin"
      import { logFile } from "./examples/custom-storage/logFile.ts"
      const monitor = await createMonitor({
        storage: logFile(${JSON.stringify(path)}), log: false, notifiers: [], registrationRate: false,
      })
      const answered = []
      for (let n = 0; n < 60; n += 1) {
        const agent_id = "agent-" + n
        const heartbeat = monitor.heartbeat("key-" + n, {
          agent_id, observed_at: "2026-01-01T00:00:00Z", hostname: "h".repeat(1 + (n % 7) * 30),
          features: { push: true, metrics: false },
        })
        if ((await heartbeat.outcome()).ok) answered.push(agent_id)
      }
      process.stdout.write(JSON.stringify(answered))
      process.exit(0)`
    const shell = ["-c", 'ulimit -f 32; exec "$0" "$@"', process.execPath]
    const writer = spawn("sh", [...shell, "--input-type=module-typescript", "-e", program])
    const [output] = await Promise.all([text(writer.stdout), once(writer, "close")])
    return JSON.parse(output)
  }

  it("loses nothing that was answered", async () => {
    const path = newPath()
    const answered = await fill(path)
    assert.isTrue(answered.length > 0 && answered.length < 60, `${answered.length} were answered`)
    await using monitor = await open(path)
    const kept = (await collect(monitor.agents.all())).map(({ agent_id }) => agent_id as string)
    assert.sameMembers(
      kept.filter((agent) => answered.includes(agent)),
      [...answered],
    )
  })
})

describe("a key-value store of one's own", () => {
  const storeOf = (kept: Map<string, string>, write: (entries: number) => void): KeyValueStore => ({
    load: () => kept,
    write: async (changes) => {
      write(changes.size)
      for (const [key, value] of changes) {
        if (value === undefined) kept.delete(key)
        else kept.set(key, value)
      }
    },
  })

  it("that fails a write fails the call, and nothing of it is seen", async () => {
    const kept = new Map<string, string>()
    let isFull = false
    const store = storeOf(kept, () => {
      if (isFull) throw new Error("no space left")
    })
    const storage = keyValue({ name: "a map", open: async () => store })
    await using monitor = await createMonitor({ storage, log: false, notifiers: [], housekeeping: false })
    await enroll(monitor, "a")
    isFull = true
    const outcome = await send(monitor, "a", resultOf("critical")).outcome()
    assert.isTrue(!outcome.ok && outcome.error.code === "storage")
    assert.deepStrictEqual((await everything(monitor)).incidents, [])
    isFull = false
    await send(monitor, "a", resultOf("critical"))
    assert.lengthOf((await everything(monitor)).incidents, 1)
  })

  it.each(["in_use", "full", "damaged", "read_only"] as const)(
    "that states the reason %s of a failure gives it to the call behind it",
    async (reason) => {
      const kept = new Map<string, string>()
      const error = Object.assign(new Error("the store cannot do that; do this"), { reason })
      let isFailing = false
      const store = storeOf(kept, () => {
        if (isFailing) throw error
      })
      const storage = keyValue({ name: "a map", open: async () => store })
      await using monitor = await createMonitor({ storage, log: false, notifiers: [], housekeeping: false })
      isFailing = true
      const outcome = await monitor.heartbeat(keyOf("a"), heartbeatOf("a")).outcome()
      assert.isTrue(!outcome.ok && outcome.error.reason === reason)
      isFailing = false
      await enroll(monitor, "a")
      const closed = keyValue({ name: "a map", open: () => Promise.reject(error) })
      const refused = await createMonitor({ storage: closed, log: false }).catch((cause: unknown) => cause)
      assert.deepInclude(refused, { code: "storage", reason })
      assert.include(String(refused), error.message)
    },
  )

  it.each([
    ["ENOSPC", "full"],
    ["EDQUOT", "full"],
    ["EROFS", "read_only"],
  ])("that passes on %s of the system states %s", async (code, reason) => {
    const error = Object.assign(new Error("the system's words"), { code })
    const closed = keyValue({ name: "a map", open: () => Promise.reject(error) })
    const refused = await createMonitor({ storage: closed, log: false }).catch((cause: unknown) => cause)
    assert.deepInclude(refused, { code: "storage", reason })
  })

  it("that states another reason is unavailable", async () => {
    const error = Object.assign(new Error("no"), { reason: "newer" })
    const closed = keyValue({ name: "a map", open: () => Promise.reject(error) })
    const refused = await createMonitor({ storage: closed, log: false }).catch((cause: unknown) => cause)
    assert.deepInclude(refused, { code: "storage", reason: "unavailable" })
  })

  it("that holds something else is refused", async () => {
    const store = storeOf(new Map([["user/1", "{}"]]), () => {})
    const storage = keyValue({ name: "a map", open: async () => store })
    const outcome = await createMonitor({ storage, log: false }).catch((error: TocsinError) => error)
    assert.deepInclude(outcome, { code: "storage", reason: "unavailable" })
  })

  describe("of a host that gives bigint a toJSON", () => {
    const kept = new Map<string, string>()
    const storage = keyValue({ name: "a map", open: async () => storeOf(kept, () => {}) })

    beforeAll(() => {
      Object.defineProperty(BigInt.prototype, "toJSON", {
        configurable: true,
        value(this: bigint) {
          return this.toString()
        },
      })
    })
    afterAll(() => Reflect.deleteProperty(BigInt.prototype, "toJSON"))

    it("keeps everything", async () => {
      const before = await createMonitor({ storage, log: false })
      await enroll(before, "a", "b")
      await before.agents.block("b")
      await send(before, "a", resultOf("critical"))
      const seen = await everything(before)
      await before.close()
      await using after = await createMonitor({ storage, log: false })
      assert.deepStrictEqual(await everything(after), seen)
    })

    it("that had it before is refused by the row, its field, and what to do", async () => {
      const [key = "", text = ""] = Array.from(kept).find(([name]) => name.startsWith("incident/")) ?? []
      const damaged = text.replace(/"opened_at":\{"\$":("\d+")\}/, '"opened_at":$1')
      assert.notStrictEqual(damaged, text)
      const store = storeOf(new Map([...kept, [key, damaged]]), () => {})
      const outcome = await createMonitor({
        storage: keyValue({ name: "a map", open: async () => store }),
        log: false,
      }).catch((error: TocsinError) => error)
      assert.instanceOf(outcome, TocsinError)
      assert.deepInclude(outcome, { code: "storage", reason: "unavailable" })
      assert.strictEqual(
        outcome.message,
        `the content of a map cannot be read: opened_at of the row ${key} is not a time; it was written by an older version in a program that defines BigInt.prototype.toJSON, so restore a copy of the store from before, or start with an empty one`,
      )
    })
  })

  it("holds nothing any more of what is gone", async () => {
    const kept = new Map<string, string>()
    const storage = keyValue({ name: "a map", open: async () => storeOf(kept, () => {}) })
    await using monitor = await createMonitor({ storage, log: false, notifiers: [] })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("ok"), resultOf("ok", { check_id: "cpu" }))
    await monitor.checks.remove({ agent_id: "a", check_id: "cpu" })
    assert.lengthOf(
      Array.from(kept.keys()).filter((key) => key.startsWith("check_event/")),
      1,
    )
    await monitor.agents.remove("a")
    await monitor.close()
    assert.include(Array.from(kept.keys()).join(), "removed_registration/")
    await using _housekeeper = await createMonitor({ storage, log: false, notifiers: [] })
    const deadline = Date.now() + 60_000
    while (Array.from(kept.keys()).some((key) => /^check_|^removed/.test(key)) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepStrictEqual(
      Array.from(kept.keys()).filter((key) => /^check_|^removed|^agent/.test(key)),
      [],
    )
  })
})
