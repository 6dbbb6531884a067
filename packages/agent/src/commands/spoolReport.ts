import { makeStateFolder } from "../spool/makeStateFolder.ts"
import { idText, incidentKey } from "../config/configFields.ts"
import { readConfig } from "../config/readConfig.ts"
import { systemClock } from "../clock/Clock.ts"
import { correctedNow } from "@tocsin/reporting/agent/ServerTime"
import { spoolPath } from "../daemon/Daemon.ts"
import { savedMark } from "../sending/timeMark.ts"
import { type CheckReport, newEventId } from "@tocsin/reporting/agent/CheckReport"
import { SpoolFile } from "../spool/SpoolFile.ts"
import { actAsOwner } from "./actAsOwner.ts"
import { type CommandOptions, UsageError, valueOf } from "./options.ts"

/** A report without what the configuration says about its check. */
export type BareReport = Omit<CheckReport, "notificationsEnabled">

/** Where a command finds the configuration and the spool. */
interface Place {
  readonly config: string
  readonly state: string
}

/** Refuses an ID that the server would refuse. */
export const requireCheckId = (id: string | undefined): string => {
  if (id === undefined) throw new UsageError("name the check")
  return valueOf(idText, `the check ${JSON.stringify(id)}`, id)
}

/** The value of `--incident-key`. */
export const incidentKeyOf = ({ "incident-key": key }: CommandOptions): string | undefined =>
  key === undefined ? undefined : valueOf(incidentKey, "--incident-key", key)

/** The terms of a check's result by the configuration. A result is worth more than a valid configuration. */
export const decideTerms = (
  { config: file }: Place,
  { checkId, incidentKey: given }: { readonly checkId: string; readonly incidentKey?: string | undefined },
): Pick<CheckReport, "notificationsEnabled" | "incidentKey"> => {
  const check = readConfig(file).config?.checks.get(checkId)
  return {
    notificationsEnabled: check?.notificationsEnabled ?? true,
    incidentKey: given ?? check?.incidentKey,
  }
}

/** Does something with the spool of an agent that may or may not run, at the corrected time. */
export const withSpool = (
  state: string,
  work: (file: SpoolFile, at: number, isServerTime: boolean) => void,
): void => {
  const file = SpoolFile.open(spoolPath(state))
  try {
    const mark = savedMark(file.notes().get("time_mark"), systemClock.sinceBoot())
    work(file, correctedNow(mark, systemClock), mark !== undefined)
  } finally {
    file.close()
  }
}

/** Writes a report to the spool, and removes a note with it. Throws where it cannot be kept. */
export const spoolReport = (place: Place, bare: BareReport, forget?: string): void => {
  const report: CheckReport = { ...bare, ...decideTerms(place, bare) }
  makeStateFolder(place.state)
  actAsOwner(place.state)
  withSpool(place.state, (file, at, isServerTime) =>
    file.write({
      add: [{ report, id: newEventId(at), at, isServerTime }],
      notes: new Map(forget === undefined ? [] : [[forget, ""]]),
    }),
  )
}
