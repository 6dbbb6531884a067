import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { operate } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { type Environment, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"

const run = promisify(execFile)

interface Block {
  readonly language: string
  readonly text: string
}

/** The code blocks of the README's walk, in order. */
const walkBlocks = (): ReadonlyArray<Block> => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
  const walk = readme.split("## From the first heartbeat")[1]?.split("\n## ")[0] ?? ""
  return Array.from(walk.matchAll(/```(\w+)\n([\s\S]*?)```/g), ([, language = "", text = ""]) => ({
    language,
    text,
  }))
}

/** Ids, fingerprints and times differ from run to run; nothing else does. */
const normalised = (text: string): string =>
  text
    .replaceAll(/"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"/g, '"ID"')
    .replaceAll(/"2\d{3}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
    .replaceAll(/"key_fingerprint":"[0-9a-f]{16}"/g, '"key_fingerprint":"PRINT"')
    .trim()

const walk = Effect.fnUntraced(function* (environment: Environment) {
  const cwd = yield* scratchFolder
  const server = yield* startServer({ cwd, environment })
  const tokenFile = join(cwd, "data", "ui-token")
  if (environment["DATABASE_URL"] !== undefined) {
    // These storages keep no token file; the walk reads one.
    mkdirSync(join(cwd, "data"), { recursive: true })
    writeFileSync(tokenFile, environment["SERVICE_AUTH_TOKEN"] ?? "")
  }
  const token = readFileSync(tokenFile, "utf8").trim()
  const sent = operate(server, "GET", "/api/v1/notifiers/outbox?state=sent", { token })
  const printed: Array<string> = []
  const expected: Array<string> = []
  let setup = ""
  for (const { language, text } of walkBlocks()) {
    if (language === "json") expected.push(normalised(text))
    if (language !== "sh") continue
    if (text.includes("BASE=")) {
      setup = text.replace(/BASE=\S+/, `BASE=${server.baseUrl}`).replace(/KEY=.*/, `KEY=${secretOf("web-1")}`)
      continue
    }
    if (text.includes("notifiers/outbox")) {
      yield* until(
        "the notification is sent",
        Effect.map(sent, ({ text }) => !text.startsWith('{"items":[]')),
      )
    }
    const { stdout } = yield* Effect.promise(() => run("sh", ["-c", `${setup}\n${text}`], { cwd }))
    printed.push(normalised(stdout))
  }
  assert.isAbove(expected.length, 3)
  assert.deepStrictEqual(printed, expected)
  assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
})

describe("the README's walk prints what the README shows", { timeout: 60_000 }, () => {
  it.live("on embedded SQLite", () => walk({}))

  it.live("in memory", () => walk({ DATABASE_URL: "memory:", SERVICE_AUTH_TOKEN: "walk-token" }))

  it.live("on PostgreSQL", () =>
    Effect.gen(function* () {
      const { url } = yield* scratchPostgres
      yield* walk({ DATABASE_URL: Redacted.value(url), SERVICE_AUTH_TOKEN: "walk-token" })
    }),
  )
})
