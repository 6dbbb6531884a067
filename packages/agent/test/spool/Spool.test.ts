import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import {
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type CheckStatus, wireEvent } from "@tocsin/reporting/agent/CheckReport"
import { Spool, type SpoolBounds, type SpooledResult, type SpoolOptions } from "../../src/spool/Spool.ts"
import { SpoolFile } from "../../src/spool/SpoolFile.ts"
import { fieldsOf } from "@tocsin/reporting/agent/Answer"

const DAY = 86_400_000
const CODES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]
/** The approximate size of one of the results below. */
const ROW_BYTES = 400
/** Where SQLite's file format has the last byte of it. */
const USER_VERSION_OFFSET = 63
const NO_BOUNDS: SpoolBounds = { bytes: Infinity, ageDays: Infinity, inMemory: 1_000 }

let folder = ""
let now = 0
beforeEach(() => {
  folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tocsin-agent-"))
  now = Date.UTC(2026, 0, 1)
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (bounds: Partial<SpoolBounds> = {}, options: Partial<SpoolOptions> = {}) =>
  Spool.open({
    path: join(folder, "spool.db"),
    bounds: { ...NO_BOUNDS, ...bounds },
    now: () => now,
    warn: () => {},
    ...options,
  })

/** Changes one bit of a file, in a text or in the version of the tables, and returns its bytes. */
const damage = (path: string, text: string | undefined): Buffer => {
  const bytes = readFileSync(path)
  const at = text === undefined ? USER_VERSION_OFFSET : bytes.indexOf(text)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
  return bytes
}

const [CORRUPT, FULL] = [11, 13]

/** A spool whose disk fails writes as the test says, and how many results it was asked to read. */
const openOnDisk = (warn: (message: string) => void = () => {}) => {
  const disk = { fault: undefined as number | undefined, asked: [] as Array<number>, rejected: 0 }
  const openFile = (path: string): SpoolFile => {
    const file = SpoolFile.open(path)
    const [write, oldest] = [file.write.bind(file), file.oldest.bind(file)]
    file.write = (change) => {
      disk.rejected = change.reject?.length ?? 0
      if (disk.fault !== undefined) throw Object.assign(new Error("the disk fails"), { errcode: disk.fault })
      write(change)
    }
    file.oldest = (limit, after) => {
      disk.asked.push(limit)
      return oldest(limit, after)
    }
    return file
  }
  const spool = Spool.open({
    path: join(folder, "spool.db"),
    bounds: NO_BOUNDS,
    now: () => now,
    warn,
    openFile,
  })
  return { spool, disk }
}

const record = (spool: Spool, checkId: string, status: CheckStatus): void => {
  const exitCode = CODES.indexOf(status)
  spool.record({ checkId, status, exitCode, durationMillis: 1, output: "", notificationsEnabled: true })
  spool.flush()
  now += 1_000
}

/** The waiting results, as `check status`. */
const waiting = (spool: Spool): ReadonlyArray<string> =>
  spool.take(10_000, Infinity).map(({ checkId, body }) => {
    const { status } = JSON.parse(body) as { readonly status: string }
    return `${checkId} ${status}`
  })

/** The lines that differ from the one before of the same check. */
const changesOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const last = new Map<string, string>()
  return lines.filter((line) => {
    const [check = ""] = line.split(" ")
    const isChange = last.get(check) !== line
    last.set(check, line)
    return isChange
  })
}

const counted = (spool: Spool) =>
  ["dropped_repeats", "dropped_changes"].map((name) => Number(spool.notes().get(name) ?? 0))

describe("the spool", () => {
  it("keeps the first and the last of equal results, and every change", () => {
    const spool = open()
    for (const status of ["ok", "ok", "ok", "ok", "critical", "ok", "ok", "ok"] as const)
      record(spool, "web", status)
    assert.deepStrictEqual(
      waiting(spool),
      ["ok", "ok", "critical", "ok", "ok"].map((status) => `web ${status}`),
    )
    assert.deepStrictEqual(counted(spool), [0, 0], "nothing of it is a loss")
    spool.close()
  })

  it.each([
    ["the host's", false],
    ["the server's", true],
  ])("dates no result ahead after %s clock was, once the server's time is right", (_, wasServerTime) => {
    let isServerTime = wasServerTime
    const path = join(folder, "spool.db")
    const spool = Spool.open({ path, now: () => now, isServerTime: () => isServerTime, warn: () => {} })
    const datesOf = (results: ReadonlyArray<SpooledResult>) =>
      results.map(({ body }) => Date.parse(String(fieldsOf(JSON.parse(body))["observed_at"])) - now)
    const right = now
    now += 365 * DAY
    record(spool, "disk", "ok")
    if (!wasServerTime) {
      isServerTime = true
      now = right
      assert.deepStrictEqual(datesOf(spool.take(10, Infinity)), [0])
      isServerTime = false
      now += 365 * DAY
    }
    spool.acknowledge(spool.take(10, Infinity))
    record(spool, "web", "ok")
    record(spool, "web", "critical")
    if (wasServerTime) spool.acknowledge(spool.take(10, Infinity))
    now = right
    isServerTime = true
    record(spool, "web", "warning")
    record(spool, "web", "ok")
    const dates = datesOf(spool.take(10, Infinity))
    assert.deepStrictEqual(dates, wasServerTime ? [-2_000, -1_000] : [-2_000, -2_000, -2_000, -1_000])
    assert.strictEqual(spool.notes().get("dated_ahead"), "1")
    // Without the server's time, a clock that goes back may be the wrong one.
    isServerTime = false
    now -= 365 * DAY
    record(spool, "web", "critical")
    assert.isAbove(datesOf(spool.take(10, Infinity)).at(-1) ?? 0, 300 * DAY)
    spool.close()
  })

  it("waits for no other process that has the file locked", () => {
    const warnings: Array<string> = []
    const warn = (message: string) => void warnings.push(message)
    const spool = Spool.open({ path: join(folder, "spool.db"), now: () => now, warn })
    record(spool, "web", "ok")
    const other = new DatabaseSync(join(folder, "spool.db"))
    other.exec("BEGIN IMMEDIATE")
    const begun = performance.now()
    record(spool, "web", "critical")
    // SQLite waited for 5 s here, and the whole agent with it.
    assert.isBelow(performance.now() - begun, 4_500)
    assert.deepStrictEqual(waiting(spool), ["web ok", "web critical"])
    assert.include(warnings.join(), "database is locked); results wait in memory")
    other.exec("COMMIT")
    assert.isTrue(spool.flush())
    assert.deepStrictEqual(waiting(spool), ["web ok", "web critical"])
    other.close()
    spool.close()
  })

  it("drops repeats before changes and the oldest first, once it is over its size, and counts both", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(9), fc.nat(3)), { minLength: 400, maxLength: 900 }),
        fc.integer({ min: 250, max: 600 }),
        (scenario, rows) => {
          rmSync(folder, { recursive: true })
          folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tocsin-agent-"))
          const bounds = { bytes: rows * ROW_BYTES }
          const [spool, all] = [open(bounds), [] as Array<string>]
          let lost = 0
          for (const [check, code] of scenario) {
            record(spool, `check-${check}`, CODES[code] ?? "ok")
            all.push(`check-${check} ${CODES[code]}`)
            assert.isAtMost(spool.extent().bytes, bounds.bytes)
            const before = lost
            lost = counted(spool)[1] ?? 0
            if (lost > before) assert.deepStrictEqual(changesOf(waiting(spool)), waiting(spool))
          }
          if (lost === 0) assert.deepStrictEqual(changesOf(waiting(spool)), changesOf(all))
          assert.deepStrictEqual(waiting(spool).at(-1), all.at(-1))
          spool.close()
        },
      ),
      { numRuns: propertyRuns(3) },
    )
  })

  it("drops what has waited for longer than its age while the agent ran, and nothing else", () => {
    const bounds = { ageDays: 30 }
    let spool = open(bounds)
    const run = (days: number) => {
      for (let hour = 0; hour < days * 24; hour++) spool.dropAged(DAY / 24)
      spool.flush()
    }
    const restart = () => {
      spool.close()
      spool = open(bounds)
    }
    record(spool, "web", "ok")
    record(spool, "web", "ok")
    // A clock that was behind says nothing about how long its results have waited, nor one that is ahead.
    now += 4_000 * DAY
    record(spool, "web", "critical")
    run(15)
    restart()
    now -= 8_000 * DAY
    run(14)
    record(spool, "disk", "warning")
    // Stopped and continued, it is not dropped at the first look.
    spool.dropAged(400 * DAY)
    assert.strictEqual(waiting(spool).length, 4)
    run(1)
    assert.deepStrictEqual(waiting(spool), ["disk warning"])
    assert.deepStrictEqual(counted(spool), [1, 2])
    restart()
    assert.deepStrictEqual(counted(spool), [1, 2], "a restart forgets no loss")
    run(28)
    assert.strictEqual(waiting(spool).length, 1)
    run(2)
    assert.deepStrictEqual(waiting(spool), [])
    spool.close()
  })

  it("gives what is in memory too while the disk refuses it, says so once, and writes it later", () => {
    const said: Array<string> = []
    const { spool, disk } = openOnDisk((message) => void said.push(message))
    record(spool, "web", "ok")
    disk.fault = FULL
    record(spool, "web", "critical")
    record(spool, "disk", "warning")
    assert.deepStrictEqual(waiting(spool), ["web ok", "web critical", "disk warning"])
    spool.acknowledge(spool.take(2, Infinity))
    assert.deepStrictEqual([waiting(spool), spool.isOnDisk, said.length], [["disk warning"], false, 1])
    disk.fault = undefined
    assert.isTrue(spool.flush())
    assert.strictEqual(spool.states().get("web")?.status, "critical", "it was sent from memory")
    record(spool, "web", "ok")
    assert.deepStrictEqual([spool.isOnDisk, said.length], [true, 2])
    assert.include(said[1], "spool.db is written again")
    spool.close()
    const again = open()
    assert.deepStrictEqual(waiting(again), ["disk warning", "web ok"])
    again.close()
  })

  it("reads only what it sends while a full disk keeps it from deleting what it has sent", () => {
    const { spool, disk } = openOnDisk()
    for (let count = 0; count < 60; count++) record(spool, `check-${count}`, "critical")
    disk.fault = FULL
    for (let left = 60; left > 0; left -= 2) {
      assert.deepStrictEqual([spool.size(), spool.hasChange()], [left, true])
      spool.acknowledge(spool.take(2, Infinity))
    }
    assert.deepStrictEqual([spool.size(), spool.hasChange(), spool.oldestAt()], [0, false, undefined])
    assert.isAtMost(Math.max(...disk.asked), 2)
    disk.fault = undefined
    record(spool, "web", "ok")
    assert.deepStrictEqual([waiting(spool), spool.size()], [["web ok"], 1])
    spool.close()
  })

  it("starts over where its file is found damaged in use: what it has not written yet waits, and nothing of the old file", () => {
    const { spool, disk } = openOnDisk()
    for (const check of ["a", "b", "c", "d"]) record(spool, check, "critical")
    spool.acknowledge(spool.take(1, Infinity))
    const sent = spool.take(1, Infinity)
    disk.fault = CORRUPT
    assert.throws(() => record(spool, "e", "critical"), "the disk fails")
    disk.fault = undefined
    record(spool, "f", "critical")
    spool.acknowledge(sent)
    assert.deepStrictEqual(waiting(spool), ["e critical", "f critical"])
    spool.close()
  })

  it("is read where the disk refuses even the files beside it, and written once it does not", () => {
    const spool = open()
    record(spool, "web", "critical")
    spool.close()
    const beside = join(folder, "spool.db-shm")
    symlinkSync("/nowhere/else", beside)
    const again = open()
    record(again, "disk", "critical")
    assert.deepStrictEqual(waiting(again), ["web critical", "disk critical"])
    assert.isFalse(again.isOnDisk)
    unlinkSync(beside)
    record(again, "web", "ok")
    assert.isTrue(again.isOnDisk)
    const other = open()
    assert.deepStrictEqual(waiting(other), ["web critical", "disk critical", "web ok"])
    other.close()
    again.close()
  })

  it.each([
    ["the name of a column", "exit_code INTEGER"],
    ["a statement of a trigger", "NEW.size"],
    ["the definition of an index", "ON result"],
    ["the version of the tables", undefined],
    ["the beginning of the file", "SQLite format 3"],
  ])("sets its file aside unchanged, says so and starts an empty one where %s is damaged", (_, text) => {
    const spool = open()
    for (const status of ["ok", "critical", "critical"] as const) record(spool, "web", status)
    spool.close()
    const path = join(folder, "spool.db")
    const bytes = damage(path, text)
    const said: Array<string> = []
    const again = open({}, { warn: (message) => said.push(message) })
    record(again, "web", "ok")
    assert.deepStrictEqual(waiting(again), ["web ok"])
    const [aside = ""] = readdirSync(folder).filter((name) => name.startsWith("spool.db.damaged-"))
    assert.deepStrictEqual(readFileSync(join(folder, aside)), bytes)
    assert.lengthOf(said, 1)
    assert.match(said[0] ?? "", /spool\.db is damaged \(.+\): it is now .+, and a new spool starts empty$/)
    assert.include(said[0], aside)
    again.close()
    const last = open()
    assert.deepStrictEqual([waiting(last), last.notes().get("damaged")], [["web ok"], "1"])
    last.close()
  })

  it("sets each of several damaged files of one moment aside", () => {
    for (const _ of [1, 2, 3]) {
      open().close()
      damage(join(folder, "spool.db"), "SQLite format 3")
    }
    open().close()
    assert.lengthOf(
      readdirSync(folder).filter((name) => name.startsWith("spool.db.damaged-")),
      3,
    )
  })

  it("keeps its log within a small disk", () => {
    const spool = open()
    for (let round = 0; round < 100; round++) {
      record(spool, "web", round % 2 === 0 ? "ok" : "critical")
      spool.acknowledge(spool.take(1, Infinity))
    }
    assert.isBelow(statSync(join(folder, "spool.db-wal")).size, 1_000_000)
    spool.close()
  })

  it("never writes a damaged file that the disk does not let it rename, and keeps results in memory", () => {
    // Beside it, SQLite's files have names that fit. The name of a file set aside is too long.
    const path = join(folder, `${"s".repeat(235)}.db`)
    open({}, { path }).close()
    const bytes = damage(path, "SQLite format 3")
    const said: Array<string> = []
    const spool = open({}, { path, warn: (message) => said.push(message) })
    record(spool, "web", "critical")
    record(spool, "web", "ok")
    assert.deepStrictEqual([waiting(spool), spool.isOnDisk], [["web critical", "web ok"], false])
    assert.deepStrictEqual([said.length, readFileSync(path)], [1, bytes])
    spool.close()
  })

  it("sends from memory while a full disk refuses the spool that replaces a damaged one, and writes it later", () => {
    const path = join(folder, "spool.db")
    open().close()
    damage(path, "SQLite format 3")
    let isFull = true
    const openFile = (name: string): SpoolFile => {
      if (isFull && !existsSync(name)) writeFileSync(name, "")
      if (isFull && statSync(name).size === 0)
        throw Object.assign(new Error("the disk is full"), { errcode: FULL })
      return SpoolFile.open(name)
    }
    const spool = open({}, { openFile })
    record(spool, "web", "ok")
    record(spool, "disk", "warning")
    assert.deepStrictEqual([waiting(spool), spool.isOnDisk], [["web ok", "disk warning"], false])
    isFull = false
    record(spool, "disk", "ok")
    assert.isTrue(spool.isOnDisk)
    spool.close()
    const again = open()
    assert.deepStrictEqual(waiting(again), ["web ok", "disk warning", "disk ok"])
    again.close()
  })

  const isRoot = process.geteuid?.() === 0
  it.skipIf(!isRoot)(
    `follows no link of another user${isRoot ? "" : " (skipped: only root can make one)"}`,
    () => {
      const path = join(folder, "spool.db")
      symlinkSync("elsewhere", path)
      lchownSync(path, 40_002, 40_002)
      assert.throws(() => open(), /spool\.db is a link of another user: remove it/)
      assert.isFalse(existsSync(join(folder, "elsewhere")))
    },
  )

  it("keeps the last results of 10,000 checks, also of a command that reports under ever new names", () => {
    const path = join(folder, "spool.db")
    open({}, { path }).close()
    const file = SpoolFile.open(path)
    const states = Array.from(
      { length: 10_010 },
      (_, n) => [`job-${n}`, { observedAt: n, status: "ok" as const, exitCode: 0 }] as const,
    )
    file.write({ add: [], states: new Map(states) })
    file.close()
    const spool = open({}, { path })
    spool.dropAged(1)
    assert.strictEqual(spool.states().size, 10_000)
    assert.isFalse(spool.states().has("job-9"))
    assert.isTrue(spool.states().has("job-10"))
    spool.close()
  })

  it("holds no more rejected results while the disk refuses them than its file keeps", () => {
    const { spool, disk } = openOnDisk()
    disk.fault = FULL
    for (let n = 0; n < 1_010; n += 1) {
      record(spool, `check-${n}`, "ok")
      for (const result of spool.take(1, Infinity)) spool.reject(result, "400")
    }
    assert.strictEqual(disk.rejected, 1_000)
    disk.fault = undefined
    spool.flush()
    assert.strictEqual(spool.notes().get("rejected"), "1010")
    spool.close()
  })

  it("gives no more than a request may hold, but always one result", () => {
    const spool = open()
    for (const status of ["ok", "critical", "warning"] as const) record(spool, "web", status)
    assert.strictEqual(spool.take(2, Infinity).length, 2)
    assert.strictEqual(spool.take(200, 1).length, 1)
    spool.close()
  })

  it("states times of a check that increase, although the clock goes back", () => {
    const spool = open()
    record(spool, "web", "ok")
    now -= DAY
    record(spool, "web", "critical")
    record(spool, "disk", "ok")
    const times = spool
      .take(3, Infinity)
      .map(({ body }) => (JSON.parse(body) as { readonly observed_at: string }).observed_at)
    assert.deepStrictEqual(times, [
      "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:00.001Z",
      "2025-12-31T00:00:02.000Z",
    ])
    spool.close()
  })
})

