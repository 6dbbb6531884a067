import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { ruleOf } from "./blockRules.ts"
import { blocksOf } from "./CodeBlock.ts"
import { isShownBy } from "./expectedOutput.ts"
import { removeModules, typeErrorsIn, writeModules } from "./Modules.ts"
import { walkPage } from "./walkPage.ts"

type Fenced = readonly [info: string, text: string]

const fenced = (...blocks: ReadonlyArray<Fenced>): string =>
  blocks.map(([info, text]) => `\`\`\`${info}\n${text}\n\`\`\`\n`).join("\n")

/** A page, and the folder of its modules. */
const pageOf = Effect.fnUntraced(function* (text: string) {
  const page = join(yield* scratchFolder, "page.md")
  writeFileSync(page, text)
  const modules = yield* Effect.acquireRelease(
    Effect.sync(() => writeModules(blocksOf(page))),
    (made) => Effect.sync(() => removeModules(made)),
  )
  return { page, modules }
})

/** The complaint about a page; fails where there is none. */
const complaintAbout = Effect.fnUntraced(function* (...blocks: ReadonlyArray<Fenced>) {
  const { page, modules } = yield* pageOf(fenced(...blocks))
  const exit = yield* Effect.exit(walkPage(page, {}, modules))
  return Exit.isFailure(exit) ? Cause.pretty(exit.cause) : assert.fail("nothing was said against it")
})

describe("a page is refused", () => {
  it.live("that shows output that was not printed", () =>
    Effect.gen(function* () {
      const complaint = yield* complaintAbout(["sh", "echo one; echo two"], ["text", "one\nthree"])
      assert.include(complaint, "page.md:5 does not show what was printed")
    }),
  )

  it.live("with a command that fails, whatever follows it", () =>
    Effect.gen(function* () {
      assert.include(yield* complaintAbout(["sh", "false\necho done"]), "page.md:1 ended with 1")
      assert.include(yield* complaintAbout(["sh exits=2", "true"]), "page.md:1 ended with 0")
    }),
  )

  it.live("with a program that throws", () =>
    Effect.gen(function* () {
      const complaint = yield* complaintAbout(["ts", 'throw new Error("no such thing")'])
      assert.include(complaint, "no such thing")
    }),
  )

  it.live("with a test that fails", () =>
    Effect.gen(function* () {
      const failing =
        'import { test } from "node:test"\ntest("fails", () => { throw new Error("so it does") })'
      assert.include(yield* complaintAbout(["ts test", failing]), "so it does")
    }),
  )

  it.live("with a type error in a program", () =>
    Effect.gen(function* () {
      const wrong = 'import { hostname } from "node:os"\nexport const host: number = hostname()'
      const { modules } = yield* pageOf(fenced(["ts", wrong]))
      assert.match(yield* Effect.promise(() => typeErrorsIn(modules)), /line1\.ts\(2,14\): error TS/)
    }),
  )

  it.live("with an unknown or unclosed block", () =>
    Effect.gen(function* () {
      const { page } = yield* pageOf(
        fenced(["", "echo"], ["sh skip", "echo"], ["python", "1"], ["sh", "echo"]),
      )
      assert.deepStrictEqual(
        blocksOf(page).map((block) => ruleOf(block)?.by),
        [undefined, undefined, undefined, "session"],
      )
      writeFileSync(page, "```sh\necho\n")
      assert.throws(() => blocksOf(page), /page\.md:1: this block does not end/)
    }),
  )
})

describe("a shell of a page", () => {
  it.live("keeps its variables from block to block", () =>
    Effect.gen(function* () {
      const { page, modules } = yield* pageOf(fenced(["sh", "A=1"], ["sh", 'echo "$A"'], ["text", "1"]))
      assert.strictEqual(yield* walkPage(page, {}, modules), 2)
    }),
  )
})

describe("shown output", () => {
  it("may differ only in IDs, times, sizes and widths", () => {
    const printed = "01a1f90c-06ee-71c8-b9df-30fd1948c97a  2026-11-20T13:01:17.422075Z    3 KiB  2s ago"
    assert.isTrue(
      isShownBy("01a1f84d-4efb-7559-999e-636ca4ce6bd6 2026-01-01T00:00:00.000Z 12 MiB 0s ago", printed),
    )
    assert.isFalse(isShownBy("01a1f84d-4efb-7559-999e-636ca4ce6bd6 2026-01-01T00:00:00.000Z", printed))
    assert.isFalse(isShownBy("web-1 2026-01-01T00:00:00.000Z 12 MiB 0s ago", printed))
  })

  it("matches anything at an ellipsis, and is literal otherwise", () => {
    assert.isTrue(isShownBy("a … d", "a b\nc d"))
    assert.isFalse(isShownBy("a … d", "a b\nc d e"))
    assert.isFalse(isShownBy("a.c", "abc"))
  })
})
