import { type AuditEntry, AuditFilters } from "@tocsin/contract/audit/Audit"
import { auditActionNames } from "@tocsin/contract/audit/AuditActions"
import { csvColumns } from "@tocsin/contract/formats/csvText"
import { Queries } from "@tocsin/core/lists/Queries"
import { Effect } from "effect"
import { timeText, withoutMicros } from "../output/texts.ts"
import { listOn } from "./define.ts"
import * as flags from "./flags.ts"

const subjectsText = ({ subjects: [first, ...others] }: AuditEntry): string => {
  if (first === undefined) return ""
  const name = first.title === undefined ? first.id : `${first.title} (${first.id})`
  return others.length === 0 ? name : `${name} and ${others.length} more`
}

const parametersText = ({ parameters }: AuditEntry): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${withoutMicros(String(value))}`)
    .join(" ")

export const audit = listOn(Queries.layer)({
  name: "audit",
  description: "List who changed what, newest first",
  examples: ["tocsin audit --subject web-1", "tocsin audit --actor ann --since 7d"],
  filters: {
    actor: flags.text("actor", "Only changes by this actor, such as ann or cli:root"),
    action: flags.filter("action", auditActionNames, "Only changes of this kind"),
    subject: flags.text("subject", "Only changes of the thing with this ID"),
    from: flags.time("since", "Only changes at this time or later", "from"),
    to: flags.time("until", "Only changes before this time", "to"),
  },
  check: flags.reader(AuditFilters),
  query: Effect.fnUntraced(function* (given, page) {
    const filters = yield* flags.readArguments(AuditFilters, given)
    return yield* Queries.use((queries) => queries.audit({ ...filters, ...page, with_titles: true }))
  }),
  columns: () => [
    { title: "AT", cell: ({ at }) => timeText(at) },
    { title: "ACTOR", cell: ({ actor }) => actor },
    { title: "VIA", cell: ({ via }) => via },
    { title: "ACTION", cell: ({ action }) => action },
    { title: "SUBJECT", cell: subjectsText, least: 16 },
    { title: "PARAMETERS", cell: parametersText, least: 16 },
  ],
  of: "changes",
  csv: csvColumns.audit,
})
