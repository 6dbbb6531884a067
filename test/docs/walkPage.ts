import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../processes/until.ts"
import { ruleOf } from "./blockRules.ts"
import { blocksOf, type CodeBlock, placeOf } from "./CodeBlock.ts"
import { comparable, isShownBy, isShownIn } from "./expectedOutput.ts"
import type { Modules } from "./Modules.ts"
import { openPage, type PageSetting } from "./PageSession.ts"

/** Compares the page's output block with the printed output, line by line. */
const compare = (block: CodeBlock, printed: string): void => {
  if (isShownBy(block.text, printed)) return
  assert.strictEqual(
    comparable(printed),
    comparable(block.text),
    `${placeOf(block)} does not show what was printed`,
  )
}

/**
 * Runs the blocks of a page in order and compares the output that it shows. Returns how many blocks
 * ran.
 */
export const walkPage = Effect.fnUntraced(function* (page: string, setting: PageSetting, modules: Modules) {
  const { perform, here, server } = yield* openPage(setting, modules)
  let printed = ""
  let count = 0
  for (const block of blocksOf(page)) {
    const rule = ruleOf(block)
    if (rule?.by === "session") {
      const { code, output } = yield* perform(block)
      const wanted = Number(block.marks.get("exits") ?? 0)
      assert.strictEqual(code, wanted, `${placeOf(block)} ended with ${code}:\n${output}`)
      printed = output
      count += 1
    } else if (rule?.by === "shown" && block.example === undefined) {
      if (rule.mark !== "log") compare(block, printed)
      else if (setting.server === "sqlite") {
        // A reader starts the server with its defaults; other logs name another storage.
        const isLogged = Effect.sync(() => isShownIn(here(block.text), server()?.output.stderr ?? ""))
        yield* until(`the log has what ${placeOf(block)} shows`, isLogged)
      }
    }
  }
  const last = server()
  if (last !== undefined) assert.deepStrictEqual(yield* last.stop, { code: 0, signal: null })
  return count
})
