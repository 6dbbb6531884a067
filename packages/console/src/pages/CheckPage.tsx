import { useSignal } from "@preact/signals"
import type { CheckExplanation, HeldIncident, IncidentDetail, StoredCheckResultEvent } from "@tocsin/client"
import { withoutSequences } from "@tocsin/contract/formats/headline"
import { segment } from "../api/request.ts"
import { localTimes, momentText, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { type CheckName, MOST } from "../state/lists.ts"
import { idOfCheck, type Titled } from "../state/names.ts"
import { asBack, go, route } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../state/session.ts"
import { reporting } from "../features/integrations/Contact.tsx"
import { WATCHER } from "../features/watches/Watches.tsx"
import { silenceOf } from "../features/silences/silenceActions.ts"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import {
  CheckMark,
  Muted,
  mutedText,
  Facts,
  labelsFact,
  Mark,
  Missing,
  OUTSIDE,
  ReadingNote,
  Time,
  TimeAfter,
  withoutTitle,
} from "../view/states.tsx"
import { BackLink } from "../view/navigation.tsx"
import { NamedHead, TitleEditor } from "../view/titles.tsx"
import { useRead, useResource } from "../view/usePages.ts"
import { IncidentsOf } from "./IncidentsOf.tsx"
import { features } from "../features.ts"

type History = Answered<StoredCheckResultEvent>

const HISTORY = "api/v1/events/query"

const Output = ({ text = "" }: { readonly text: string | undefined }) =>
  text === "" ? null : <pre tabIndex={0}>{withoutSequences(text)}</pre>

/** The exit codes of plugins, which say no more than their status. */
const CODES: Readonly<Record<string, number>> = { ok: 0, warning: 1, critical: 2, unknown: 3 }

/** The changes of a check, of which the newest one may have been repeated since. */
const Past = ({ agent_id, check_id, repeated_at }: CheckName & { readonly repeated_at: string | null }) => {
  const older = useSignal<ReadonlyArray<History>>([])
  const query = { agent_id, check_id, limit: MOST }
  const reading = useRead<History>(HISTORY, query)
  const { value: newest } = reading
  if (newest === undefined) return <ReadingNote reading={reading} />
  const cursor = (older.value.at(-1) ?? newest).next_cursor
  const changes = [newest, ...older.value].flatMap(({ items }) => items)
  // Newer changes move older ones to the next page, which may have been read before.
  const known = new Map(changes.map((change) => [change.event_id, change]))
  return (
    <>
      <h2>Changes</h2>
      <p class="lead">Of equal results, only the newest time and text are kept.</p>
      <ReadingNote reading={reading} />
      <ol class="changes" aria-label="Changes">
        {Array.from(known.values(), ({ event_id, status, exit_code, observed_at, output }, place) => (
          <li key={event_id}>
            <p class="facts">
              <Mark state={status} /> <Time at={observed_at} isAlone />
              {place === 0 && observed_at !== repeated_at && (
                <TimeAfter text=", repeated until " at={repeated_at} isAlone />
              )}{" "}
              {exit_code !== CODES[status] && <small>exit code {exit_code}</small>}
            </p>
            <Output text={output} />
          </li>
        ))}
      </ol>
      {typeof cursor === "string" && (
        <ActionButton
          does={async () => {
            const page = await call<History>("GET", HISTORY, { query: { ...query, cursor } })
            older.value = [...older.value, page]
            return undefined
          }}
        >
          Older changes
        </ActionButton>
      )}
    </>
  )
}

const Administer = ({ agent_id, check_id }: CheckName) => {
  const path = `ops/v1/agents/${segment(agent_id)}/checks/${segment(check_id)}`
  return (
    <>
      <ActionButton
        describes="Release a check whose agent had a clock in the future"
        does={() => carryOut("Reset the clock: the next result counts", "POST", `${path}/reset-clock`)}
      >
        Reset clock
      </ActionButton>
      <ActionButton
        kind="danger"
        confirms={[`Delete ${agent_id}/${check_id} with its history?`, "Delete the check"]}
        does={async () => {
          const done = await carryOut(`Deleted ${agent_id}/${check_id}`, "DELETE", path)
          go(linkTo("agents", [agent_id]))
          return done
        }}
      >
        Delete
      </ActionButton>
    </>
  )
}

const useRunbook = (incidents: ReadonlyArray<HeldIncident>): IncidentDetail["runbook"] | undefined => {
  const id = incidents.find(({ state }) => state === "open")?.id
  return useResource(`runbook of ${id}`, ["incidents"], async () =>
    id === undefined
      ? undefined
      : (await call<IncidentDetail>("GET", `ops/v1/incidents/${segment(id)}`)).runbook,
  ).value
}

const LIKELY_AHEAD_SECONDS = 5
/** An agent gathers unchanged results for 10 s, and they take a moment to arrive: that says nothing about a clock. */
const LIKELY_BEHIND_SECONDS = 15

const skewText = (seconds: number): string =>
  seconds > -LIKELY_AHEAD_SECONDS && seconds < LIKELY_BEHIND_SECONDS
    ? "in step with the service"
    : seconds > 0
      ? `up to ${spanText(seconds * 1_000)} behind; results that arrive late look the same`
      : `${spanText(seconds * 1_000)} ahead`

export const skewOf = (found: CheckExplanation | undefined): string | undefined =>
  found === undefined || found.skew_seconds === null ? undefined : skewText(found.skew_seconds)

const expectationOf = ({ expected_at, state }: CheckExplanation["check"]) =>
  expected_at === null ? (
    "nothing says how often it must report"
  ) : (
    <>
      {state === "late" ? "It had to report by " : "it must report again by "}
      {momentText(Date.parse(expected_at), now.peek())}, <Time at={expected_at} isAlone />
    </>
  )

const lastChangeOf = ({ last_change: change }: CheckExplanation) =>
  change === null ? (
    "none"
  ) : (
    <>
      <Time at={change.observed_at} isAlone />
      {change.duration_ms > 0 && `: that run took ${change.duration_ms} ms`}
    </>
  )

const Why = ({ check, isSilent, reasons }: CheckExplanation & { readonly isSilent: boolean }) => (
  <section class="explanation" aria-labelledby="explanation">
    <h2 id="explanation">
      Why it {isSilent && check.state !== "late" && check.status !== null ? "was last" : "is"}{" "}
      {check.state ?? "without a status"}
    </h2>
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>{localTimes(reason, now.peek())}</li>
      ))}
    </ul>
  </section>
)

