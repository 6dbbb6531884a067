import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { rolldown } from "rolldown"
import { createAgent, createClient } from "tocsin/client"
import { nodeRefusal } from "@tocsin/contract/formats/nodeVersions"
import manifest from "../../package.json" with { type: "json" }
import { faultsOfAdmission } from "../console/Console.ts"
import { until } from "../library/requests.ts"
import { scratchPostgres } from "../processes/scratch.ts"
import { AT_LENGTH, unlessAtLength, inTurn } from "../properties/atLength.ts"
import { allowedLicences } from "../security/allowedLicences.ts"
import { faultsOf } from "./publishing.ts"
import { readRelease } from "./release.ts"
import { type Ran, StrangersProject } from "./StrangersProject.ts"

/**
 * A compiler, npm and a suite of two hundred tests on a busy machine: nothing hangs longer than
 * this.
 */
const PATIENCE_MILLIS = 1_800_000
const TOKEN = "operators-token"
const MEGABYTE = 1_000_000

/** npm's own files are hidden. */
const isShown = (name: string): boolean => !name.startsWith(".")

let project: StrangersProject

beforeAll(async () => {
  project = await StrangersProject.make()
  return () => project.remove()
}, PATIENCE_MILLIS)

const assertPassed = ({ code, output }: Ran) => assert.strictEqual(code, 0, output)

