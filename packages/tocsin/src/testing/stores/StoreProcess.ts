import assert from "node:assert/strict"
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import type { Entries } from "@tocsin/adapter-memory/keyValue/entries"
import { within } from "@tocsin/reporting/program/Platform"
import { storeProgram } from "./storeProgram.ts"

/** Where a program finds the function that makes a store. */
export interface StoreModule {
  /** The module's `file:` URL. */
  readonly module: string
  /** The name that it exports the function under. */
  readonly export: string
}

/** How a write ended. `repeated`: rejected by the error of an earlier one. */
export type WriteEnd = "kept" | "rejected" | "repeated"

type Said = readonly [word: WriteEnd | "open" | "refused" | "begins" | "closed", text?: string]

const PATIENCE_MILLIS = 30_000

/** The moments that a process announces by its words. */
const AWAITED: Readonly<Partial<Record<Said[0], string>>> = {
  open: "the end of open and load, after its import",
  begins: "the beginning of a write",
  closed: "the end of close",
}

/** Options of node that are for this process alone: a test runner's, a debugger's, and a program's text. */
const OF_PARENT = /^(?:-[cep]|--(?:check|eval|print|input-type|test|watch|inspect|experimental-test)\b)/

const inherited = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isOfParent = args.map((arg, index) => {
    const [before = ""] = args.slice(Math.max(0, index - 1), index)
    return OF_PARENT.test(arg) || (!arg.startsWith("-") && OF_PARENT.test(before) && !before.includes("="))
  })
  return args.filter((_, index) => isOfParent[index] !== true)
}

/** The largest file that a limited process may write: 1 MiB, or 2 MiB by a shell that counts in KiB. */
const LIMIT_BLOCKS = 2_048

export class StoreProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #words: Array<Said> = []
  readonly #ended: Promise<unknown>
  #said = () => {}
  #errors = ""
  #hasEnded = false

  private constructor({ module, export: name }: StoreModule, place: string, isLimited: boolean) {
    const args = ["--input-type=module", "-e", storeProgram, module, name, place]
    const command = [process.execPath, ...inherited(process.execArgv), ...args]
    const shell = ["sh", "-c", `ulimit -f ${LIMIT_BLOCKS} && exec "$0" "$@"`]
    const [file = "", ...rest] = isLimited ? [...shell, ...command] : command
    // The runner of Node.js takes a process with it for one of its own.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    this.#child = spawn(file, rest, { env, stdio: ["pipe", "pipe", "pipe"] })
    this.#child.stderr.on("data", (data: Buffer) => void (this.#errors += data.toString()))
    // It may be killed while it reads.
    this.#child.stdin.on("error", () => {})
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      this.#words.push(JSON.parse(line) as Said)
      this.#said()
    })
    this.#ended = once(this.#child, "close").finally(() => {
      this.#hasEnded = true
      this.#said()
    })
    this.#ended.catch(() => {})
  }

  /** Starts one that opens the store at a place, perhaps with a limit on the size of files. */
  static start(module: StoreModule, place: string, isLimited = false): StoreProcess {
    return new StoreProcess(module, place, isLimited)
  }

  /** Its next word, which was to be this; `undefined` once it has ended. */
  async next(awaited = "the end of a write"): Promise<Said | undefined> {
    while (this.#words.length === 0 && !this.#hasEnded) {
      const said = new Promise<void>((resolve) => void (this.#said = resolve))
      if ((await within(PATIENCE_MILLIS, said)) === "late")
        assert.fail(
          `a process with the store did not come to ${awaited} within ${PATIENCE_MILLIS / 1_000} s; if other tests keep the machine busy, run this one alone\n${this.#errors}`,
        )
    }
    return this.#words.shift()
  }

  /** Waits for a word. Returns what it says besides: of `kept`, the steps of the write. */
  async hear(word: Said[0]): Promise<string | undefined> {
    const said = await this.next(AWAITED[word])
    assert.equal(said?.[0], word, `${said?.join(": ") ?? "a process with the store ended"}\n${this.#errors}`)
    return said?.[1]
  }

  /** Has it write, one after another. */
  write(
    writes: ReadonlyArray<Entries>,
    end: { readonly isLast?: boolean; readonly step?: number } = {},
  ): void {
    const changes = writes.map((entries) => Array.from(entries))
    this.#child.stdin.write(`${JSON.stringify({ writes: changes, ...end })}\n`)
  }

  /** Has it write for the last time: it is killed at a step, or in the tick of the last one's end. */
  async writeLast(writes: ReadonlyArray<Entries>, step?: number): Promise<void> {
    this.write(writes, { isLast: true, ...(step !== undefined && { step }) })
    const said = await this.next()
    assert.equal(said, undefined, `a process was not killed, because it said: ${said?.join(": ")}`)
  }

  /** Ends its orders: it closes the store. */
  finish(): void {
    this.#child.stdin.end()
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.ended()
  }

  async ended(): Promise<void> {
    while ((await this.next("its end")) !== undefined);
    await this.#ended
  }
}
