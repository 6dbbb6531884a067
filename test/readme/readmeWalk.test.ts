import { afterAll, assert, describe, it } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { blocksOf } from "../docs/CodeBlock.ts"
import { removeModules, writeModules } from "../docs/Modules.ts"
import { walkPage } from "../docs/walkPage.ts"
import { whyNotAtLength } from "../properties/atLength.ts"

const PAGE = "docs/start/server.md"

describe("the requests of the page on servers print what the page shows", () => {
  const modules = writeModules(blocksOf(PAGE))
  afterAll(() => removeModules(modules))

  // That it does so on SQLite, the default, is seen with the other pages:
  // test/docs/codeBlocks.test.ts.
  for (const server of ["memory", "postgres"] as const) {
    const why = server === "memory" ? undefined : whyNotAtLength
    it.live.skipIf(why !== undefined)(`on ${server}${skippedFor(why)}`, () =>
      Effect.gen(function* () {
        assert.isAbove(yield* walkPage(PAGE, { server }, modules), 3)
      }),
    )
  }
})
