import { readFileSync } from "node:fs"
import { definitions } from "@tocsin/server/settings/Settings"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "./scratch.ts"
import { launch } from "./ServerProcess.ts"

const run = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { ended, output } = yield* launch({ cwd: yield* scratchFolder, args })
  const { code } = yield* ended
  return { code, ...output }
})

describe.concurrent("the command line", { timeout: 60_000 }, () => {
  it.live("--help prints every setting with what it takes and its default", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* run("--help")
      assert.deepStrictEqual([code, stderr], [0, ""])
      for (const [name, { meaning, takes }] of Object.entries(definitions)) {
        assert.include(stdout, `  ${name}\n      ${meaning}\n      takes ${takes}\n      default: `)
      }
      assert.notMatch(stdout, /undefined/)
      assert.match(stdout, /\n {2}SERVICE_PORT\n.*\n.*\n {6}default: 8080\n/)
    }),
  )

  it.live("--version prints the version", () =>
    Effect.gen(function* () {
      const manifest = readFileSync(new URL("../../packages/server/package.json", import.meta.url), "utf8")
      const { version }: { version: string } = JSON.parse(manifest)
      assert.deepStrictEqual(yield* run("--version"), { code: 0, stdout: `${version}\n`, stderr: "" })
    }),
  )

  it.live("refuses what it does not know", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("--port"), {
        code: 1,
        stdout: "",
        stderr: "--port is not an option of Tocsin; try --help\n",
      })
    }),
  )
})
