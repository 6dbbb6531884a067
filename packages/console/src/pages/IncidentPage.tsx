import type { AuditEntry, CheckExplanation, HeldIncident, IncidentDetail } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { now } from "../state/clock.ts"
import { acknowledge, nameOf, subjectText } from "../state/incidentActions.ts"
import { listOf, MOST, readAll, topicsOf } from "../state/lists.ts"
import { asBack, backTo, go, route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import {
  auditedActions,
  causeWords,
  explanationOf,
  firingsOf,
  holdingSilences,
  linksIn,
  openingsOf,
  subjectOf,
  timelineOf,
} from "../state/incidentTimeline.ts"
import { holdText } from "../state/holdText.ts"
import type { Answered } from "../state/Pages.ts"
import { useDraft } from "../state/drafts.ts"
import { followReplays, replay } from "../state/outboxActions.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../state/session.ts"
import { act, type Message } from "../state/useAction.ts"
import { ActionButton } from "../view/forms.tsx"
import { useKeys, useWanted } from "../view/Keyboard.tsx"
import { Mark, Missing, OUTSIDE, ReadingNote, Time, TimeAfter } from "../view/states.tsx"
import { BackLink } from "../view/navigation.tsx"
import { faults, isLog, SilencedBy, useReaches, withReach } from "../view/NotifiedMarks.tsx"
import { NamedHead } from "../view/titles.tsx"
import { useRead, useResource } from "../view/usePages.ts"
import { features } from "../features.ts"
import { IncidentActions } from "./IncidentActions.tsx"
import { Members } from "./IncidentMembers.tsx"
import { IncidentTrace } from "./IncidentTrace.tsx"

const Deliveries = ({ deliveries }: Pick<IncidentDetail, "deliveries">) => (
  <ul class="plain" aria-label="Notifications">
    {deliveries.map(
      ({ id, receiver, event_type, state, cause, held_by, held_until, last_error, updated_at }) => (
        <li class="row delivery" key={id}>
          {state === "sent" && isLog(receiver) ? <Mark state="past" word="logged" /> : <Mark state={state} />}
          <b>{withReach({ receiver }).receiver}</b>
          <span class="subject">
            {[event_type, ...causeWords(cause)].join(", ")}
            {held_by.length > 0 && `, held: ${held_by.map(holdText).join("; ")}`}
            <TimeAfter text=", ends " at={held_until} />
            {typeof last_error === "string" && `: ${last_error}`}
          </span>
          {updated_at !== undefined && <Time at={updated_at} />}
          <ItemActions id={id} held_by={held_by} state={state} />
        </li>
      ),
    )}
  </ul>
)

const release = (id: string): Promise<Message> =>
  carryOut("Released the notification", "POST", `ops/v1/outbox/${segment(id)}/release`)

const replayAndFollow = async (id: string): Promise<Message> => {
  const { text } = await replay(id)
  const outcome = await followReplays([id]).catch(() => "")
  return { text: outcome === "" ? text : `${text}: ${outcome}` }
}

type Deliverable = Pick<IncidentDetail["deliveries"][number], "held_by" | "id" | "state">

/** The actions of administrators on a notification that is held, or that failed. */
export const ItemActions = ({ held_by, id, state }: Deliverable) => {
  if (!mayAdminister.value) return null
  if (held_by.length > 0) return <ActionButton does={() => release(id)}>Release</ActionButton>
  return state === "failed" ? <ActionButton does={() => replayAndFollow(id)}>Replay</ActionButton> : null
}

/** So many rows of the audit are read for each action: the newest ones. */
const MOST_AUDITED = 2_000

/** Operators' actions on notifications and silences since the incident opened. */
const useAudit = (detail: IncidentDetail): ReadonlyArray<AuditEntry> => {
  const { id, opened_at: from } = detail.incident
  const actions = auditedActions(detail)
  const read = useResource(JSON.stringify([id, actions]), ["outbox", "silences"], async () => {
    const found: Array<ReadonlyArray<AuditEntry>> = []
    for (const action of actions)
      found.push(
        await readAll(listOf<AuditEntry>("ops/v1/audit", { action, from }, MOST), { most: MOST_AUDITED }),
      )
    return found.flat()
  })
  return read.value ?? []
}

const withReaches = (detail: IncidentDetail): IncidentDetail => ({
  ...detail,
  deliveries: detail.deliveries.map(withReach),
  next: detail.next.map(withReach),
  notified: detail.notified.map(withReach),
})

const Timeline = ({ detail }: { readonly detail: IncidentDetail }) => (
  <ol class="timeline" aria-label="Timeline">
    {timelineOf(withReaches(detail), useAudit(detail), now.peek(), faults.value).map(
      ({ at, text, by, kind }, index) => (
        <li key={`${at} ${index}`} class={`is-${kind}`}>
          <Time at={at} isAlone />
          <span>
            {by !== undefined && <b>{by} </b>}
            {linksIn(text).map((part, place) =>
              place % 2 === 0 ? (
                part
              ) : (
                <a {...OUTSIDE} key={place} href={part}>
                  {part}
                </a>
              ),
            )}
          </span>
        </li>
      ),
    )}
  </ol>
)

const OPENINGS = 50

/** How often the incident's key opened lately: a check that comes and goes needs another remedy. */
const Openings = ({ incident, members }: Pick<IncidentDetail, "incident" | "members">) => {
  const [subject] = members.map(subjectOf)
  const query = { ...subject, sort: "opened_at", limit: OPENINGS }
  const { value } = useRead<Answered<HeldIncident>>("ops/v1/incidents", query)
  const count = openingsOf(incident, value?.items ?? [])
  if (count < 2) return null
  return (
    <li>
      It opened {count}
      {count === OPENINGS && " or more"} times within an hour.
    </li>
  )
}

/** Of an incident without notifications, the last change of its check says whether they were disabled. */
const useQuiet = (detail: IncidentDetail): boolean => {
  const [query] = firingsOf(detail).length === 0 ? detail.members.map(subjectOf) : []
  const { value } = useResource(`quiet ${JSON.stringify(query)}`, ["checks"], async () =>
    query?.check_id === undefined
      ? undefined
      : await call<CheckExplanation>("GET", "ops/v1/explain", { query }),
  )
  return value?.last_change?.notifications_enabled === false
}

const Reasons = ({ detail }: { readonly detail: IncidentDetail }) => (
  <ul>
    {explanationOf(withReaches(detail), useQuiet(detail), now.peek(), faults.value).map((sentence) => (
      <li key={sentence}>{sentence}</li>
    ))}
    <Openings incident={detail.incident} members={detail.members} />
    {features.map(({ incident }) => incident?.reasons?.(detail))}
    {holdingSilences(detail).map((silence) => (
      <li key={silence.id}>
        <SilencedBy silence={silence} />
      </li>
    ))}
  </ul>
)

const Facts = ({ detail: { acknowledgement, incident, runbook } }: { readonly detail: IncidentDetail }) => (
  <p class="facts">
    <Mark state={incident.severity} />{" "}
    <b>{incident.state === "open" && acknowledgement !== null ? "acknowledged" : incident.state}</b> · opened{" "}
    <Time at={incident.opened_at} isAlone />
    <TimeAfter text=", resolved " at={incident.resolved_at} isAlone />
    {incident.resolution && `, ${incident.resolution.text}`} · <code>{incident.incident_key}</code>
    {runbook !== null && (
      <>
        {" "}
        ·{" "}
        <a {...OUTSIDE} href={runbook.url}>
          {runbook.note ?? "Runbook"}
        </a>
      </>
    )}
  </p>
)

export const IncidentPage = () => {
  useReaches()
  const [id = ""] = route.value.subject
  const [note, span] = [useDraft("", "note", ""), useDraft("", "span", "")]
  const acknowledges = async (): Promise<Message | undefined> => {
    const done = await acknowledge([id], { span: span.value, text: note.value })
    note.value = span.value = ""
    return done
  }
  const path = `ops/v1/incidents/${segment(id)}`
  const reading = useRead<IncidentDetail>(path, {}, topicsOf("ops/v1/outbox"))
  const { value: detail } = reading
  const why = useWanted<HTMLElement>("explain", detail !== undefined)
  useKeys((command) => {
    if (command === "back") go(asBack(backTo("incidents")))
    if (command === "explain") setParameters({ focus: "explain" })
    if (!mayRespond.value) return
    if (command === "note") setParameters({ focus: "note" })
    if (command === "silence") go(linkTo("silences", [], { incidents: id }))
    if (command === "acknowledge" && detail?.incident.state === "open") void act(acknowledges)
  })
  if (detail === undefined)
    return (
      <>
        <BackLink to={backTo("incidents")} />
        <h1>Incident</h1>
        {reading.failure?.code === "not_found" ? (
          <Missing what="incident" name={id} others={linkTo("incidents")} />
        ) : (
          <ReadingNote reading={reading} />
        )}
      </>
    )
  const { incident } = detail
  return (
    <article>
      <BackLink to={backTo("incidents")} />
      <NamedHead id={subjectText(incident)} title={nameOf(incident)} />
      {incident.summary !== undefined && <p>{incident.summary}</p>}
      <Facts detail={detail} />
      <ReadingNote reading={reading} />
      <IncidentActions detail={detail} note={note} span={span} acknowledges={acknowledges} />
      <section class="explanation" aria-labelledby="explanation" ref={why} tabIndex={-1}>
        <h2 id="explanation">Why</h2>
        <Reasons detail={detail} />
        <IncidentTrace path={path} />
      </section>
      <h2>Checks in it</h2>
      <Members members={detail.members} />
      {features.map(({ incident: part }) => part?.below?.(detail))}
      <h2>Timeline</h2>
      {detail.timeline_left_out > 0 && <p>{detail.timeline_left_out} changes in between are left out.</p>}
      {detail.silences_left_out > 0 && <p>{detail.silences_left_out} older silences are left out.</p>}
      <Timeline detail={detail} />
      <h2>Notifications</h2>
      {detail.deliveries.length === 0 ? <p>None.</p> : <Deliveries deliveries={detail.deliveries} />}
    </article>
  )
}
