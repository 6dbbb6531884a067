import { useSignal } from "@preact/signals"
import type {
  CheckExplanation,
  ExpectedCheckState,
  HeldIncident,
  IncidentDetail,
  StoredCheckResultEvent,
} from "@tocsin/client"
import { segment } from "../api/request.ts"
import { localTimes } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { titleOf } from "../state/incidentActions.ts"
import { listOf, MOST, readAll } from "../state/lists.ts"
import { asBack, go, route } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { call, mayAdminister, mayRespond } from "../state/session.ts"
import { silenceOf } from "../state/silenceActions.ts"
import { useResource } from "../state/useResource.ts"
import { ActionButton } from "../view/buttons.tsx"
import { BackLink } from "../view/navigation.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { ReadingNote } from "../view/states.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { LabelsFact, skewText } from "./AgentFacts.tsx"
import { CheckPicture } from "./CheckPicture.tsx"

type History = Answered<StoredCheckResultEvent>

const Changes = ({ changes }: { readonly changes: ReadonlyArray<StoredCheckResultEvent> }) => (
  <ol class="changes" aria-label="Changes">
    {changes.map(({ event_id, status, exit_code, observed_at, output }) => (
      <li key={event_id}>
        <p class="facts">
          <Mark state={status} /> <Time at={observed_at} isAlone /> <small>exit code {exit_code}</small>
        </p>
        {output !== undefined && output !== "" && <pre tabIndex={0}>{output}</pre>}
      </li>
    ))}
  </ol>
)

