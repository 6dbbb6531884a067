import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { blocksOf } from "../docs/CodeBlock.ts"
import { removeModules, writeModules } from "../docs/Modules.ts"
import { walkPage } from "../docs/walkPage.ts"

const README = "README.md"

describe("the README's walkthrough prints what the README shows", () => {
  const modules = writeModules(blocksOf(README))
  afterAll(() => removeModules(modules))

  // That it does so on SQLite, the default, is seen with the other pages:
  // test/docs/codeBlocks.test.ts.
  it.live.each(["memory", "postgres"] as const)("on %s", (server) =>
    Effect.gen(function* () {
      assert.isAbove(yield* walkPage(README, { server }, modules), 3)
    }),
  )
})
