import type { AuditEntry, ExpectedCheckState, HeldIncident, RotaList } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { Query } from "../api/request.ts"
import { saidText } from "../format/saidText.ts"
import { momentText, numberText } from "../format/times.ts"
import { oneOfEach } from "../state/auditActs.ts"
import { now } from "../state/clock.ts"
import { concernsOf, type ServiceState } from "../state/health.ts"
import { endState, nameOf, subjectText } from "../state/incidentActions.ts"
import { incidentsOf, inOrder, listOf, readAll, SEVERITIES, STATES, topicsOf } from "../state/lists.ts"
import { idOfCheck, namesIn } from "../state/names.ts"
import { setRoute } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mayAdminister } from "../state/session.ts"
import { aliveAgents, isWatching, summary } from "../state/summary.ts"
import { mainLink } from "../view/rowLinks.tsx"
import { NotifiedMark, ReachesNobody, useReaches } from "../view/NotifiedMarks.tsx"
import { Part, useMost } from "../view/Part.tsx"
import { CheckMark, Mark, Muted, Time, TimeAfter } from "../view/states.tsx"
import { StatusStrip, StripReader } from "../view/StatusStrip.tsx"
import { didText, Subjects } from "../view/Subjects.tsx"
import { useRead, useResource } from "../view/usePages.ts"

/** Rows of the long parts and of the short ones, so that all fit into a window. */
const [MANY, SOME] = [6, 4]

/** The first rows of some lists, each after the one before. */
const firstOf = async <Item,>(
  lists: Parameters<typeof inOrder<Item>>[0],
  most = MANY,
): Promise<ReadonlyArray<Item>> => (await readAll({ read: inOrder(lists) }, { most })).slice(0, most)

const rankOf = ({ severity }: HeldIncident): number => SEVERITIES.findIndex((each) => each === severity)

export const Open = () => {
  useReaches()
  const most = useMost(MANY)
  const isWall = most > MANY
  const open = (acknowledged: boolean) => incidentsOf({ state: "open", acknowledged }, "", most).read
  const reading = useResource("worst incidents", topicsOf("ops/v1/incidents"), () =>
    firstOf([open(false), open(true)], most),
  )
  const { value: items } = reading
  const shown = namesIn(items, subjectText)
  return (
    <Part<HeldIncident>
      title="Open incidents"
      to={linkTo("incidents")}
      reading={reading}
      // A wall has the worst first, acknowledged or not.
      items={isWall ? items?.toSorted((a, b) => rankOf(a) - rankOf(b)) : items}
      total={summary.value?.open_incidents}
      columns="5.5rem minmax(0, 1fr) auto"
      row={(incident) => {
        const { acknowledgement, held_by, id, opened_at, severity } = incident
        const isTaken = acknowledgement !== null || held_by.length > 0
        return (
          <li class={`row is-${severity}${isTaken ? " taken" : ""}`} key={id}>
            <Mark state={severity} />
            <span class="what">
              {mainLink(linkTo("incidents", [id]), shown(incident), subjectText(incident))}
              <span class="subject">
                {/* Who has it is in sight, however long the output. */}
                <NotifiedMark incident={incident} /> {saidText(incident.summary, severity)}
              </span>
            </span>
            <Time at={opened_at} />
          </li>
        )
      }}
      empty={<Mark state="ok" word="Nothing is wrong" />}
    />
  )
}

/** The links of checks, by their names among each other. */
const checkLinks = (checks: ReadonlyArray<ExpectedCheckState> | undefined) => {
  const shown = namesIn(checks, idOfCheck)
  return (check: ExpectedCheckState) =>
    mainLink(linkTo("checks", [check.agent_id, check.check_id]), shown(check), idOfCheck(check))
}

const FirstChecks = () => {
  // One that was ok before its agent fell silent is not shown as ok.
  const states = summary.value?.agents_offline === 0 ? STATES : STATES.slice(0, -1)
  const reading = useResource(`first checks ${states.length}`, topicsOf("ops/v1/checks"), () =>
    firstOf(
      states.map(
        (state) => listOf<ExpectedCheckState>("ops/v1/checks", { state, without_places: true }, MANY).read,
      ),
    ),
  )
  const checkLink = checkLinks(reading.value)
  return (
    <>
      <StripReader />
      <Part<ExpectedCheckState>
        title="Checks, the worst first"
        to={linkTo("checks")}
        reading={reading}
        items={reading.value}
        columns="5.5rem minmax(0, 1.5fr) minmax(0, 1.2fr) 8rem"
        row={(check) => (
          <li class="row" key={idOfCheck(check)}>
            <CheckMark {...check} isSilent={false} />
            {checkLink(check)}
            <span class="subject">
              <Muted {...check} /> {saidText(check.summary, check.status)}
            </span>
            <StatusStrip {...check} />
          </li>
        )}
        empty={<Mark state="ok" word="No check fails" />}
      />
    </>
  )
}

const useSome = <Item,>(path: string, query: Query, limit = SOME) =>
  useRead<Answered<Item>>(path, { ...query, limit })

