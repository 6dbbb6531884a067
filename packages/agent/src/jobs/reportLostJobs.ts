import type { PendingResult } from "@tocsin/reporting/agent/ResultQueue"
import { newEventId } from "@tocsin/reporting/agent/CheckReport"
import { SpoolFile } from "../spool/SpoolFile.ts"
import { isLost, lostReport, startedJobs } from "./StartedJob.ts"

/** The results of lost runs, and the notes to remove with them. */
export interface LostJobs {
  readonly add: ReadonlyArray<PendingResult>
  readonly forget: ReadonlyArray<string>
}

/** The lost runs among the notes of a spool; of one check, if it is named. */
export const lostJobs = (notes: ReadonlyMap<string, string>, at: number, checkId?: string): LostJobs => {
  const lost = startedJobs(notes).filter(
    (one) => (checkId === undefined || one.checkId === checkId) && isLost(one),
  )
  return {
    add: lost.map((one) => ({ report: lostReport(one), id: newEventId(at), at })),
    forget: lost.map(({ name }) => name),
  }
}

/** Has a spool hold the results of lost runs. `at` is the corrected time. */
export const reportLostJobs = (path: string, at: number): void => {
  const file = SpoolFile.open(path)
  try {
    file.decide((notes) => lostJobs(notes, at))
  } finally {
    file.close()
  }
}
