import type { AuditEntry } from "@tocsin/client"
import { auditActionNames } from "@tocsin/contract/audit/AuditActions"
import { localTimes } from "../format/times.ts"
import { arranged, type Sorts } from "../state/arranged.ts"
import { actsOf } from "../state/auditActs.ts"
import { now } from "../state/clock.ts"
import { listOf, MOST } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { Export } from "../view/Export.tsx"
import { Field } from "../view/forms.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { chosenDays, Days, FilterField, parameterOf } from "../view/navigation.tsx"
import { Empty, Time } from "../view/states.tsx"
import { didText, NAMELESS, Subjects, useSubjectNames } from "../view/Subjects.tsx"
import { usePages } from "../view/usePages.ts"

const parametersText = (parameters: AuditEntry["parameters"]): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${localTimes(String(value), now.peek())}`)
    .join(", ")

const ACTIONS = [["", "all"], ...auditActionNames.map((name) => [name] as const)] as const

/** The subject of a change, as its row shows it; subjects that it shows by other names come the newest first. */
const aboutOf = ({ subjects: [first] }: AuditEntry): string => {
  const { id = "", kind = "", title } = first ?? {}
  return `${kind} ${(NAMELESS[kind] ?? "") === "" ? (title ?? id) : ""}`
}

const SORTS: Sorts<AuditEntry> = {
  who: ({ actor }) => actor,
  what: (entry) => `${didText(entry.action)} ${aboutOf(entry)}`,
  by: ({ via }) => via,
  when: ({ at }) => at,
}

const COLUMNS: Columns<AuditEntry> = [
  column("Who", "minmax(9rem, 1fr)", ({ actor }) => <b>{actor}</b>, "who"),
  column(
    "Did what",
    4.4,
    ({ action, parameters, subjects }) => (
      <span class="subject">
        <span>
          {didText(action)} <Subjects subjects={subjects} />
        </span>{" "}
        <small>{parametersText(parameters)}</small>
      </span>
    ),
    "what",
  ),
  column(
    "By",
    "4rem",
    ({ via }) => (
      <span class="notes">
        <em>{via}</em>
      </span>
    ),
    "by",
  ),
  column("When", "6.75rem", ({ at }) => <Time at={at} />, "when"),
]

export const Audit = () => {
  const {
    actor = "",
    action = "",
    filter: search = "",
    subject = "",
    from = "",
    sort,
    to = "",
  } = route.value.parameters
  const query = { actor: actor.trim(), action, subject: subject.trim(), ...chosenDays() }
  const listed = usePages(arranged((limit) => actsOf(query, limit), { sorts: SORTS, sort, search }))
  const isFiltered = actor + action + search + subject + from + to !== ""
  const isTurned = from !== "" && to !== "" && from > to
  useSubjectNames()
  return (
    <>
      <div class="filters">
        <FilterField what="words" />
        <FilterField label="Who" what="an actor" parameter="actor" />
        <FilterField label="ID" what="web-1/disk" parameter="subject" />
        <Field label="Action " options={ACTIONS} {...parameterOf("action")} />
        <Days />
        <Export name="audit" lists={[listOf<AuditEntry>("ops/v1/audit", query, MOST)]} />
      </div>
      <Listing
        label="Changes"
        kind="audit"
        columns={COLUMNS}
        listed={listed}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title={isTurned ? "The first day is after the last one" : "No change matches"}>
              {!isTurned && "An actor and an ID count as a whole, such as web-1/disk."}
            </Empty>
          ) : (
            <Empty title="No changes yet">Each change is recorded here.</Empty>
          )
        }
      />
    </>
  )
}
