import { makeStateFolder } from "../spool/makeStateFolder.ts"
import type { CheckConfig } from "../config/AgentConfig.ts"
import { idText } from "../config/configFields.ts"
import { readConfig } from "../config/readConfig.ts"
import { systemClock } from "../clock/Clock.ts"
import { correctedNow } from "@tocsin/reporting/agent/ServerTime"
import { spoolPath } from "../daemon/Daemon.ts"
import { savedMark } from "../sending/timeMark.ts"
import type { CheckReport } from "@tocsin/reporting/agent/CheckReport"
import { newEventId } from "@tocsin/reporting/agent/eventId"
import { SpoolFile } from "../spool/SpoolFile.ts"
import { actAsOwner } from "./actAsOwner.ts"
import { UsageError } from "./options.ts"

/** A report without what the configuration says about its check. */
export type BareReport = Omit<CheckReport, "notificationsEnabled" | "incidentKey">

/** Refuses an ID that the server would refuse. */
export const requireCheckId = (id: string | undefined): string => {
  if (id === undefined) throw new UsageError("name the check")
  idText(id, {
    path: [],
    refuse: (message) => {
      throw new UsageError(`the check ${JSON.stringify(id)} ${message}`)
    },
  })
  return id
}

/** Writes a report to the spool of an agent that may or may not run. Throws where it cannot be kept. */
export const spoolReport = (
  { config, state }: { readonly config: string; readonly state: string },
  bare: BareReport,
): void => {
  const check = checkOf(config, bare.checkId)
  makeStateFolder(state)
  actAsOwner(state)
  const file = SpoolFile.open(spoolPath(state))
  try {
    const mark = savedMark(file.notes().get("time_mark"), systemClock.sinceBoot())
    const at = correctedNow(mark, systemClock)
    const report: CheckReport = {
      ...bare,
      notificationsEnabled: check?.notificationsEnabled ?? true,
      incidentKey: check?.incidentKey,
    }
    file.write({ add: [{ report, id: newEventId(at), at }] })
  } finally {
    file.close()
  }
}

/** What the configuration says about a check; a result is worth more than a valid configuration. */
const checkOf = (file: string, checkId: string): CheckConfig | undefined => {
  const { config } = readConfig(file)
  return config?.checks.get(checkId)
}
