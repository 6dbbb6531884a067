import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { call } from "../processes/api.ts"
import { startServer } from "../processes/ServerProcess.ts"

const cached = (file: string) => `node_modules/.cache/tocsin/${file}`

/** Stands in Swagger UI and nowhere else. */
const OF_VIEWER = "versions_after_load"

describe("the server as npm start runs it", () => {
  it.live("shows the documents", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const server = yield* startServer({ cwd })
      const page = yield* call(server, "GET", "/docs")
      assert.include(page.text, 'data-document="openapi.json"')
      const script = yield* call(server, "GET", "/docs/viewer.js")
      assert.include(script.text, OF_VIEWER)
      yield* server.stop
    }),
  )

  it("loads the viewer only on request", async () => {
    const { javascript } = await import(pathToFileURL(resolve(cached("viewer.mjs"))).href)
    assert.include(javascript, OF_VIEWER)
    assert.notInclude(readFileSync(cached("server.mjs"), "utf8"), OF_VIEWER)
  })
})
