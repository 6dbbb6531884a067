import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { readImage } from "./readImage.ts"

const IMAGE = "deploy/agent/Dockerfile"

it("the agent's image begins with an init, which collects the processes that checks leave behind", () => {
  const [init = "", ...rest] = readImage(IMAGE).entrypoint
  assert.deepStrictEqual([init, ...rest], ["tini", "--", "tocsin-agent"])
  assert.match(readFileSync(IMAGE, "utf8"), new RegExp(`apt-get install .*\\b${init}\\b`))
})
