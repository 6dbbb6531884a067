import { readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { rolldown } from "rolldown"

const source = fileURLToPath(new URL("../../packages/client/src/index.ts", import.meta.url))
/** A page that reads: what it does not import is not loaded. */
const page = fileURLToPath(new URL("pageWithClient.ts", import.meta.url))

const bundleOf = async (input: string, external: RegExp) => {
  const program = await rolldown({ input, platform: "browser", external, onwarn: () => {} })
  const { output } = await program.generate({ format: "iife", name: "tocsin", minify: true })
  await program.close()
  return output[0]
}

const bundles = new Map<string, ReturnType<typeof bundleOf>>()

/** The client as a browser would load it: one script that leaves its exports in a global `tocsin`. */
const bundle = (input = source, external: RegExp = /^$/) => {
  const name = `${input} ${external}`
  const made = bundles.get(name) ?? bundleOf(input, external)
  bundles.set(name, made)
  return made
}

describe("the client in a browser", () => {
  it("loads nothing of Node's", async () => {
    const { imports, dynamicImports, moduleIds } = await bundle()
    assert.deepStrictEqual([...imports, ...dynamicImports], [])
    const builtins = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]))
    assert.deepStrictEqual(
      moduleIds.filter(
        (id) => builtins.has(id) || id.includes("browser-external") || id.includes("platform-node"),
      ),
      [],
    )
    assert.deepStrictEqual(
      moduleIds.filter((id) => /packages\/adapter-http\/src\/(?!api(\/|\.ts$))/.test(id)),
      [],
    )
  })

  it("runs where there is nothing but what browsers have", async () => {
    const { code } = await bundle()
    const requests: Array<Request> = []
    const summary = {
      agents_online: 0,
      agents_offline: 0,
      checks_ok: 0,
      checks_warning: 0,
      checks_critical: 0,
    }
    const answer = {
      ...summary,
      checks_unknown: 0,
      open_incidents: 3,
      generated_at: "2026-01-31T08:30:00.000Z",
    }
    const browser = createContext({
      // Not the context's own: what fetch gives is made of these.
      ArrayBuffer,
      Uint8Array,
      AbortController,
      AbortSignal,
      Headers,
      Request,
      Response,
      ReadableStream,
      TextDecoder,
      TextEncoder,
      URL,
      URLSearchParams,
      FormData,
      clearTimeout,
      console,
      performance,
      queueMicrotask,
      setTimeout,
      fetch: (...request: ConstructorParameters<typeof Request>) => {
        requests.push(new Request(...request))
        return Promise.resolve(Response.json(answer))
      },
    })
    const call = `${code}
      tocsin.createClient({ baseUrl: "https://monitoring.example", token: "a-token" }).summary()`
    const given: unknown = await runInContext(call, browser)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(given)), answer)
    assert.deepStrictEqual(
      requests.map(({ url, headers }) => [url, headers.get("authorization")]),
      [["https://monitoring.example/api/v1/system-summary", "Bearer a-token"]],
    )
  })

  it("makes event IDs on a page without https, where crypto has no randomUUID", async () => {
    const { code } = await bundle()
    const filled = (bytes: Uint8Array) => bytes.fill(255)
    const browser = createContext({
      TextDecoder,
      TextEncoder,
      URL,
      Uint8Array,
      crypto: { getRandomValues: filled },
    })
    const given: unknown = runInContext(`${code}\ntocsin.newEventId(1_700_000_000_000)`, browser)
    assert.strictEqual(given, "018bcfe5-6800-7fff-bfff-ffffffffffff")
  })

  it("leaves out the queue of results and all state tables where a page only reads", async () => {
    const { modules } = await bundle(page)
    const kept = Object.entries(modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? id : []))
    assert.isTrue(kept.some((id) => id.endsWith("client/src/createClient.ts")))
    assert.deepStrictEqual(
      kept.filter((id) => /\/(MemoryQueue|TransitionTable)\.ts$/.test(id)),
      [],
    )
  })

  it("is as small as its page says, with and without Effect", async () => {
    const kilobytesOf = ({ code }: { readonly code: string }) => Math.ceil(gzipSync(code).length / 1_000)
    const whole = kilobytesOf(await bundle(page))
    const ours = kilobytesOf(await bundle(page, /^effect(\/|$)/))
    const text = readFileSync("docs/client.md", "utf8").replaceAll(/\s+/g, " ")
    const [, ...said] =
      /the client is (\d+) kB with gzip: (\d+) kB of Tocsin's, and (\d+) kB of/.exec(text) ?? []
    const [saidWhole = 0, saidOurs = 0, saidEffect = 0] = said.map(Number)
    assert.strictEqual(saidOurs + saidEffect, saidWhole)
    assert.isAtMost(whole, saidWhole + 1)
    assert.isAtMost(ours, saidOurs + 1)
    assert.isAtMost(saidWhole, 115)
  })
})
