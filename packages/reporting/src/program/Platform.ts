import { TOKEN } from "@tocsin/contract/operators/BearerToken"
import { readChunks } from "@tocsin/contract/formats/readChunks"
import type { Clock } from "../agent/ServerTime.ts"
import { targetOf, type Transport } from "../agent/Answer.ts"
import { type FileSystem, makeFile } from "../agent/makeFile.ts"

// Kept, because a test may fake the global ones, which then end nothing.
const { clearTimeout: endTimer, setTimeout: startTimer } = globalThis

/** Resolves once the promise does, or with `late` after real time. */
export const within = <A>(millis: number, promise: Promise<A>): Promise<A | "late"> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<"late">((resolve) => {
    timer = startTimer(() => resolve("late"), millis)
  })
  return Promise.race([promise, late]).finally(() => endTimer(timer))
}

const ANSWER_MILLIS = 15_000
/** No answer to an agent is longer. */
const MAX_ANSWER_BYTES = 65_536

const textOf = async ({ body }: Response): Promise<string> => {
  if (body === null) return ""
  const decoder = new TextDecoder()
  let [text, length] = ["", 0]
  await readChunks<Uint8Array>(body, (chunk) => {
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  })
  return text + decoder.decode()
}

/** The message of fetch states only that it failed. */
const reasonOf = (error: unknown): unknown =>
  error instanceof TypeError && error.cause instanceof Error ? error.cause : error

export const fetchTransport = (fetch: typeof globalThis.fetch): Transport => ({
  send: async (request) => {
    const { method, url } = targetOf(request)
    try {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${request.key}`, "content-type": "application/json" },
        body: request.body,
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_MILLIS),
      })
      const { status, headers } = response
      return {
        status,
        body: await textOf(response),
        retryAfter: headers.get("retry-after") ?? undefined,
        date: headers.get("date") ?? undefined,
      }
    } catch (error) {
      throw reasonOf(error)
    }
  },
})

/** A module of Node.js, where there is one. An import of it would not load in browsers. */
export const nodeModule = <Module>(name: `node:${string}`): Module | undefined => {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
  }
  // The caller names the part of the module that it uses.
  return process?.getBuiltinModule?.(name) as Module | undefined
}

export interface Platform {
  readonly clock: Clock
  /** Resolves after a time, or when the signal aborts. */
  readonly sleep: (millis: number, signal: AbortSignal) => Promise<void>
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (message: string) => void
  readonly transport: Transport
  /** Nothing is between that frequent batches could strain, so they have no pause between them. */
  readonly isInProcess?: boolean
  readonly onClosed?: () => void
}

/** Timers take 24 days at most. */
const LONGEST_TIMER_MILLIS = 2 ** 31 - 1

const MILLIS_PER_SECOND = 1_000

export const realTime = (): Pick<Platform, "clock" | "sleep" | "random"> => ({
  clock: {
    wall: () => new Date().getTime(),
    steady: () => performance.now(),
    sinceBoot: sinceBoot(nodeModule("node:os")),
  },
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(Math.max(0, millis), LONGEST_TIMER_MILLIS))
      signal.addEventListener("abort", end)
    }),
  // oxlint-disable-next-line eslint/no-restricted-properties -- spreads retries; tests bring their own
  random: () => Math.random(),
})

const sinceBoot = (os: { readonly uptime: () => number } | undefined) => () =>
  os === undefined ? performance.now() : os.uptime() * MILLIS_PER_SECOND

const KEY_BYTES = 32

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

export const newKey = (): string => hexOf(globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES)))

const FINGERPRINT_LENGTH = 16

/**
 * The fingerprint that operators compare before they accept a key: the server shows the same
 * (docs/rules.md#agent-keys).
 */
export const fingerprintOf = async (key: string): Promise<string> =>
  hexOf(
    new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(key))),
  ).slice(0, FINGERPRINT_LENGTH)

/** The key in a file; makes it on the first use. Throws errors for people. */
export const keyIn = (path: string): string => {
  type Reading = { readonly readFileSync: (file: string, encoding: "utf8") => string }
  const fs = nodeModule<FileSystem & Reading>("node:fs")
  if (fs === undefined)
    throw new Error("keyFile needs files, which are missing here: give the key as agentKey")
  try {
    if (!fs.existsSync(path)) makeFile(fs, path, () => `${newKey()}\n`)
    const key = fs.readFileSync(path, "utf8").trim()
    if (TOKEN.test(key)) return key
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`keyFile ${path} cannot be read or made (${why}); its folder must exist and be writable`)
  }
  throw new Error(`keyFile ${path} holds no key: remove it, start again, and accept the new fingerprint`)
}
