import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8")

describe("scripts/tryExamplePolicy.ts", () => {
  it.runIf(AT_LENGTH)(
    `counts what the README and the page on policies show${unlessAtLength}`,
    { timeout: 300_000 },
    () => {
      const report = execFileSync(process.execPath, ["scripts/tryExamplePolicy.ts"], {
        cwd: root,
        encoding: "utf8",
      })
      const count = /^[\d,]+ messages instead of [\d,]+ from /.exec(report)?.[0] ?? assert.fail(report)
      assert.include(read("README.md"), count)
      const tables = /\nRECEIVER[^]*?(?=\n\nIn force)/.exec(report)?.[0] ?? assert.fail(report)
      assert.include(read("docs/policy.md"), tables)
    },
  )
})
