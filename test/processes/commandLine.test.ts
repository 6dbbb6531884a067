import { readFileSync } from "node:fs"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { definitions } from "@tocsin/server/settings/Settings"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "./scratch.ts"
import { launch, startServer } from "./ServerProcess.ts"

const run = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { ended, output } = yield* launch({ cwd: yield* scratchFolder, args })
  const { code } = yield* ended
  return { code, ...output }
})

describe.concurrent("the command line", () => {
  it.live.each(["--help", "serve --help"])("%s prints every setting with its default", (line) =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* run(...line.split(" "))
      assert.deepStrictEqual([code, stderr], [0, ""])
      for (const [name, { meaning, takes }] of Object.entries(definitions)) {
        assert.include(stdout, `  ${name}\n      ${meaning}\n      takes ${takes}\n      default: `)
      }
      assert.notMatch(stdout, /undefined/)
      assert.match(stdout, /\n {2}SERVICE_PORT\n.*\n.*\n {6}default: 8080\n/)
    }),
  )

  it.live("a server starts despite a misspelled setting, and names it", () =>
    Effect.gen(function* () {
      const { output } = yield* startServer({
        cwd: yield* scratchFolder,
        environment: { DATABASE_URL: "memory:", SERVICE_DEAD_AFTR: "1h" },
      })
      const said = "SERVICE_DEAD_AFTR is not a setting and has no effect; did you mean SERVICE_DEAD_AFTER?"
      assert.include(output.stderr, JSON.stringify(said))
      assert.match(output.stdout, /^[\w-]{32}\n$/)
      assert.match(output.stderr, /"message":"your operator token follows on standard output; it ends with/)
      assert.notInclude(output.stderr, output.stdout.trim())
    }),
  )

  it.live("--help names every command and every exit code", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run("--help")
      for (const name of [
        "serve",
        "doctor",
        "migrate",
        "agents",
        "incidents",
        "outbox",
        "summary",
        "backup",
        "copy",
      ]) {
        assert.match(stdout, new RegExp(`\\n {2}${name} {2,}\\S`))
      }
      for (const { code, meaning } of Object.values(EXIT_CODES)) {
        assert.match(stdout, new RegExp(`\\n {2}${code} +${meaning}\\n`))
      }
    }),
  )

  it.live("--version prints the version", () =>
    Effect.gen(function* () {
      const manifest = readFileSync(new URL("../../packages/server/package.json", import.meta.url), "utf8")
      const { version }: { version: string } = JSON.parse(manifest)
      assert.deepStrictEqual(yield* run("--version"), { code: 0, stdout: `${version}\n`, stderr: "" })
    }),
  )

  it.live("--completions prints the completions of a shell", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* run("--completions", "bash")
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, /\ncomplete .*tocsin/)
      assert.include(stdout, "--include-rotation")
    }),
  )

  it.live("refuses unknown commands and flags, and names --help", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("--port"), {
        code: EXIT_CODES.usage.code,
        stdout: "",
        stderr: "tocsin: Unrecognized flag: --port in command tocsin\nSee tocsin --help\n",
      })
      assert.deepStrictEqual(yield* run("agents", "lost"), {
        code: EXIT_CODES.usage.code,
        stdout: "",
        stderr:
          'tocsin: Unknown subcommand "lost" for "tocsin agents"\n\n  Did you mean this?\n    list\nSee tocsin agents --help\n',
      })
      const [outbox, checks] = yield* Effect.all([run("outbox", "list"), run("checks", "list")])
      assert.deepStrictEqual([outbox.code, checks.code], [EXIT_CODES.usage.code, EXIT_CODES.usage.code])
      assert.include(outbox.stderr, "Run tocsin outbox, which lists by itself\n")
      assert.include(checks.stderr, "Run tocsin checks, which lists by itself\n")
    }),
  )
})
