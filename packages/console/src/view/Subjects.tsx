import type { AuditEntry, HeldIncident, HeldOutboxItem, Silence } from "@tocsin/client"
import { hashStart } from "../format/times.ts"
import { subjectText } from "../state/incidentActions.ts"
import { listOf, MOST } from "../state/lists.ts"
import { pages } from "../state/navigation.ts"
import { linkTo } from "../state/Route.ts"
import { keptMap } from "./usePages.ts"

/** Actions whose name is not a verb before its subject. */
const DID: Readonly<Record<string, string>> = {
  "check.clock_reset": "reset the clock of",
  "incident.acknowledgement_withdrawn": "removed the acknowledgement of",
  "incident.acknowledgement_expired": "ended the acknowledgement of",
  "incident.noted": "added a note to",
  "integration.rotated": "replaced the key of",
  "operator.rotated": "replaced the token of",
  "session.signed_out": "ended",
}

export const didText = (action: string): string =>
  DID[action] ?? (action.split(".")[1] ?? action).replaceAll("_", " ")

type Subject = AuditEntry["subjects"][number]

/** A title with its ID: the rows of a long past are not all known, and two may have one title. */
const withId = (id: string, title?: string | null): string =>
  typeof title === "string" ? `${title} (${id})` : id

/** Subjects whose ID says nothing to people. */
export const NAMELESS: Readonly<Record<string, string>> = Object.assign(
  { incident: "an incident", key: "a blocked key" },
  ...Array.from(pages.values(), ({ subjects }) => subjects),
)

const linkOf = ({ kind, id }: Subject): string | undefined => {
  if (kind === "agent") return linkTo("agents", [id])
  if (kind === "incident") return linkTo("incidents", [id])
  const [agent_id = "", ...check_id] = id.split("/")
  if (kind === "check") return linkTo("checks", [agent_id, check_id.join("/")])
  const page = Array.from(pages).find(([, { subjects = {} }]) => kind in subjects)
  return page && linkTo(page[0])
}

/** The newest subjects whose ID says nothing to people, by that ID: their names, and where they are shown. */
const { useCurrent, useOf: useName } = keptMap<readonly [name: string, link: string]>(
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
        (incident) =>
          [incident.id, [withId(subjectText(incident), incident.title), ofIncident(incident.id)]] as const,
      ),
      ...notifications.items.map(
        ({ event_type, id, incident_id, incident_key, receiver, title }) =>
          [
            id,
            [`${event_type} to ${receiver}, ${withId(incident_key, title)}`, ofIncident(incident_id)],
          ] as const,
      ),
      ...silences.items.map(({ comment, id }) => [id, [comment, linkTo("silences")]] as const),
    ]
  },
)

export const useSubjectNames = useCurrent

const SubjectLink = (subject: Subject) => {
  const { kind, id, title } = subject
  const [name, link = linkOf(subject)] = useName(id) ?? []
  const text =
    (name === undefined && NAMELESS[kind]) ||
    `${kind} ${name ?? withId(kind === "policy" ? hashStart(id) : id, title)}`
  return link === undefined ? <>{text}</> : <a href={link}>{text}</a>
}

/** The first subject of a change, and a count of the others. */
export const Subjects = ({ subjects: [first, ...others] }: Pick<AuditEntry, "subjects">) =>
  first === undefined ? null : (
    <>
      <SubjectLink {...first} />
      {others.length > 0 && ` and ${others.length} more`}
    </>
  )
