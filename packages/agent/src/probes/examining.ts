import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { afterMillis } from "../clock/Clock.ts"

/** Node.js has four threads for files and names, and a mount that hangs holds one until it answers. */
const AT_ONCE = 2
const PATIENCE_MILLIS = 5_000

/** The threads that wait for a file system, of all probes, because all share them. */
const allLooks = new Set<{ readonly path: string; readonly answer: Promise<unknown> }>()

/**
 * Examines file systems so that those that hang leave threads for everything else. Rejects if one does
 * not answer in time, or others that hang keep it waiting.
 */
export const examining = <A>(
  look: (path: string) => Promise<A>,
  patience = PATIENCE_MILLIS,
  looks = allLooks,
) => {
  const underWay = new Map<string, Promise<A>>()
  const whyLate = (path: string): string =>
    underWay.has(path)
      ? "the file system does not answer"
      : `${[...looks].map((one) => one.path).join(" and ")} hang`

  const answerOf = async (path: string, late: Promise<never>): Promise<A> => {
    while (!underWay.has(path) && looks.size >= AT_ONCE) {
      const others = [...looks].map(({ answer }) => answer.catch(() => {}))
      await Promise.race([...others, late])
    }
    const known = underWay.get(path)
    if (known !== undefined) return await known
    const answer = look(path).finally(() => {
      underWay.delete(path)
      looks.delete(begun)
    })
    const begun = { path, answer }
    underWay.set(path, answer)
    looks.add(begun)
    return await answer
  }

  return async (path: string, clock: Clock): Promise<A> => {
    let cancelLimit = (): void => {}
    const late = new Promise<never>((_, reject) => {
      cancelLimit = afterMillis(clock, patience, () => reject(new Error(whyLate(path))))
    })
    try {
      return await Promise.race([answerOf(path, late), late])
    } finally {
      cancelLimit()
    }
  }
}
