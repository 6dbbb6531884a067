import { afterAll, assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { systemClock } from "../../src/clock/Clock.ts"
import { type LogPosition, newLines, savedPosition } from "../../src/probes/LogReader.ts"
import { configured, probed } from "./probed.ts"

/** Waits until files of this moment are newer than another one. */
const laterThan = (path: string): void => {
  const probe = join(root, "now")
  do {
    rmSync(probe, { force: true })
    writeFileSync(probe, "")
  } while (statSync(probe).birthtimeMs <= statSync(path).mtimeMs)
}

const root = mkdtempSync(join(tmpdir(), "tocsin-log-"))
afterAll(() => rmSync(root, { recursive: true }))

const PIECE = 65_536
const NOBODY = 65_534
const PIPE_MAKER = "mkfifo"

/** A log that a program writes and others rotate, and the lines that no run has searched. */
class WrittenLog {
  readonly path = join(mkdtempSync(join(root, "log-")), "app.log")
  #note: string | undefined
  /** Not yet searched, of the file before and of this one. */
  #former = ""
  #current = ""
  #hasFormer = false
  #isSeen = false
  #rotations = 0

  append(text: string): void {
    appendFileSync(this.path, text)
    this.#current += text
  }

  /** The program has not opened the new file yet. */
  appendToFormer(text: string): void {
    if (!this.#hasFormer || this.#size() > 0) return
    appendFileSync(`${this.path}.${this.#rotations}`, text)
    this.#former += text
  }

  rotate(how: "rename" | "create" | "copy"): void {
    // Of several rotations between two runs, files in between are not searched.
    if (!this.#isSeen || this.#hasFormer || this.#size() === 0) return
    this.#rotations += 1
    const aside = `${this.path}.${this.#rotations}`
    if (how === "copy") {
      laterThan(this.path)
      copyFileSync(this.path, aside)
      truncateSync(this.path)
    } else renameSync(this.path, aside)
    if (how === "create") writeFileSync(this.path, "")
    ;[this.#hasFormer, this.#former, this.#current] = [true, this.#current, ""]
  }

  async run(): Promise<{ readonly found: ReadonlyArray<string>; readonly expected: ReadonlyArray<string> }> {
    const isFirst = this.#note === undefined
    const found: Array<string> = []
    const { position } = await newLines({
      path: this.path,
      position: savedPosition(this.#note, this.path),
      take: (line) => found.push(line),
      clock: systemClock,
      signal: new AbortController().signal,
    })
    this.#note = JSON.stringify(position)
    this.#isSeen ||= existsSync(this.path)
    if (isFirst) {
      ;[this.#former, this.#current] = ["", ""]
      return { found, expected: [] }
    }
    const expected: Array<string> = []
    const isFinished = this.#size() > 0
    this.#former = takeLines(this.#former, expected)
    if (isFinished) {
      if (this.#former !== "") expected.push(this.#former)
      ;[this.#former, this.#hasFormer] = ["", false]
      this.#current = takeLines(this.#current, expected)
    }
    return { found, expected }
  }

  #size(): number {
    return existsSync(this.path) ? statSync(this.path).size : 0
  }
}

/** Adds the whole lines of a text, in pieces, and returns its unfinished one. */
const takeLines = (text: string, lines: Array<string>): string => {
  const all = text.split("\n")
  const rest = all.pop() ?? ""
  for (const line of all) lines.push(line.slice(0, PIECE), ...(line.match(/[^]{1,65536}/g) ?? []).slice(1))
  return rest
}

type Step = "run" | "rename" | "create" | "copy" | { readonly append: string } | { readonly former: string }

const written = fc.constantFrom(
  "a\n",
  "b",
  "\n",
  "c\r\n",
  "\n\n",
  `${"x".repeat(PIECE)}\n`,
  `${"y".repeat(150_000)}\n`,
)

describe("a log", () => {
  it("is searched so that each line counts once, whenever it is written, renamed, copied and searched", async () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom<Step>("run") },
        { weight: 2, arbitrary: fc.constantFrom<Step>("rename", "create", "copy") },
        { weight: 5, arbitrary: written.map((append): Step => ({ append })) },
        { weight: 2, arbitrary: fc.constantFrom("late\n", "la").map((former): Step => ({ former })) },
      ),
      { maxLength: 25 },
    )
    await fc.assert(
      fc.asyncProperty(fc.boolean(), steps, async (isThere, all) => {
        const log = new WrittenLog()
        let number = 0
        if (isThere) log.append("before\n")
        await log.run()
        for (const step of [...all, "run" as const]) {
          // Lines differ, as those with times do: a copy is found by its content.
          if (step === "run") {
            const { found, expected } = await log.run()
            assert.deepStrictEqual(
              found,
              expected.map((line) => line.replace(/\r$/, "")),
            )
          } else if (typeof step === "string") log.rotate(step)
          else if ("append" in step) log.append(step.append.replace(/\r?\n?$/, (end) => ` ${number++}${end}`))
          else log.appendToFormer(`${number++} ${step.former}`)
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it("is known by its number where a new file begins like the former one", async () => {
    const path = join(root, "alike.log")
    const settings = { file: path, match: "same" }
    writeFileSync(path, "same\n")
    const { next } = await probed("log", settings)
    renameSync(path, `${path}.1`)
    writeFileSync(path, "same\nsame\n")
    assert.include((await probed("log", settings, { note: next })).output, "2 of 2 lines match")
    // A file system may give the same file another number.
    rmSync(`${path}.1`)
    const copied = await probed("log", settings, { note: next })
    assert.include(copied.output, "1 of 1 lines match")
  })

  it.each(["a", "z"])(
    "is searched in the longest of its copies, beside an older one in .%s",
    async (older) => {
      const path = join(mkdtempSync(join(root, "copies-")), "app.log")
      const settings = { file: path, match: "bad" }
      writeFileSync(path, "one\n")
      const { next } = await probed("log", settings)
      copyFileSync(path, `${path}.${older}`)
      appendFileSync(path, "bad 1\n")
      copyFileSync(path, `${path}.m`)
      writeFileSync(path, "bad 2\n")
      assert.include((await probed("log", settings, { note: next })).output, '"bad 1", "bad 2"')
    },
  )

  it.each(["app.log.1", "app.log-20260131", "app.log.2026-01-31"])(
    "is searched in %s, a copy of a file that was empty",
    async (name) => {
      const folder = mkdtempSync(join(root, "emptied-"))
      const path = join(folder, "app.log")
      const settings = { file: path, match: "bad" }
      writeFileSync(join(folder, "app.log.0"), "bad before\n")
      writeFileSync(path, "")
      const { next } = await probed("log", settings)
      const rotate = (words: string) => {
        appendFileSync(path, words)
        laterThan(path)
        copyFileSync(path, join(folder, name))
        writeFileSync(join(folder, "app.log.err"), "bad elsewhere\n")
        truncateSync(path)
      }
      rotate("bad 1\n")
      const emptied = await probed("log", settings, { note: next })
      assert.include(emptied.output, "CRITICAL - 1 of 1 lines match")
      appendFileSync(path, "bad 2\n")
      assert.include((await probed("log", settings, { note: emptied.next })).output, ': "bad 2"')
      assert.include((await probed("log", settings, { note: next })).output, ': "bad 1", "bad 2"')
    },
  )

  it("takes no other file for an empty one that is gone", async () => {
    const path = join(root, "empty.log")
    const settings = { file: path, match: "bad" }
    writeFileSync(path, "")
    const { next } = await probed("log", settings)
    renameSync(path, join(root, "elsewhere"))
    writeFileSync(`${path}.other`, "bad\n")
    assert.strictEqual((await probed("log", settings, { note: next })).status, "unknown")
  })

  it("has a line in pieces of 64 KiB", async () => {
    const path = join(root, "pieces.log")
    const settings = { file: path, match: "x" }
    writeFileSync(path, "")
    const { next } = await probed("log", settings)
    appendFileSync(path, `${"x".repeat(PIECE)}\n${"x".repeat(PIECE + 1)}\n`)
    assert.include((await probed("log", settings, { note: next })).output, "3 of 3 lines match")
  })

  it("is searched in parts where it is long", async () => {
    const path = join(root, "long.log")
    writeFileSync(path, "")
    let note = JSON.stringify({ path, file: "", offset: 0, anchor: "" })
    const line = "y".repeat(99)
    writeFileSync(path, `${line}\n`.repeat(50))
    let [now, lines, runs] = [0, 0, 0]
    const clock = { ...systemClock, steady: () => (now += 700) }
    for (let left = 1; left > 0; runs++) {
      const read = await newLines({
        path,
        position: savedPosition(note, path),
        take: () => lines++,
        clock,
        signal: new AbortController().signal,
      })
      note = JSON.stringify(read.position)
      left = read.remarks.length
      if (left > 0) assert.match(read.remarks.join(), /^\d+ bytes are left for the next run$/)
    }
    assert.strictEqual(lines, 50)
    assert.isAbove(runs, 1)
  })

  it("is searched in parts across a rotation, without a gap between the files", async () => {
    const path = join(root, "parts.log")
    const found: Array<string> = []
    let now = 0
    const clock = { ...systemClock, steady: () => (now += 700) }
    const search = async (position: LogPosition | undefined) =>
      await newLines({
        path,
        position,
        take: (line) => found.push(line),
        clock,
        signal: new AbortController().signal,
      })
    writeFileSync(path, "before\n")
    let { position } = await search(undefined)
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`)
    appendFileSync(
      path,
      lines
        .slice(0, 30)
        .map((line) => `${line}\n`)
        .join(""),
    )
    renameSync(path, `${path}.1`)
    writeFileSync(
      path,
      lines
        .slice(30)
        .map((line) => `${line}\n`)
        .join(""),
    )
    for (let runs = 0; runs < 60 && found.length < lines.length; runs++)
      ({ position } = await search(position))
    assert.deepStrictEqual(found, lines)
  })

  it.each([undefined, "", "{", "[]", "null", '{"path":"/other","file":"1:2","offset":0,"anchor":""}'])(
    "has no position in the note %j",
    (note) => {
      assert.isUndefined(savedPosition(note, "/log"))
    },
  )

  it.each([{ offset: -1 }, { offset: 0.5 }, { offset: "1" }, { file: 1 }, { anchor: null }])(
    "has no position with %j",
    (wrong) => {
      const note = JSON.stringify({ path: "/log", file: "1:2", offset: 1, anchor: "a", ...wrong })
      assert.isUndefined(savedPosition(note, "/log"))
    },
  )
})

describe("the log probe", () => {
  it("counts lines that contain a text and shows the first", async () => {
    const path = join(root, "counted.log")
    writeFileSync(path, "ERROR before\n")
    const settings = {
      file: path,
      match: ["ERROR", "fail*disk ?d?"],
      ignore: "harmless",
      warning: 0,
      critical: 2,
    }
    const first = await probed("log", settings)
    assert.strictEqual(
      first.output,
      `LOG OK - no new line in ${path}; searched from its end on | matches=0;0;2 lines=0`,
    )
    appendFileSync(path, 'all well\nERROR harmless\nfailure of disk sda "now"\nERROR \u0000\u0007|\u001b[31m')
    const second = await probed("log", settings, { note: first.next })
    assert.strictEqual(
      second.output,
      `LOG WARNING - 1 of 3 lines match in ${path}: "failure of disk sda \\"now\\"" | matches=1;0;2 lines=3`,
    )
    appendFileSync(path, Buffer.from([0xff, 10, ...Buffer.from("ERROR 2\nERROR 3\nERROR 4\n")]))
    const third = await probed("log", settings, { note: second.next })
    assert.strictEqual(third.status, "critical")
    assert.include(third.output, "4 of 4 lines match")
    assert.include(third.output, String.raw`"ERROR \u0000\u0007/\u001b[31m`)
    assert.include(third.output, '"ERROR 3" | matches=4')
    // Neither a restart nor a repetition changes what a note says.
    assert.strictEqual((await probed("log", settings, { note: second.next })).output, third.output)
    assert.strictEqual((await probed("log", settings, { note: third.next })).status, "ok")
  })

  it("is unknown without a file, whose first line counts", async () => {
    const path = join(root, "late.log")
    const settings = { file: path, match: "bad" }
    const missing = await probed("log", settings)
    assert.strictEqual(missing.output, `LOG UNKNOWN - ${path} does not exist | matches=0;;0 lines=0`)
    writeFileSync(path, "bad\n")
    assert.strictEqual((await probed("log", settings, { note: missing.next })).status, "critical")
  })

  it("says where the former file is gone", async () => {
    const path = join(root, "gone.log")
    const settings = { file: path, match: "bad" }
    writeFileSync(path, "one\n")
    const { next } = await probed("log", settings)
    rmSync(path)
    const missing = await probed("log", settings, { note: next })
    assert.deepStrictEqual([missing.status, missing.next], ["unknown", next])
    writeFileSync(path, "two\n")
    const { output } = await probed("log", settings, { note: next })
    assert.match(
      output,
      /no line of 1 matches .*; the former file is gone, and its last lines were not searched \|/,
    )
  })

  it("is unknown where it cannot read, and waits for no writer", async () => {
    const pipe = join(root, "pipe")
    execFileSync(PIPE_MAKER, [pipe])
    for (const file of [pipe, root])
      assert.match((await probed("log", { file, match: "a" })).output, /^LOG UNKNOWN - .* is not a file$/)
    if (process.geteuid?.() !== 0) return
    const secret = join(root, "secret")
    writeFileSync(secret, "", { mode: 0o600 })
    process.seteuid?.(NOBODY)
    const refused = await probed("log", { file: secret, match: "a" })
    process.seteuid?.(0)
    assert.match(refused.output, /^LOG UNKNOWN - EACCES/)
    assert.isUndefined(refused.next)
  })

  it("takes linear time on lines that would have an expression backtrack", async () => {
    const path = join(root, "hostile.log")
    const settings = { file: path, match: ["a*a*a*a*a*a*a*a*b", "?a?a?a?a?a*b"] }
    writeFileSync(path, "")
    const { next } = await probed("log", settings)
    appendFileSync(path, `${"a".repeat(60_000)}\n`.repeat(3))
    assert.include((await probed("log", settings, { note: next })).output, "no line of 3 matches")
  })

  it.each([
    [{ file: "relative", match: "a" }, /file must be an absolute path/],
    [{ file: "/a" }, /must have match/],
    [{ file: "/a", match: [] }, /match must have 1 to 100 entries/],
  ])("refuses %j", (settings, problem) => {
    assert.throws(() => configured("log", settings), problem)
  })
})

describe("a log in another encoding", () => {
  const LINES = "2026-11-27 10:00:00 ERROR payment failed\r\nnächste Zeile\r\n"
  const wide = (text: string, isBig = false): Buffer => {
    const bytes = Buffer.from(text, "utf16le")
    return isBig ? bytes.swap16() : bytes
  }
  const cases: ReadonlyArray<readonly [string, Buffer, Buffer]> = [
    ["UTF-16LE with a mark", wide("\ufeff"), wide(LINES)],
    ["UTF-16BE with a mark", wide("\ufeff", true), wide(LINES, true)],
    ["UTF-16LE", wide("a"), wide(LINES)],
    ["UTF-16BE", wide("a", true), wide(LINES, true)],
    ["UTF-16LE of other letters", wide("\ufeff中"), wide("2026-11-27 10:00:00 错误付款失败了\n")],
    ["UTF-16LE behind UTF-8", Buffer.from("begun\n"), wide(LINES)],
  ]
  it.each(cases)("%s is unknown, in words", async (_, before, after) => {
    const path = join(mkdtempSync(join(root, "log-")), "app.log")
    writeFileSync(path, before)
    const { next } = await probed("log", { file: path, match: "ERROR" })
    appendFileSync(path, after)
    const found = await probed("log", { file: path, match: "ERROR" }, { note: next })
    const words = `${path} is in UTF-16: let its program write UTF-8, or convert it and check the result`
    assert.deepStrictEqual([found.status, found.output], ["unknown", `LOG UNKNOWN - ${words}`])
  })

  it("is searched in Latin-1 where it is not UTF-8", async () => {
    const path = join(mkdtempSync(join(root, "log-")), "app.log")
    writeFileSync(path, "")
    const settings = { file: path, match: "Störung * Über" }
    const { next } = await probed("log", settings)
    appendFileSync(path, Buffer.from("Störung in Über\n", "latin1"))
    appendFileSync(path, "Störung in Über\n")
    appendFileSync(path, `${"\0".repeat(2_000)}Störung in Über\nodd\0byte\n`)
    const { output, status } = await probed("log", settings, { note: next })
    assert.strictEqual(status, "critical")
    assert.match(output, /^LOG CRITICAL - 3 of 4 lines match/)
  })
})
