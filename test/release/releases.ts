/// <reference lib="es2024.sharedmemory" />
import { assert } from "vitest"
import { CLOSED_SOCKET, collect, type Counts, Held } from "./Held.ts"

/** Something that is open. */
export interface Opened {
  /** The uses of it. Each use releases its resources, while the thing stays open. */
  readonly uses?: Readonly<Record<string, () => Promise<unknown>>>
  /** Its own counts, such as bytes. */
  readonly counts?: () => Counts
  readonly close: () => Promise<unknown>
}

/** The surroundings before something opens and after it is closed, such as a server that it talks to. */
export interface Platform {
  readonly open: () => Promise<Opened>
  readonly end?: () => Promise<unknown>
}

/** Longer than every wait of what is tested, so that only what stays is found. */
const PATIENCE_MILLIS = 4_000
/** A busy machine takes longer for as many looks, at what it does meanwhile. */
const FEWEST_LOOKS = 600
const BETWEEN_LOOKS_MILLIS = 5

/**
 * The law of everything that opens something: each use leaves no more open than there was before it,
 * and so does the end. Timers, sockets, processes, threads, files and listeners are counted, and
 * closed sockets that are still in memory.
 */
export const releases = async (make: () => Promise<Platform>): Promise<void> => {
  const surroundings = await make()
  const held = new Held()
  try {
    const outside = held.counts()
    const opened = await surroundings.open()
    const now = (): Counts => ({ ...held.counts(), ...opened.counts?.() })
    for (const [name, use] of Object.entries(opened.uses ?? {})) {
      const before = now()
      await use()
      await settles(name, before, now)
    }
    await opened.close()
    await settles("its end", outside, now)
  } finally {
    held.stop()
    await surroundings.end?.()
  }
}

const settles = async (after: string, before: Counts, now: () => Counts): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MILLIS
  for (let looks = 1; ; looks += 1) {
    const left = Object.entries(now()).filter(([kind, count]) => count > (before[kind] ?? 0))
    if (left.length === 0) return
    if (performance.now() > deadline && looks > FEWEST_LOOKS)
      assert.fail(`after ${after}, more is open than before: ${JSON.stringify(Object.fromEntries(left))}`)
    // A timer would be counted itself.
    await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_LOOKS_MILLIS).value
    if (left.some(([kind]) => kind === CLOSED_SOCKET)) collect()
  }
}