describe("an output on the wire", () => {
  it("has at most 8192 bytes, ends between characters, and counts every byte that was lost", () => {
    const text = fc.array(fc.constantFrom("a", "é", "€", "🚨", "\n", "x".repeat(700), "ü".repeat(900)), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(text, fc.nat(100_000), (parts, dropped) => {
        const output = parts.join("")
        const bytes = Buffer.byteLength(output)
        const report = {
          checkId: "a",
          status: "ok",
          exitCode: 0,
          durationMillis: 0,
          notificationsEnabled: true,
          output,
          droppedBytes: dropped,
        } as const
        const { output: text = "", output_truncated: isCut = false } = wireEvent(report, { id: "1", at: 0 })
        assert.isAtMost(Buffer.byteLength(text), 8_192)
        assert.strictEqual(isCut, bytes > 8_192 || dropped > 0)
        if (!isCut) return void assert.strictEqual(text, output)
        const [, kept = "", lost] = /^(.*)\.\.\.\[truncated (\d+) bytes\]$/su.exec(text) ?? []
        assert.isTrue(output.startsWith(kept))
        assert.strictEqual(Buffer.byteLength(kept) + Number(lost), bytes + dropped)
        assert.isAtLeast(Buffer.byteLength(kept), Math.min(bytes, 8_192 - 44))
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})
