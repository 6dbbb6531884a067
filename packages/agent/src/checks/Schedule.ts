import { createHash } from "node:crypto"

/** Where in its period a check runs: the same on every start, and spread over the checks of all agents. */
export const offsetOf = (agentId: string, checkId: string, everyMillis: number): number => {
  const hash = createHash("sha256").update(`${agentId}\0${checkId}`).digest()
  return Number(hash.readBigUInt64BE() % BigInt(everyMillis))
}

/** A check that has no recent result runs this soon. */
const FIRST_RUN_WITHIN_MILLIS = 10_000

/** When a check was last observed, and how late it is. */
export interface Beginning {
  readonly offset: number
  readonly everyMillis: number
  readonly wall: number
  readonly steady: number
  /** Of its last result; none for a new check. */
  readonly lastObservedAt: number | undefined
}

/** The first deadline in steady milliseconds. Afterwards deadlines only add whole periods. */
export const firstDue = ({ offset, everyMillis, wall, steady, lastObservedAt }: Beginning): number => {
  const untilPhase = (((offset - wall) % everyMillis) + everyMillis) % everyMillis
  const isMissed = lastObservedAt === undefined || Math.abs(wall - lastObservedAt) >= everyMillis
  return steady + (isMissed ? Math.min(untilPhase, offset % FIRST_RUN_WITHIN_MILLIS) : untilPhase)
}