/** The page of all that a check belongs to: of those of a watch, people know no agent. */
const aroundOf = ({ agent_id }: CheckName): string =>
  agent_id === WATCHER ? linkTo("watches") : linkTo("agents", [agent_id])

interface HeadProps extends CheckName, Titled {
  readonly agent?: CheckExplanation["agent"] | undefined
}

const Head = ({ agent, title, ...name }: HeadProps) => (
  <>
    <BackLink
      to={aroundOf(name)}
      name={name.agent_id === WATCHER ? "Watches" : (agent?.title ?? name.agent_id)}
    />
    <NamedHead id={idOfCheck(name)} title={title} />
  </>
)

const NoCheck = (name: CheckName) => (
  <article>
    <Head {...name} />
    {features.map(({ check }) => check?.absent?.(name) ?? null).find((shown) => shown !== null) ?? (
      <Missing
        what="check"
        name={`${name.agent_id}/${name.check_id}`}
        others={linkTo("checks", [], { filter: name.agent_id })}
      />
    )}
  </article>
)

/** Its state, since when it is due if it is late, and when it last reported. */
const Seen = ({ agent, check, received_at }: CheckExplanation) => {
  const isSilent = agent.status !== "alive"
  const isLate = check.state === "late"
  const last = isSilent ? "as last heard " : isLate ? `last result ${check.status} ` : "last result "
  return (
    <p class="facts">
      <CheckMark {...check} isSilent={isSilent} /> <Muted {...check} />
      {mutedText(check) !== undefined && " "}
      {isLate && <TimeAfter text="due " at={check.expected_at} isAlone />}
      {isLate && ", "}
      <TimeAfter text={last} at={received_at} isAlone />
      {received_at === null && "never reported"}
      {isSilent && (
        <>
          , its agent is <Mark state={agent.status} />
        </>
      )}
    </p>
  )
}

export const CheckPage = () => {
  const [agent_id = "", check_id = ""] = route.value.subject
  const name = { agent_id, check_id }
  const reading = useRead<CheckExplanation>("ops/v1/explain", name, ["checks", "incidents", "silences"])
  const { value: found } = reading
  const latest = { ...name, sort: "opened_at", limit: 10, with_receivers: true }
  const past = useRead<Answered<HeldIncident>>("ops/v1/incidents", latest)
  const runbook = useRunbook(past.value?.items ?? []) ?? undefined
  const isSilent = found !== undefined && found.agent.status !== "alive"
  reporting.useCurrent()
  // Integrations and watches have the clock of the service.
  const isAgent = reporting.useOf(agent_id) === undefined && agent_id !== WATCHER
  const silence = () => go(silenceOf(name))
  useKeys((command) => {
    if (command === "back") go(asBack(aroundOf(name)))
    if (command === "silence" && mayRespond.value) silence()
  })
  if (reading.failure?.code === "not_found") return <NoCheck {...name} />
  return (
    <article>
      <Head {...name} agent={found?.agent} title={found?.check.title} />
      <ReadingNote reading={reading} />
      {found !== undefined && found.check.state !== null && <Seen {...found} />}
      {found !== undefined && mayRespond.value && (
        <div class="actions">
          <QuietButton does={silence}>Silence</QuietButton>
          {features.map(({ check }) => check?.act?.(found))}
          <TitleEditor
            path={`ops/v1/checks/${segment(agent_id)}/${segment(check_id)}`}
            id={idOfCheck(name)}
            title={found.check.title}
          />
          {mayAdminister.value && <Administer {...name} />}
        </div>
      )}
      {features.map(({ check }) => check?.below?.({ ...name, found }))}
      <Facts
        facts={{
          Labels: labelsFact(withoutTitle(found?.check.labels)),
          Expectation: found && expectationOf(found.check),
          "Last change": found && lastChangeOf(found),
          "Agent's clock": isAgent ? skewOf(found) : undefined,
          Runbook: runbook && (
            <a {...OUTSIDE} href={runbook.url}>
              {runbook.note ?? runbook.url}
            </a>
          ),
        }}
      />
      {(found?.check.summary ?? "") !== "" && <h2>Newest output</h2>}
      <Output text={found?.check.summary} />
      {found !== undefined && <Why {...found} isSilent={isSilent} />}
      <h2>Incidents</h2>
      <IncidentsOf label="Incidents" isOfCheck reading={past} none="It was part of none." />
      <Past {...name} repeated_at={found?.check.last_observed_at ?? null} />
    </article>
  )
}