const Past = ({ agent_id, check_id }: { readonly agent_id: string; readonly check_id: string }) => {
  const older = useSignal<ReadonlyArray<History>>([])
  const query = { agent_id, check_id, limit: MOST }
  const reading = useResource(`history ${agent_id}/${check_id}`, ["checks"], (signal) =>
    call<History>("GET", "api/v1/events/query", { query, signal }),
  )
  const { value: newest } = reading
  if (newest === undefined) return <ReadingNote reading={reading} />
  const cursor = (older.value.at(-1) ?? newest).next_cursor
  const changes = [newest, ...older.value].flatMap(({ items }) => items)
  // Newer changes move older ones to the next page, which may have been read before.
  const known = Array.from(new Map(changes.map((change) => [change.event_id, change])).values())
  return (
    <>
      <h2>Changes</h2>
      <ReadingNote reading={reading} />
      <Changes changes={known} />
      {typeof cursor === "string" && (
        <ActionButton
          does={async () => {
            const page = await call<History>("GET", "api/v1/events/query", { query: { ...query, cursor } })
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

const Actions = (check: { readonly agent_id: string; readonly check_id: string }) => (
  <div class="actions">
    <button type="button" class="quiet" onClick={() => go(silenceOf(check))}>
      Silence
    </button>
    {mayAdminister.value && <Administer {...check} />}
  </div>
)

const Administer = ({ agent_id, check_id }: { readonly agent_id: string; readonly check_id: string }) => {
  const path = `ops/v1/agents/${segment(agent_id)}/checks/${segment(check_id)}`
  return (
    <>
      <ActionButton
        describes="Release a check whose agent had a clock in the future"
        does={async () => {
          await call("POST", `${path}/reset-clock`)
          return { text: "Reset the clock: the next result counts" }
        }}
      >
        Reset clock
      </ActionButton>
      <ActionButton
        kind="danger"
        confirms={[`Delete ${agent_id}/${check_id} with its history?`, "Delete the check"]}
        does={async () => {
          await call("DELETE", path)
          go(linkTo("agents", [agent_id]))
          return { text: `Deleted ${agent_id}/${check_id}` }
        }}
      >
        Delete
      </ActionButton>
    </>
  )
}

const Expectation = ({ check }: { readonly check: ExpectedCheckState }) =>
  check.expected_at === null ? (
    <>nothing says how often it must report</>
  ) : (
    <>
      {check.is_overdue ? "It is overdue: it had to report " : "it must report again "}
      <Time at={check.expected_at} isAlone />
    </>
  )

const INCIDENTS = 10

/** The last incidents that the check was part of, with the runbook of the one that is open. */
const useIncidents = (agent_id: string, check_id: string) =>
  useResource(`incidents of ${agent_id}/${check_id}`, ["incidents"], async (signal) => {
    const query = { agent_id, check_id, sort: "opened_at", limit: INCIDENTS }
    const { items } = await call<Answered<HeldIncident>>("GET", "ops/v1/incidents", { query, signal })
    const open = items.find(({ state }) => state === "open")
    const runbook =
      open && (await call<IncidentDetail>("GET", `ops/v1/incidents/${segment(open.id)}`, { signal })).runbook
    return { items, runbook }
  }).value

/** The incidents of an agent or a check, in a page about more than these. */
export const IncidentList = ({
  label,
  incidents,
}: {
  readonly label: string
  readonly incidents: ReadonlyArray<HeldIncident>
}) => (
  <ul class="plain" aria-label={label}>
    {incidents.map((incident) => (
      <li class="row member" key={incident.id}>
        <Mark
          state={incident.state === "open" ? incident.severity : "ok"}
          word={incident.state === "open" ? incident.severity : "resolved"}
        />
        <a class="main" href={linkTo("incidents", [incident.id])}>
          {titleOf(incident)}
        </a>
        <Time at={incident.opened_at} />
      </li>
    ))}
  </ul>
)

/**
 * The check as its agent's list has it, with the time by which it must report. A check that never did
 * is only among the overdue ones.
 */
const useExpected = (agent_id: string, check_id: string): ExpectedCheckState | undefined =>
  useResource(`expected ${agent_id}/${check_id}`, ["checks"], async () => {
    for (const is_overdue of [undefined, true]) {
      const query = { agent_id, search: check_id, is_overdue }
      const checks = await readAll(listOf<ExpectedCheckState>("ops/v1/checks", query, MOST))
      const found = checks.find((check) => check.check_id === check_id)
      if (found !== undefined) return found
    }
    return undefined
  }).value

/** The labels of a check, when it must report, how long its last result took, and what to read about it. */
const Facts = ({
  expected,
  found,
  runbook,
}: {
  readonly expected: ExpectedCheckState | undefined
  readonly found: CheckExplanation | undefined
  readonly runbook: NonNullable<IncidentDetail["runbook"]> | undefined
}) => (
  <dl class="facts-list">
    <LabelsFact labels={expected?.labels} />
    {expected !== undefined && (
      <>
        <dt>Expectation</dt>
        <dd>
          <Expectation check={expected} />
        </dd>
      </>
    )}
    {found !== undefined && (
      <>
        <dt>Last change</dt>
        <dd>
          {found.last_change === null ? (
            "none"
          ) : (
            <>
              <Time at={found.last_change.observed_at} isAlone />, took {found.last_change.duration_ms} ms
            </>
          )}
        </dd>
        <dt>Agent's clock</dt>
        <dd>{skewText(found.skew_seconds)}</dd>
      </>
    )}
    {runbook !== undefined && (
      <>
        <dt>Runbook</dt>
        <dd>
          <a href={runbook.url} target="_blank" rel="noopener noreferrer">
            {runbook.note ?? runbook.url}
          </a>
        </dd>
      </>
    )}
  </dl>
)

/** One check: its history, and why it is in its state. */
export const CheckPage = () => {
  const [agent_id = "", check_id = ""] = route.value.subject
  const key = `${agent_id}/${check_id}`
  const reading = useResource(`explain ${key}`, ["checks", "incidents"], (signal) =>
    call<CheckExplanation>("GET", "ops/v1/explain", { query: { agent_id, check_id }, signal }),
  )
  const { value: found } = reading
  const expected = useExpected(agent_id, check_id)
  const past = useIncidents(agent_id, check_id)
  useKeys((command) => {
    if (command === "back") go(asBack(linkTo("agents", [agent_id])))
    if (command === "silence" && mayRespond.value) go(silenceOf({ agent_id, check_id }))
  })
  return (
    <article>
      <BackLink to={linkTo("agents", [agent_id])}>← {agent_id}</BackLink>
      <h1>{check_id}</h1>
      {(found !== undefined || expected?.status !== null) && <ReadingNote reading={reading} />}
      {expected !== undefined && expected.status === null && <p>It is declared and has never reported.</p>}
      {found !== undefined && (
        <>
          <p class="facts">
            <Mark state={found.check.status} /> last result <Time at={found.received_at} isAlone />
          </p>
          {mayRespond.value && <Actions agent_id={agent_id} check_id={check_id} />}
          <CheckPicture agent_id={agent_id} check_id={check_id} />
        </>
      )}
      <Facts found={found} expected={expected} runbook={past?.runbook ?? undefined} />
      {found !== undefined && (
        <section class="explanation" aria-labelledby="explanation">
          <h2 id="explanation">Why it is {found.check.status}</h2>
          <ul>
            {found.reasons.map((reason) => (
              <li key={reason}>{localTimes(reason, now.peek())}</li>
            ))}
          </ul>
        </section>
      )}
      <h2>Incidents</h2>
      {past === undefined || past.items.length === 0 ? (
        <p class="lead">It was part of none.</p>
      ) : (
        <IncidentList label="Incidents" incidents={past.items} />
      )}
      <Past agent_id={agent_id} check_id={check_id} />
    </article>
  )
}
