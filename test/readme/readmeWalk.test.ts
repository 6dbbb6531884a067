import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, Redacted } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { type RunningServer, startServer } from "./RunningServer.ts"

const run = promisify(execFile)

interface Block {
  readonly language: string
  readonly text: string
}

/** The code blocks of the README's walk, in order. */
const walkBlocks = async (): Promise<ReadonlyArray<Block>> => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8")
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

const untilDelivered = async (server: RunningServer, token: string): Promise<void> => {
  for (;;) {
    const answer = await fetch(`${server.baseUrl}/api/v1/notifiers/outbox?state=sent`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { items } = (await answer.json()) as { items: ReadonlyArray<unknown> }
    if (items.length > 0) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const walk = async (environment: Readonly<Record<string, string>>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "tocsin-walk-"))
  folders.push(folder)
  const server = await startServer(folder, environment)
  servers.push(server)
  const tokenFile = join(folder, "data", "ui-token")
  if (environment["DATABASE_URL"] !== undefined) {
    // These storages keep no token file; the walk reads one.
    await mkdir(join(folder, "data"), { recursive: true })
    await writeFile(tokenFile, environment["SERVICE_AUTH_TOKEN"] ?? "")
  }
  const token = (await readFile(tokenFile, "utf8")).trim()
  const printed: Array<string> = []
  const expected: Array<string> = []
  let script = ""
  for (const { language, text } of await walkBlocks()) {
    if (language === "json") expected.push(normalised(text))
    if (language !== "sh") continue
    const isSetup = text.includes("BASE=")
    if (isSetup) {
      script = text.replace(/BASE=\S+/, `BASE=${server.baseUrl}`).replace(/KEY=.*/, "KEY=the-key-of-web-1")
      continue
    }
    if (text.includes("notifiers/outbox")) await untilDelivered(server, token)
    const { stdout } = await run("sh", ["-c", `${script}\n${text}`], { cwd: folder })
    printed.push(normalised(stdout))
  }
  expect(expected.length).toBeGreaterThan(3)
  expect(printed).toEqual(expected)
  expect(await server.stop()).toBe(0)
}

const servers: Array<RunningServer> = []
const folders: Array<string> = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

describe("the README's walk prints what the README shows", { timeout: 60_000 }, () => {
  it("on embedded SQLite", () => walk({}))

  it("in memory", () => walk({ DATABASE_URL: "memory:", SERVICE_AUTH_TOKEN: "walk-token" }))

  it("on PostgreSQL", () =>
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      yield* Effect.promise(() =>
        walk({ DATABASE_URL: Redacted.value(url), SERVICE_AUTH_TOKEN: "walk-token" }),
      )
    }).pipe(Effect.provide(ScratchPostgres.layer), Effect.runPromise))
})
