import type { AuditEntry, HeldIncident, HeldOutboxItem, Silence } from "@tocsin/client"
import { auditActionNames } from "@tocsin/contract/AuditActions"
import { hashStart, localTimes } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { titleOf } from "../state/incidentActions.ts"
import { listOf, MOST } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { Export } from "../view/Export.tsx"
import { Field } from "../view/forms.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { chosenDays, Days, FilterField } from "../view/navigation.tsx"
import { Empty, Time } from "../view/states.tsx"
import { keptMap, usePages } from "../view/usePages.ts"

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
  override: "an override",
  silence: "a silence",
}

/** Pages that show all subjects of a kind. */
const PAGE_OF: Readonly<Record<string, string>> = {
  enrolment: "admission",
  integration: "integrations",
  notification: "outbox",
  operator: "operators",
  override: "on-call",
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

/** The newest subjects whose ID says nothing to people, by that ID: their names, and where they are shown. */
const { useCurrent: useKnown, useOf: useName } = keptMap<readonly [name: string, link: string]>(
  "subjects of changes",
  ["audit"],
  async () => {
    const [incidents, notifications, silences] = await Promise.all([
      listOf<HeldIncident>("ops/v1/incidents", { sort: "opened_at" }, MOST).read(undefined),
      listOf<HeldOutboxItem>("ops/v1/outbox", {}, MOST).read(undefined),
      listOf<Silence>("ops/v1/silences", {}, MOST).read(undefined),
    ])
    const ofIncident = (id: string) => linkTo("incidents", [id])
    return [
      ...incidents.items.map(
        (incident) => [incident.id, [titleOf(incident), ofIncident(incident.id)]] as const,
      ),
      ...notifications.items.map(
        ({ event_type, id, incident_id, incident_key, receiver }) =>
          [id, [`${event_type} to ${receiver}, ${incident_key}`, ofIncident(incident_id)]] as const,
      ),
      ...silences.items.map(({ comment, id }) => [id, [comment, linkTo("silences")]] as const),
    ]
  },
)

/** A subject by its name, which leads to it. */
const SubjectLink = (subject: Subject) => {
  const { kind, id } = subject
  const [name, link = linkOf(subject)] = useName(id) ?? []
  const text =
    name === undefined && kind in NAMELESS
      ? NAMELESS[kind]
      : `${kind} ${name ?? (kind === "policy" ? hashStart(id) : id)}`
  return link === undefined ? <>{text}</> : <a href={link}>{text}</a>
}

/** The first subject of a change, and a count of the others. */
const Subjects = ({ subjects: [first, ...others] }: Pick<AuditEntry, "subjects">) =>
  first === undefined ? null : (
    <>
      <SubjectLink {...first} />
      {others.length > 0 && ` and ${others.length} more`}
    </>
  )

const parametersText = (parameters: AuditEntry["parameters"]): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${localTimes(String(value), now.peek())}`)
    .join(", ")

const ACTIONS = [["", "all"], ...auditActionNames.map((name) => [name] as const)] as const

const COLUMNS: Columns<AuditEntry> = [
  column("Who", "minmax(9rem, 1fr)", ({ actor }) => <b>{actor}</b>),
  column("Did what", 4.4, ({ action, parameters, subjects }) => (
    <span class="subject">
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
  column("When", "6.75rem", ({ at }) => <Time at={at} />),
]

export const Audit = () => {
  const { actor = "", action = "", subject = "", from = "", to = "" } = route.value.parameters
  const query = { actor: actor.trim(), action, subject: subject.trim(), ...chosenDays() }
  const listed = usePages(listOf<AuditEntry>("ops/v1/audit", query))
  const isFiltered = actor + action + subject + from + to !== ""
  const isTurned = from !== "" && to !== "" && from > to
  useKnown()
  return (
    <>
      <h1>Audit</h1>
      <div class="filters">
        <FilterField label="Who" what="an actor" parameter="actor" />
        <FilterField label="ID" what="such as web-1/disk" parameter="subject" />
        <Field
          label="Action "
          value={action}
          options={ACTIONS}
          onText={(name) => setParameters({ action: name })}
        />
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