/** Starts the installed server in a folder. */
const startServer = async (cwd: string, settings: Readonly<Record<string, string>>) => {
  const program = join(cwd, "node_modules/.bin/tocsin")
  const server = spawn(program, ["serve"], {
    cwd,
    env: { ...project.environment, SERVICE_PORT: "0", SERVICE_AUTH_TOKEN: TOKEN, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  })
  const log = { text: "" }
  server.stderr.on("data", (chunk: Buffer) => (log.text += chunk.toString()))
  const address = () => /listens on (http:\/\/[^"\s]+)/.exec(log.text)?.[1]
  await until(() => address() !== undefined || server.exitCode !== null)
  return { server, log, address: address() ?? assert.fail(log.text) }
}

describe("published packages", { timeout: PATIENCE_MILLIS }, () => {
  it.skipIf(!AT_LENGTH)(`pass publint and are-the-types-wrong${unlessAtLength}`, async () => {
    const faults: Record<string, ReadonlyArray<string>> = {}
    for (const [name, tarball] of project.tarballs) {
      const found = await faultsOf(tarball)
      if (found.length > 0) faults[name] = found
    }
    assert.deepStrictEqual(faults, {})
    assert.include(Array.from(project.tarballs.keys()), "tocsin")
  })

  it("say which Node.js the program needs on an older one", () => {
    for (const node of ["20.20.2", "24.21.0"]) {
      const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } })`
      const program = join(project.built, "tocsin/bin/tocsin.mjs")
      const args = ["--import", `data:text/javascript,${encodeURIComponent(old)}`, program, "--help"]
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" })
      assert.deepStrictEqual([status, stderr], [1, `${nodeRefusal("tocsin", { node })}\n`])
    }
  })

  it("contain and install only packages under allowed licences", () => {
    const { components } = readRelease(project.built)
    assert.isAbove(components.length, 10)
    assert.deepStrictEqual(
      components.filter(({ licence }) => !allowedLicences.has(licence)),
      [],
    )
  })

  it("have a bill of materials that names every package in a bundle", () => {
    const { components, bundled } = readRelease(project.built)
    const named = new Set(components.map(({ name, version }) => `${name} ${version}`))
    assert.includeMembers(Array.from(bundled), ["preact 11.2.0", "yaml 2.9.1"])
    assert.isEmpty(Array.from(bundled).filter((found) => !named.has(found)))
    assert.isTrue(named.has("swagger-ui-dist 5.31.0"))
  })

  it("have the checksums of everything that is published", () => {
    const { stated, computed } = readRelease(project.built)
    assert.deepStrictEqual(stated, computed)
    const tarballs = Array.from(project.tarballs.values(), (path) => basename(path))
    assert.includeMembers(Object.keys(stated), [...tarballs, "sbom.cdx.json"])
  })

  it.live("work in plain JavaScript", () =>
    Effect.gen(function* () {
      const POSTGRES_URL = Redacted.value((yield* scratchPostgres).url)
      assertPassed(yield* Effect.promise(() => project.run("node", ["monitors.js"], { POSTGRES_URL })))
    }),
  )

  it("run the programs of tocsin's README", async () => {
    const readme = readFileSync(join(project.path, "node_modules/tocsin/README.md"), "utf8")
    const programs = Array.from(readme.matchAll(/```js\n([\s\S]*?)```/g), ([, text = ""]) => text)
    assert.lengthOf(programs, 1)
    for (const program of programs) {
      const { code, output } = await project.run("node", ["--input-type=module", "--eval", program])
      assert.strictEqual(code, 0, output)
      assert.include(output, "open_incidents: 0")
    }
  })

  it("work without Effect: the library, its tests and its program", async () => {
    const alone = await project.install("tocsin")
    assert.isAtMost(alone.bytes, 15 * MEGABYTE)
    assert.deepStrictEqual(readdirSync(join(alone.folder, "node_modules")).filter(isShown), ["tocsin"])
    const imports = ["tocsin", "tocsin/client", "tocsin/console", "tocsin/testing"]
    const program = imports.map((entry) => `await import("${entry}")`).join("\n")
    assertPassed(await alone.run("node", ["--input-type=module", "--eval", program]))
    const sharing = await alone.run("node", [
      "--input-type=module",
      "--eval",
      'await import("tocsin/effect")',
    ])
    assert.match(sharing.output, /Cannot find package 'effect' imported from .*tocsin/)
  })

  it.skipIf(!AT_LENGTH)(`have types without Effect, for both compilers${unlessAtLength}`, async () => {
    const alone = await project.install("tocsin", ["types.ts", "browser.ts", "tsconfig.json"])
    const types = [join(project.path, "node_modules/@types")]
    writeFileSync(
      join(alone.folder, "tsconfig.alone.json"),
      JSON.stringify({
        extends: "./tsconfig.json",
        compilerOptions: { typeRoots: types },
        files: ["types.ts", "browser.ts"],
      }),
    )
    for (const compiler of ["typescript/bin/tsc", "typescript-5.7/lib/tsc.js"]) {
      const args = [
        join(project.path, "node_modules", compiler),
        "--pretty",
        "false",
        "-p",
        "tsconfig.alone.json",
      ]
      assertPassed(await alone.run("node", args))
    }
  })

  it("have a client for browsers, which imports nothing of Node.js", async () => {
    const input = join(project.path, "node_modules/tocsin/lib/client.js")
    const client = await rolldown({ input, platform: "browser", onwarn: assert.fail })
    const { output } = await client.generate({ format: "esm" })
    assert.deepStrictEqual(output[0].imports, [])
  })

  it("ask Node.js for its modules in a way that bundlers and CommonJS have, too", () => {
    const folder = join(project.path, "node_modules/tocsin/lib")
    const asking = readdirSync(folder).filter(
      (file) => file.endsWith(".js") && readFileSync(join(folder, file), "utf8").includes("createRequire"),
    )
    assert.deepStrictEqual(asking, [])
  })

  const ways = inTurn([["in several files", true] as const, ["in one, minified", false] as const], 1)
  it.each(ways)("can be bundled, as the page on bundling does it: %s", async (_, codeSplitting) => {
    const program = /```ts\n([^]*?)```/.exec(readFileSync("docs/bundling.md", "utf8"))?.[1] ?? ""
    const input = join(project.path, "app.ts")
    writeFileSync(input, program)
    const made = await rolldown({ input, platform: "node", onwarn: () => {} })
    const target = mkdtempSync(join(tmpdir(), "tocsin-bundled-"))
    try {
      const { output } = await made.write({ dir: target, codeSplitting, minify: !codeSplitting })
      assert.strictEqual(output.length > 1, codeSplitting)
      writeFileSync(join(target, "package.json"), '{ "type": "module" }')
      const { code, output: printed } = await project.run("node", [join(target, "app.js")])
      assert.deepStrictEqual([code, printed], [0, "true\n"])
    } finally {
      rmSync(target, { recursive: true })
    }
  })

  // Installed from the registry, so at length alone.
  it.skipIf(!AT_LENGTH)(
    `can be bundled by the bundlers of the page on bundling${unlessAtLength}`,
    async () => {
      const page = readFileSync("docs/bundling.md", "utf8")
      for (const tried of ["esbuild 0.28", "webpack 5.113"]) assert.include(page, tried)
      const { folder, run } = await project.install("tocsin")
      // An installation in the same folder would remove the package, which is not saved.
      const tools = join(folder, "tools")
      mkdirSync(tools)
      writeFileSync(join(tools, "package.json"), '{ "private": true, "type": "module" }')
      assertPassed(await run("npm", ["install", "--prefix", tools, "esbuild@0.28.2", "webpack@5.113.0"]))
      const program = /```ts\n([^]*?)```/.exec(page)?.[1] ?? ""
      const [imports = "", ...body] = program.split("\n\n")
      writeFileSync(join(folder, "app.ts"), program)
      // CommonJS awaits nothing at its top.
      const wrapped = `${imports}\nvoid (async () => {\n${body.join("\n\n")}\n})()`
      writeFileSync(join(folder, "wrapped.ts"), wrapped)
      const esbuilder = join(tools, "node_modules/.bin/esbuild")
      const esbuild = (entry: string, ...args: ReadonlyArray<string>) =>
        run(esbuilder, [entry, "--bundle", "--platform=node", ...args])
      assertPassed(await esbuild("app.ts", "--format=esm", "--splitting", "--outdir=esm"))
      assertPassed(await esbuild("wrapped.ts", "--format=cjs", "--outfile=cjs/app.cjs"))
      // Webpack reads JavaScript.
      assertPassed(await run(esbuilder, ["wrapped.ts", "--outfile=plain.mjs"]))
      const config = `{ context: "${folder}", mode: "production", optimization: { minimize: false }, target: "node", entry: "./plain.mjs", output: { path: "${folder}/webpack", filename: "app.cjs", chunkFilename: "[id].cjs" } }`
      const script = `import webpack from "webpack"
webpack(${config}, (error, made) => {
  const faults = error ? [error.message] : made.toJson().errors.map(({ message }) => message)
  console.log(faults.join("\\n"))
  process.exit(faults.length)
})`
      writeFileSync(join(tools, "webpack.mjs"), script)
      assertPassed(await run("node", ["tools/webpack.mjs"]))
      for (const made of ["esm/app.js", "cjs/app.cjs", "webpack/app.cjs"]) {
        const { code, output } = await run("node", [made])
        assert.deepStrictEqual([made, code, output], [made, 0, "true\n"])
      }
    },
  )

  it("share Effect with a program that has it", async () => {
    assertPassed(await project.run("node", ["layers.ts"]))
  })

  const configs = ["tsconfig.json", "tsconfig.browser.json", ...(AT_LENGTH ? ["tsconfig.examples.json"] : [])]
  it.each(configs)("have the types that programs need: %s", async (config) => {
    // The declarations themselves take longer than the programs.
    const sample = AT_LENGTH ? [] : ["--skipLibCheck"]
    const args = ["--pretty", "false", "--singleThreaded", ...sample, "-p", config]
    assertPassed(await project.run("tsc", args))
  })

  // The old compiler takes as long as all other checks of types together.
  it.skipIf(!AT_LENGTH).each(["tsconfig.json", "tsconfig.browser.json"])(
    `have types for TypeScript 5.7, the least version that the README states: %s${unlessAtLength}`,
    async (config) => {
      const readme = readFileSync(join(project.path, "node_modules/tocsin/README.md"), "utf8")
      assert.include(readme, "TypeScript 5.7")
      const compiler = "node_modules/typescript-5.7/lib/tsc.js"
      assertPassed(await project.run("node", [compiler, "--pretty", "false", "-p", config]))
    },
  )

  // The examples' own tests run elsewhere: here a stranger runs them.
  it.skipIf(!AT_LENGTH)(`run the examples${unlessAtLength}`, async () => {
    const { code, output } = await project.run("vitest", ["run", "--reporter=tree"], { PROPERTY_RUNS: "1" })
    assert.strictEqual(code, 0, output)
    assert.match(output, /Test Files .*3 passed/) // None was overlooked.
  })

  it("include the command line", async () => {
    assertPassed(await project.run("tocsin", ["migrate"]))
    assert.match((await project.run("tocsin", ["agents", "list", "--json"])).output, /"items": ?\[\]/)
  })

  it.each(["tocsin", "tocsin-agent"])("are programs that npx runs in an empty folder: %s", async (name) => {
    for (const ran of [await project.run(name, ["--version"]), await project.runAlone(name, ["--version"])])
      assert.deepStrictEqual(
        { code: ran.code, output: ran.output.trim() },
        { code: 0, output: manifest.version },
      )
  })

  it("have pages whose links lead to files of the package", () => {
    const folder = join(project.path, "node_modules/tocsin")
    const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".md"),
    )
    const links = pages.flatMap((page) =>
      Array.from(readFileSync(join(folder, page), "utf8").matchAll(/\]\(([^)\s#:]+)[)#]/g), ([, link = ""]) =>
        join(dirname(page), link),
      ),
    )
    assert.include(links, "examples/fastify/app.ts")
    assert.deepStrictEqual(
      links.filter((link) => !existsSync(join(folder, link))),
      [],
    )
  })

  it("include an agent of few bytes", async () => {
    assert.isAtMost((await project.install("tocsin-agent")).bytes, 3 * MEGABYTE)
  })

  it("take the example notifier and storage as packages, which a server in an empty folder loads", async () => {
    const folders = ["examples/custom-notifier", "examples/custom-storage"]
    const packed = await Promise.all(folders.map((folder) => project.pack(folder)))
    const { folder, run } = await project.install("tocsin", [], packed)
    const pages: Array<string> = []
    const pager = createServer((request, response) => {
      void text(request).then((page) => {
        pages.push(page)
        response.end()
      })
    }).listen(0, "127.0.0.1")
    await once(pager, "listening")
    const { port } = pager.address() as AddressInfo
    const settings = {
      SERVICE_EXTENSIONS: "tocsin-notifier-pager/extension,tocsin-storage-log-file/extension",
      PAGER_URL: `http://127.0.0.1:${port}/pages`,
      LOG_FILE: "state.log",
    }
    const { address: baseUrl, log, server } = await startServer(folder, settings)
    const shop = createAgent({ baseUrl, agentId: "shop", agentKey: "key-of-shop", log: false })
    shop.report("orders", "critical", "no order for an hour")
    await until(() => shop.state().admission === "pending")
    await createClient({ baseUrl, token: TOKEN }).agents.accept("shop")
    assert.deepStrictEqual(await shop.close(), { delivered: 1, dropped: 0 })
    await until(() => pages.length > 0)
    assert.match(pages[0] ?? "", /^CRITICAL: shop\/orders\n/)
    server.kill("SIGKILL")
    await once(server, "close")
    pager.close()
    const { code, output } = await run("tocsin", ["incidents", "--json"], settings)
    assert.deepStrictEqual([code, output.includes("shop/orders")], [0, true], `${output}\n${log.text}`)
  })

  it("include the server, which examples/agent.sh reports to", async () => {
    const { address, log, server } = await startServer(project.path, { DATABASE_URL: "memory:" })
    const agent = { TOCSIN_URL: address, TOCSIN_STATE_DIR: join(project.path, "agent") }
    const { output } = await project.run("sh", ["examples/agent.sh"], agent)
    const answer = await fetch(`${address}/api/v1/agents`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    assert.lengthOf(((await answer.json()) as { items: Array<object> }).items, 1, output)
    // Files that few request are next to the program, and come along.
    const viewer = await fetch(`${address}/docs/viewer.js`)
    assert.isAbove((await viewer.text()).length, 1_000_000)
    assert.deepStrictEqual(await faultsOfAdmission(address, TOKEN), [])
    server.kill()
    const [code] = await once(server, "close")
    assert.strictEqual(code, 0, log.text)
  })
})