export const Late = () => {
  const reading = useSome<ExpectedCheckState>("ops/v1/checks", { state: "late" }, useMost(SOME))
  const checkLink = checkLinks(reading.value?.items)
  return (
    <Part
      title="Late jobs and checks"
      to={linkTo("checks", [], { state: "late" })}
      reading={reading}
      items={reading.value?.items}
      hasMore={typeof reading.value?.next_cursor === "string"}
      columns="5.5rem minmax(0, 1fr) auto"
      row={(check) => (
        <li class="row" key={idOfCheck(check)}>
          <CheckMark {...check} isSilent={false} />
          {checkLink(check)}
          <span class="subject">
            <Muted {...check} /> <TimeAfter text="due " at={check.expected_at} />
          </span>
        </li>
      )}
      empty="All are in time."
    />
  )
}

export const OnCallNow = () => {
  const most = useMost(SOME)
  const reading = useRead<RotaList>("ops/v1/rotas")
  return (
    <Part
      title="Who is on call"
      to={linkTo("on-call")}
      reading={reading}
      items={reading.value?.items.slice(0, most)}
      columns="minmax(0, 1fr) auto"
      row={({ name, now: { receivers, until } }) => (
        <li class="row" key={name}>
          <span class="what">
            <b>{receivers.join(", ")}</b>
            <span class="subject">{name}</span>
          </span>
          {until !== null && <small>until {momentText(Date.parse(until), now.peek())}</small>}
        </li>
      )}
      empty="No rota yet: incidents notify receivers."
    />
  )
}

export const Health = () => {
  const reading = useRead<ServiceState>("", {}, ["policy", "outbox"])
  const counts = summary.value
  const isRead = reading.value !== undefined && counts !== undefined
  return (
    <Part
      title="Health"
      to={linkTo("system")}
      reading={reading}
      items={isRead ? concernsOf(reading.value, counts) : []}
      columns="6rem minmax(0, 1fr)"
      row={([mark, word, text, address]) => (
        <li class="row" key={text}>
          <Mark state={mark} word={word.replaceAll("_", " ")} />
          <a href={address}>{text}</a>
        </li>
      )}
      empty={<Mark state="ok" word="The service is well" />}
    />
  )
}

/** Rows of the audit from which each act has one. */
const MOST_OF_ACTS = 4 * SOME

type Change = readonly [at: string, id: string, what: ComponentChildren, by: ComponentChildren]

/** The latest acts of people, and the latest ends of incidents. */
export const Changes = ({ most = SOME }: { readonly most?: number }) => {
  const audit = useSome<AuditEntry>("ops/v1/audit", {}, MOST_OF_ACTS)
  const ended = useSome<HeldIncident>("ops/v1/incidents", { state: "resolved", sort: "resolved_at" })
  const made = oneOfEach(audit.value?.items ?? []).map(({ action, actor, at, id, subjects }): Change => [
    at,
    id,
    <>
      {didText(action)} <Subjects subjects={subjects} />
    </>,
    actor,
  ])
  const over = (ended.value?.items ?? []).map((incident): Change => [
    incident.resolved_at ?? incident.opened_at,
    incident.id,
    <a href={linkTo("incidents", [incident.id])}>{nameOf(incident)}</a>,
    <Mark state={endState(incident)} word={incident.resolution?.text ?? "resolved"} />,
  ])
  return (
    <Part
      title={most === 1 ? "Last change" : "Last changes"}
      to={linkTo("audit")}
      reading={audit}
      items={[...made, ...over].toSorted(([a], [b]) => (a < b ? 1 : -1)).slice(0, most)}
      columns="minmax(0, 1fr) auto"
      row={([at, id, what, by]) => (
        <li class="row" key={id}>
          <span class="what">
            <span>{what}</span>
            <span class="subject">{by}</span>
          </span>
          <Time at={at} />
        </li>
      )}
      empty="No changes yet."
    />
  )
}

/** Counts that say in a second whether something is wrong, each with its page. */
export const Figures = () => {
  const counts = summary.value
  if (counts === undefined) return null
  const figures = [
    ...SEVERITIES.map(
      (severity) =>
        [counts.incidents[severity], severity, severity, linkTo("incidents", [], { severity })] as const,
    ),
    [counts.states.late, "late", "checks late", linkTo("checks", [], { state: "late" })] as const,
    [counts.states.ok, "ok", "checks ok", linkTo("checks", [], { state: "ok" })] as const,
    [aliveAgents(counts), "alive", "agents alive", linkTo("agents", [], { tab: "alive" })] as const,
  ]
  return (
    <p class="figures">
      {figures.map(([count, state, word, address]) => (
        <a key={state} href={address} class={count === 0 ? undefined : `is-${state}`}>
          <b>{numberText(count)}</b> <Mark state={state} word={word} />
        </a>
      ))}
    </p>
  )
}

/** The parts of a glance, each of which leads to its page. */
export const Overview = () => {
  const isEmpty = isWatching.value === false
  const starts = isEmpty && mayAdminister.value
  useEffect(() => {
    if (starts) setRoute(linkTo("start"))
  }, [starts])
  return (
    <>
      {isEmpty && <p class="lead">Nothing is watched yet: admins begin at Start.</p>}
      {!isEmpty && <ReachesNobody />}
      <Figures />
      <div class="parts">
        <div>
          <Open />
          <FirstChecks />
        </div>
        <div>
          <OnCallNow />
          <Health />
          <Late />
          <Changes />
        </div>
      </div>
    </>
  )
}
