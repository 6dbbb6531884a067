import { useSignal } from "@preact/signals"
import type {
  CheckExplanation,
  ExpectedCheckState,
  HeldIncident,
  IncidentDetail,
  StoredCheckResultEvent,
} from "@tocsin/client"
import { withoutSequences } from "@tocsin/contract/headline"
import { segment } from "../api/request.ts"
import { localTimes, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { titleOf } from "../state/incidentActions.ts"
import { listOf, MOST, readAll } from "../state/lists.ts"
import { asBack, go, route } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../state/session.ts"
import { silenceOf } from "../state/silenceActions.ts"
import { reporting } from "../view/Contact.tsx"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { mainLink } from "../view/Listing.tsx"
import { CheckMark, Facts, labelsFact, Mark, OUTSIDE, ReadingNote, Time } from "../view/states.tsx"
import { BackLink } from "../view/navigation.tsx"
import { NotifiedMark } from "../view/NotifiedMarks.tsx"
import { type Reading, useRead, useResource } from "../view/usePages.ts"
import { CheckPicture } from "./CheckPicture.tsx"
import { ResolveCheck } from "./ResolveCheck.tsx"
import { WatchActions, WATCHER } from "./Watches.tsx"

type CheckName = Pick<ExpectedCheckState, "agent_id" | "check_id">

type History = Answered<StoredCheckResultEvent>

const HISTORY = "api/v1/events/query"

const Output = ({ text = "" }: { readonly text: string | undefined }) =>
  text === "" ? null : <pre tabIndex={0}>{withoutSequences(text)}</pre>

const Past = ({ agent_id, check_id }: CheckName) => {
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
      <ReadingNote reading={reading} />
      <ol class="changes" aria-label="Changes">
        {Array.from(known.values(), ({ event_id, status, exit_code, observed_at, output }) => (
          <li key={event_id}>
            <p class="facts">
              <Mark state={status} /> <Time at={observed_at} isAlone /> <small>exit code {exit_code}</small>
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

interface IncidentsOfProps {
  readonly label: string
  readonly reading: Reading<Answered<HeldIncident>>
  readonly none: string
  /** The address of all of them, if a page about one subject has not all. */
  readonly more?: string
}

export const IncidentsOf = ({ label, reading, none, more }: IncidentsOfProps) => {
  const { value } = reading
  return (
    <>
      <ReadingNote reading={reading} />
      {value?.items.length === 0 && <p class="lead">{none}</p>}
      <ul class="plain" aria-label={label}>
        {value?.items.map((incident) => (
          <li class="row member" key={incident.id}>
            <Mark
              state={incident.state === "open" ? incident.severity : "ok"}
              word={incident.state === "open" ? incident.severity : "resolved"}
            />
            {mainLink(linkTo("incidents", [incident.id]), titleOf(incident))}
            <NotifiedMark incident={incident} />
            <Time at={incident.opened_at} />
          </li>
        ))}
      </ul>
      {more !== undefined && typeof value?.next_cursor === "string" && (
        <p>
          <a href={more}>All of its incidents</a>
        </p>
      )}
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

/**
 * The check as its agent's list has it, with the time by which it must report. A check that never did
 * is only among the overdue ones.
 */
const useExpected = ({ agent_id, check_id }: CheckName): ExpectedCheckState | undefined =>
  useResource(`expected ${agent_id}/${check_id}`, ["checks"], async () => {
    for (const is_overdue of [undefined, true]) {
      const query = { agent_id, search: check_id, is_overdue }
      const checks = await readAll(listOf<ExpectedCheckState>("ops/v1/checks", query, MOST))
      const found = checks.find((check) => check.check_id === check_id)
      if (found !== undefined) return found
    }
    return undefined
  }).value

const LIKELY_AHEAD_SECONDS = 5
/** An agent gathers unchanged results for 10 s, and they take a moment to arrive: that says nothing about a clock. */
const LIKELY_BEHIND_SECONDS = 15

export const skewText = (seconds: number): string =>
  seconds > -LIKELY_AHEAD_SECONDS && seconds < LIKELY_BEHIND_SECONDS
    ? "in step with the service"
    : seconds > 0
      ? `up to ${spanText(seconds * 1_000)} behind; results that arrive late look the same`
      : `${spanText(seconds * 1_000)} ahead`

const expectationOf = ({ expected_at, is_overdue }: ExpectedCheckState) =>
  expected_at === null ? (
    "nothing says how often it must report"
  ) : (
    <>
      {is_overdue ? "It is overdue: it had to report " : "it must report again "}
      <Time at={expected_at} isAlone />
    </>
  )

const lastChangeOf = ({ last_change: change }: CheckExplanation) =>
  change === null ? (
    "none"
  ) : (
    <>
      <Time at={change.observed_at} isAlone />: that run took {change.duration_ms} ms
    </>
  )

const Why = ({ check, isSilent, reasons }: CheckExplanation & { readonly isSilent: boolean }) => (
  <section class="explanation" aria-labelledby="explanation">
    <h2 id="explanation">
      Why it {isSilent ? "was last" : "is"} {check.status}
    </h2>
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>{localTimes(reason, now.peek())}</li>
      ))}
    </ul>
  </section>
)

export const CheckPage = () => {
  const [agent_id = "", check_id = ""] = route.value.subject
  const name = { agent_id, check_id }
  const reading = useRead<CheckExplanation>("ops/v1/explain", name, ["checks", "incidents"])
  const { value: found } = reading
  const expected = useExpected(name)
  const latest = { ...name, sort: "opened_at", limit: 10, with_receivers: true }
  const past = useRead<Answered<HeldIncident>>("ops/v1/incidents", latest)
  const runbook = useRunbook(past.value?.items ?? []) ?? undefined
  const isSilent = found !== undefined && found.agent.status !== "alive"
  // A watch has no check before its first results agree.
  const isNew = agent_id === WATCHER && reading.failure?.code === "not_found"
  reporting.useCurrent()
  const silence = () => go(silenceOf(name))
  useKeys((command) => {
    if (command === "back") go(asBack(linkTo("agents", [agent_id])))
    if (command === "silence" && mayRespond.value) silence()
  })
  return (
    <article>
      <BackLink to={linkTo("agents", [agent_id])} name={agent_id} />
      <h1>
        {agent_id}/{check_id}
      </h1>
      {(found !== undefined || (expected?.status !== null && !isNew)) && <ReadingNote reading={reading} />}
      {isNew && <p>None of its results counts yet.</p>}
      {expected !== undefined && expected.status === null && <p>It is declared and has never reported.</p>}
      {found !== undefined && (
        <p class="facts">
          <CheckMark status={found.check.status} isSilent={isSilent} />{" "}
          {isSilent ? "as last heard" : "last result"} <Time at={found.received_at} isAlone />
          {isSilent && (
            <>
              , its agent is <Mark state={found.agent.status} />
            </>
          )}
        </p>
      )}
      {(found ?? expected) !== undefined && mayRespond.value && (
        <div class="actions">
          <QuietButton does={silence}>Silence</QuietButton>
          {(found?.check.status !== "ok" || expected?.is_overdue === true) && <ResolveCheck {...name} />}
          {mayAdminister.value && <Administer {...name} />}
        </div>
      )}
      {agent_id === WATCHER && mayRespond.value && <WatchActions name={check_id} />}
      {found !== undefined && <CheckPicture {...name} />}
      <Facts
        facts={{
          Labels: labelsFact(expected?.labels),
          Expectation: expected && expectationOf(expected),
          "Last change": found && lastChangeOf(found),
          "Agent's clock": found && skewText(found.skew_seconds),
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
      <IncidentsOf label="Incidents" reading={past} none="It was part of none." />
      <Past {...name} />
    </article>
  )
}
