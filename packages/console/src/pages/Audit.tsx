import { useSignal } from "@preact/signals"
import type { AuditEntry } from "@tocsin/client"
import { hashStart, localTimes } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { listOf } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { Empty, Time } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"

/** Actions whose name is not a verb before its subject. */
const DID: Readonly<Record<string, string>> = {
  "check.clock_reset": "reset the clock of",
  "incident.acknowledgement_withdrawn": "removed the acknowledgement of",
  "incident.acknowledgement_expired": "ended the acknowledgement of",
  "incident.noted": "added a note to",
  "integration.rotated": "replaced the key of",
  "operator.rotated": "replaced the token of",
}

const didText = (action: string): string =>
  DID[action] ?? (action.split(".")[1] ?? action).replaceAll("_", " ")

type Subject = AuditEntry["subjects"][number]

/** Subjects whose ID says nothing to people. */
const NAMELESS: Readonly<Record<string, string>> = {
  enrolment: "an enrolment",
  incident: "an incident",
  key: "a blocked key",
  notification: "a notification",
  silence: "a silence",
}

/** Pages that show all subjects of a kind. */
const PAGE_OF: Readonly<Record<string, string>> = {
  enrolment: "admission",
  integration: "integrations",
  notification: "outbox",
  operator: "operators",
  policy: "system",
  silence: "silences",
  watch: "watches",
}

const linkOf = ({ kind, id }: Subject): string | undefined => {
  if (kind === "agent") return linkTo("agents", [id])
  if (kind === "incident") return linkTo("incidents", [id])
  const [agent_id = "", ...check_id] = id.split("/")
  if (kind === "check") return linkTo("checks", [agent_id, check_id.join("/")])
  const page = PAGE_OF[kind]
  return page && linkTo(page)
}

/** The first subject of a change by its name, which leads to it, and a count of the others. */
const Subjects = ({ subjects }: Pick<AuditEntry, "subjects">) => {
  const [first] = subjects
  if (first === undefined) return null
  const { kind, id } = first
  const name = NAMELESS[kind] ?? `${kind} ${kind === "policy" ? hashStart(id) : id}`
  const link = linkOf(first)
  return (
    <>
      {link === undefined ? name : <a href={link}>{name}</a>}
      {subjects.length > 1 && ` and ${subjects.length - 1} more`}
    </>
  )
}

const parametersText = (parameters: AuditEntry["parameters"]): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${localTimes(String(value), now.peek())}`)
    .join(", ")

/** The moment at which a day of the reader begins, some days later; empty for no day. */
const beginOf = (day: string, later = 0): string => {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number)
  const begin = new Date(year, month - 1, date + later)
  return day === "" || !Number.isFinite(begin.getTime()) ? "" : begin.toISOString()
}

interface FilterProps {
  readonly name: string
  readonly label: string
}

const Day = ({ name, label }: FilterProps) => (
  <label class="inline">
    {label}
    <input
      type="date"
      value={route.value.parameters[name] ?? ""}
      onChange={(event) => setParameters({ [name]: event.currentTarget.value })}
    />
  </label>
)

/** A filter that the API takes only whole, so it is applied on Enter or when the field is left. */
const Filter = ({ name, label }: FilterProps) => {
  const typed = useSignal(route.value.parameters[name] ?? "")
  return (
    <label>
      <span class="unseen">Filter by {label}</span>
      <input
        data-filter
        type="search"
        placeholder={label}
        value={typed}
        onInput={(event) => (typed.value = event.currentTarget.value)}
        onChange={() => setParameters({ [name]: typed.value.trim() })}
      />
    </label>
  )
}

const COLUMNS: Columns<AuditEntry> = [
  column("Who", "minmax(7.5rem, 1fr)", ({ actor }) => <b>{actor}</b>),
  column("Did what", 4.4, ({ action, parameters, subjects }) => (
    <span class="subject sentence" title={action}>
      <span>
        {didText(action)} <Subjects subjects={subjects} />
      </span>{" "}
      <small>{parametersText(parameters)}</small>
    </span>
  )),
  column("By", "4rem", ({ via }) => (
    <span class="notes">
      <em>{via}</em>
    </span>
  )),
  column("When", "6rem", ({ at }) => <Time at={at} />),
]

export const Audit = () => {
  const { actor, action, subject, from = "", to = "" } = route.value.parameters
  const span = { from: beginOf(from), to: beginOf(to, 1) }
  const listed = usePages(listOf<AuditEntry>("ops/v1/audit", { actor, action, subject, ...span }))
  const isFiltered = [actor, action, subject, from, to].some((text = "") => text !== "")
  return (
    <>
      <h1>Audit</h1>
      <div class="filters">
        <Filter name="actor" label="actor" />
        <Filter name="action" label="action" />
        <Filter name="subject" label="ID of what changed" />
        <span class="days">
          <Day name="from" label="From" />
          <Day name="to" label="to" />
        </span>
      </div>
      <Listing
        label="Changes"
        kind="audit"
        columns={COLUMNS}
        listed={listed}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No change matches">Filters compare whole words, such as agent.accepted.</Empty>
          ) : (
            <Empty title="No changes yet">Each change is recorded here.</Empty>
          )
        }
      />
    </>
  )
}
