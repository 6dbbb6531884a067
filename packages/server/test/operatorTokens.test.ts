import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { operatorTokens } from "../src/keptSecret.ts"
import { Console, Effect, Logger, Redacted } from "effect"

const scratchFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-token-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
)

/**
 * Asks for the tokens as so many processes at once do. Gives what each got and all that was
 * printed.
 */
const ask = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string>>,
  { processes = 1, isTerminal = false } = {},
) {
  const settings = yield* Effect.fromResult(checkedSettings(environment))
  const printed: Array<string> = []
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => void logged.push(String(message)))
  const noted: Array<string> = []
  const console = {
    ...globalThis.console,
    log: (text: string) => printed.push(text),
    error: (text: string) => noted.push(text),
  }
  const tokens = yield* Effect.all(
    Array.from({ length: processes }, () => operatorTokens(settings, isTerminal)),
    { concurrency: processes },
  ).pipe(
    Effect.provideService(Console.Console, console),
    Effect.provide([NodeServices.layer, Logger.layer([logger])]),
  )
  for (const token of tokens.flat()) assert.notInclude([...logged, ...noted].join(), Redacted.value(token))
  const values = tokens.map((held) => held.map((token) => Redacted.value(token)).join())
  return { tokens: values, printed, logged, noted }
})

describe("the operators' token", () => {
  it.live("is generated once, printed once, and kept for its owner alone", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      const first = yield* ask({ SERVICE_DATA_DIR: folder })
      assert.deepStrictEqual(first.tokens, first.printed)
      assert.match(first.tokens.join(), /^[\w-]{32}$/)
      assert.strictEqual(readFileSync(join(folder, "ui-token"), "utf8"), `${first.tokens.join()}\n`)
      assert.strictEqual(statSync(join(folder, "ui-token")).mode & 0o777, 0o600)
      const file = join(folder, "ui-token")
      assert.deepStrictEqual(first.logged, [
        `your operator token follows on standard output, this once; it is stored in ${file}`,
      ])
      assert.deepStrictEqual(yield* ask({ SERVICE_DATA_DIR: folder }), {
        tokens: first.tokens,
        printed: [],
        logged: [`the operator token is in ${file}`],
        noted: [],
      })
    }),
  )

  it.live("is named to a person at a terminal in plain words, which no log level hides", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      const file = join(folder, "ui-token")
      const first = yield* ask({ SERVICE_DATA_DIR: folder }, { isTerminal: true })
      assert.lengthOf(first.printed, 1)
      assert.deepStrictEqual(first.noted, [
        `your operator token follows on standard output, this once; it is stored in ${file}`,
      ])
      const second = yield* ask({ SERVICE_DATA_DIR: folder }, { isTerminal: true })
      assert.deepStrictEqual(second.noted, [`the operator token is in ${file}`])
      assert.deepStrictEqual([...first.logged, ...second.logged], [])
    }),
  )

  it.live("is the same for processes that start at the same moment, and printed by one of them", () =>
    Effect.gen(function* () {
      const { tokens, printed } = yield* ask({ SERVICE_DATA_DIR: yield* scratchFolder }, { processes: 20 })
      assert.lengthOf(printed, 1)
      assert.deepStrictEqual(Array.from(new Set(tokens)), printed)
    }),
  )

  it.live("is waited for while another process writes it", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      const file = join(folder, "ui-token")
      writeFileSync(file, "")
      const writing = Effect.andThen(
        Effect.sleep("100 millis"),
        Effect.sync(() => writeFileSync(file, "a-token\n")),
      )
      const [{ tokens, printed }] = yield* Effect.all([ask({ SERVICE_DATA_DIR: folder }), writing], {
        concurrency: 2,
      })
      assert.deepStrictEqual([tokens, printed], [["a-token"], []])
    }),
  )

  it.live("is not generated if one is set, and not kept without a data folder", () =>
    Effect.gen(function* () {
      const set = yield* ask({ SERVICE_AUTH_TOKEN: "one, two" })
      assert.deepStrictEqual(set, { tokens: ["one,two"], printed: [], logged: [], noted: [] })
      const { tokens, printed, logged } = yield* ask({ DATABASE_URL: "memory:" })
      assert.deepStrictEqual(tokens, printed)
      assert.match(
        logged.join(),
        /^your operator token follows on standard output; it ends with this process/,
      )
    }),
  )
})
