import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { assert, it } from "@effect/vitest"
import { commandTable } from "@tocsin/server/commandTable"
import { Effect } from "effect"
import { SERVER } from "../processes/program.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { inTurn } from "../properties/atLength.ts"

/** Writes the files that a program loads, their bytes, and the modules of Node.js, to the last line of standard error. */
const COUNT = `
import { registerHooks } from "node:module"
import { statSync } from "node:fs"
import { fileURLToPath } from "node:url"
const loaded = []
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) loaded.push([url, statSync(fileURLToPath(url)).size])
    return next(url, context)
  },
})
process.on("exit", () => {
  const ofNode = process.moduleLoadList.filter((name) => name.startsWith("NativeModule "))
  console.error(JSON.stringify([...loaded, ...ofNode.map((name) => [name.replace("NativeModule ", "node:"), 0])]))
})
`
const COUNTING = ["--import", `data:text/javascript,${encodeURIComponent(COUNT)}`]

const run = (
  environment: Readonly<Record<string, string>>,
  flags: ReadonlyArray<string>,
  ...args: Array<string>
) =>
  spawnSync(process.execPath, [...flags, SERVER, ...args], {
    env: environment,
    encoding: "utf8",
  })

/** The files that a command loads, and their size. */
const loadedBy = (folder: string, ...args: Array<string>) => {
  const { stderr } = run({ SERVICE_DATA_DIR: folder, HOME: folder }, COUNTING, ...args)
  const loaded: ReadonlyArray<readonly [url: string, bytes: number]> = JSON.parse(
    stderr.trim().split("\n").at(-1) ?? "",
  )
  return {
    names: loaded.filter(([url]) => url.startsWith("file:")).map(([url]) => basename(url)),
    ofNode: loaded.map(([url]) => url).filter((url) => url.startsWith("node:")),
    kilobytes: loaded.reduce((sum, [, bytes]) => sum + bytes / 1_000, 0),
  }
}

it.effect("a version needs a few lines, and help and completions load no command", () =>
  Effect.gen(function* () {
    const folder = yield* scratchFolder
    assert.isBelow(loadedBy(folder, "--version").kilobytes, 5)
    for (const args of inTurn([["--help"], ["--completions", "zsh"]], 0)) {
      const { kilobytes, names } = loadedBy(folder, ...args)
      assert.include(names, "commandTexts.mjs", args.join(" "))
      assert.isBelow(names.length, 30, args.join(" "))
      assert.isBelow(kilobytes, 1_100, args.join(" "))
    }
  }),
)

it.effect("help and completions show each command", () =>
  Effect.gen(function* () {
    const folder = yield* scratchFolder
    const help = run({ HOME: folder }, [], "--help").stdout
    const completions = run({ HOME: folder }, [], "--completions", "fish").stdout
    const names = commandTable.flatMap(({ commands }) => commands.map(({ name }): string => name))
    for (const name of names) {
      assert.match(help, new RegExp(`^  ${name}\\s+\\S`, "m"))
      assert.include(completions, name)
    }
    assert.include(help, "SERVICE_DATA_DIR")
  }),
)

it.effect("a command loads the storage that it opens, and neither the server nor what others need", () =>
  Effect.gen(function* () {
    const folder = yield* scratchFolder
    run({ SERVICE_DATA_DIR: folder, HOME: folder }, [], "migrate")
    for (const args of inTurn([["incidents"], ["checks"], ["watches", "list"], ["oncall"]], 0)) {
      const { kilobytes, names, ofNode } = loadedBy(folder, ...args)
      const parts = names.map((name) => name.replace(/-[\w-]{8}\.part\.mjs$/, ""))
      assert.include(parts, "SqliteStorage", args.join(" "))
      for (const other of ["PgStorage", "nodemailer", "watchProbes", "askServer", "openTelemetry", "doctor"])
        assert.notInclude(parts, other, args.join(" "))
      for (const receiver of ["alertRouter", "email", "messenger", "serviceNotifier"])
        assert.notInclude(parts, receiver, args.join(" "))
      // Nothing is sent, and each of them takes MiB.
      for (const module of ["node:http", "node:https", "node:tls"])
        assert.notInclude(ofNode, module, args.join(" "))
      assert.isBelow(names.length, 140, args.join(" "))
      assert.isBelow(kilobytes, 2_100, args.join(" "))
    }
  }),
)

it.live("a server without SERVICE_MAIL_PORT loads no library for mails that come", () =>
  Effect.gen(function* () {
    const cwd = yield* scratchFolder
    const server = yield* startServer({ cwd, environment: { NODE_OPTIONS: COUNTING.join(" ") } })
    yield* server.stop
    // Each thread writes its own.
    const loaded = server.output.stderr
      .split("\n")
      .flatMap((line): ReadonlyArray<readonly [url: string, bytes: number]> =>
        line.startsWith('[["file:') ? JSON.parse(line) : [],
      )
    const bundle = dirname(SERVER)
    const readsMails = (name: string) =>
      /SMTPServer|PostalMime/.test(readFileSync(join(bundle, name), "utf8"))
    const parts = readdirSync(bundle).filter((name) => name.endsWith(".part.mjs"))
    assert.isAtLeast(parts.filter(readsMails).length, 2)
    const names = loaded.map(([url]) => basename(url)).filter((name) => parts.includes(name))
    assert.isNotEmpty(names)
    assert.deepStrictEqual(names.filter(readsMails), [])
  }),
)

it.effect("compiled code is kept where only this user writes, and no folder is needed for it", () =>
  Effect.gen(function* () {
    const folder = yield* scratchFolder
    const help = (environment: Readonly<Record<string, string>>) => {
      const { status, stderr } = run(environment, [], "--help")
      assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
    }
    const own = join(folder, "own")
    mkdirSync(own, { mode: 0o700 })
    help({ XDG_CACHE_HOME: own })
    assert.isAbove(readdirSync(join(own, "tocsin")).length, 0)
    help({ HOME: own })
    assert.isTrue(existsSync(join(own, ".cache/tocsin")))
    const shared = join(folder, "shared")
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    help({ XDG_CACHE_HOME: shared })
    assert.isFalse(existsSync(join(shared, "tocsin")))
    const file = join(folder, "file")
    writeFileSync(file, "")
    for (const home of inTurn(["", join(folder, "absent"), file], 2)) help({ HOME: home })
  }),
)
