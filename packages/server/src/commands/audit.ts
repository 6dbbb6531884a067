import { auditActionNames, type AuditEntry, AuditFilters } from "@tocsin/contract/Audit"
import * as Instant from "@tocsin/contract/Instant"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { Command } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { itemsOf, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

/** Of many subjects, the first and how many there are. */
const subjectsText = ({ subjects: [first, ...others] }: AuditEntry): string => {
  if (first === undefined) return ""
  return others.length === 0 ? first.id : `${first.id} and ${others.length} more`
}

const parametersText = ({ parameters }: AuditEntry): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(" ")

const COLUMNS: ReadonlyArray<Column<AuditEntry>> = [
  { title: "AT", cell: ({ at }) => Instant.format(at) },
  { title: "ACTOR", cell: ({ actor }) => actor },
  { title: "VIA", cell: ({ via }) => via },
  { title: "ACTION", cell: ({ action }) => action },
  { title: "SUBJECT", cell: subjectsText, least: 16 },
  { title: "PARAMETERS", cell: parametersText, least: 16 },
]

/** `tocsin audit` */
export const audit = Command.make(
  "audit",
  {
    actor: flags.text("actor", "Only changes by this actor, such as ann or cli:root"),
    action: flags.filter("action", auditActionNames, "Only changes of this kind"),
    subject: flags.text("subject", "Only changes of the thing with this ID"),
    from: flags.text("from", "Only changes at this time or later, such as 2027-01-31T08:30:00Z"),
    to: flags.text("to", "Only changes before this time"),
    ...flags.list,
  },
  Effect.fnUntraced(function* ({ actor, action, subject, from, to, ...list }) {
    const filters = yield* flags.readArguments(AuditFilters, { actor, action, subject, from, to })
    const show = Effect.gen(function* () {
      const queries = yield* Queries
      const items = itemsOf((page) => queries.audit({ ...filters, ...page }))
      return yield* writeList({ items, columns: COLUMNS, of: "changes" }, list)
    })
    return yield* Effect.provide(show, useCases)
  }),
).pipe(
  Command.withDescription("List who changed what, newest first"),
  Command.withExamples([
    { command: "tocsin audit --subject web-1" },
    { command: "tocsin audit --actor ann --from 2027-01-31T00:00:00Z" },
  ]),
)
