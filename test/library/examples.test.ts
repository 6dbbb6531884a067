import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { MemoryStorage, Queries, Tocsin } from "tocsin/effect"
import { Effect, Layer } from "effect"
import { watch, watching } from "@tocsin/examples/effect/program"
import { until } from "./requests.ts"

const node = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } })
  const output = { text: "" }
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      output.text += data.toString()
    })
  return { child, output }
}

describe("examples", () => {
  it("express: a notification from an empty app in less than 20 lines", async () => {
    const path = "examples/express/app.ts"
    const lines = readFileSync(path, "utf8").split("\n")
    assert.isBelow(lines.filter((line) => line.trim() !== "" && !line.startsWith("//")).length, 20)
    const { child, output } = node([path], { PORT: "0" })
    await until(() => output.text.includes("listening on"))
    const port = /port: (\d+)/.exec(output.text)?.[1] ?? ""
    const get = async (page: string) => (await fetch(`http://127.0.0.1:${port}${page}`)).json()
    assert.deepStrictEqual(await get("/break"), { accepted: 1, deduplicated: 0 })
    await until(() => output.text.includes("CRITICAL: shop/orders\nno order for an hour"))
    await get("/fixed")
    await until(() => output.text.includes("RESOLVED: shop/orders"))
    assert.deepStrictEqual(await get("/monitoring/api/v1/health"), { status: "ok" })
    child.kill()
    await once(child, "close")
  })

  it("testing an agent: its tests pass", async () => {
    const { child, output } = node(["--test", "examples/testing-an-agent/agent.test.ts"])
    const [code] = await once(child, "close")
    assert.strictEqual(code, 0, output.text)
    assert.match(output.text, /pass 3/)
  })

  it.live("effect: a program of layers", () =>
    Effect.gen(function* () {
      const { summary } = yield* Queries
      assert.strictEqual((yield* summary).open_incidents, 0)
      yield* Layer.build(watching)
      yield* Effect.timeoutOption(watch, "50 millis")
    }).pipe(Effect.provide(Tocsin.layer({ storage: MemoryStorage.layer }))),
  )
})
