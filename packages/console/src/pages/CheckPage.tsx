import { useSignal } from "@preact/signals"
import type { CheckExplanation, ExpectedCheckState, StoredCheckResultEvent } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { exactText, relativeText } from "../format/times.ts"
import { stretchesOf } from "../format/historyStrip.ts"
import { now } from "../state/clock.ts"
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
import { Labels, skewText } from "./AgentFacts.tsx"

const WIDTH = 1_000
const DAY = 86_400_000

type History = Answered<StoredCheckResultEvent>

const Strip = ({ changes }: { readonly changes: ReadonlyArray<StoredCheckResultEvent> }) => {
  const end = now.value
  const oldest = Date.parse(changes.at(-1)?.observed_at ?? "")
  const start = Number.isFinite(oldest) ? Math.max(oldest, end - 30 * DAY) : end - DAY
  return (
    <figure class="strip">
      <svg
        viewBox={`0 0 ${WIDTH} 28`}
        preserveAspectRatio="none"
        role="img"
        aria-label="History of the status"
      >
        {stretchesOf(changes, { start, end }).map(({ from, to, status, since }) => (
          <rect
            key={since}
            class={`is-${status}`}
            x={from * WIDTH}
            width={Math.max(1, (to - from) * WIDTH)}
            y={status === "ok" ? 10 : 0}
            height={status === "ok" ? 18 : 28}
          >
            <title>{`${status} since ${exactText(since)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>{relativeText(new Date(start).toISOString(), end)}</span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}

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
      <h2>History</h2>
      <ReadingNote reading={reading} />
      <Strip changes={known} />
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

const Freshness = ({ check }: { readonly check: ExpectedCheckState }) => {
  if (check.expected_at === null) return <p class="lead">Nothing says how often it must report.</p>
  return (
    <p>
      {check.is_overdue ? "It is overdue: it had to report " : "It must report again "}
      <Time at={check.expected_at} isAlone />.
    </p>
  )
}

/**
 * The check as its agent's list has it, with the time by which it must report. A check that never did
 * is only among the overdue ones.
 */
const useExpected = (agent_id: string, check_id: string): ExpectedCheckState | undefined =>
  useResource(`expected ${agent_id}/${check_id}`, ["checks"], async () => {
    for (const is_overdue of [undefined, true]) {
      const checks = await readAll(
        listOf<ExpectedCheckState>("ops/v1/checks", { agent_id, is_overdue }, MOST),
      )
      const found = checks.find((check) => check.check_id === check_id)
      if (found !== undefined) return found
    }
    return undefined
  }).value

/** One check: its history, and why it is in its state. */
export const CheckPage = () => {
  const [agent_id = "", check_id = ""] = route.value.subject
  const key = `${agent_id}/${check_id}`
  const reading = useResource(`explain ${key}`, ["checks", "incidents"], (signal) =>
    call<CheckExplanation>("GET", "ops/v1/explain", { query: { agent_id, check_id }, signal }),
  )
  const { value: found } = reading
  const expected = useExpected(agent_id, check_id)
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
      {expected !== undefined && (
        <p>
          <Labels labels={expected.labels} />
        </p>
      )}
      {found !== undefined && (
        <>
          <p class="facts">
            <Mark state={found.check.status} /> last result <Time at={found.received_at} isAlone /> · clock{" "}
            {skewText(found.skew_seconds)}
            {found.incident !== null && (
              <>
                {" · "}
                <a href={linkTo("incidents", [found.incident.id])}>its incident</a>
              </>
            )}
          </p>
          <section class="explanation" aria-labelledby="explanation">
            <h2 id="explanation">Why</h2>
            <ul>
              {found.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </section>
          {mayRespond.value && <Actions agent_id={agent_id} check_id={check_id} />}
        </>
      )}
      {expected !== undefined && (
        <>
          <h2>Freshness</h2>
          <Freshness check={expected} />
        </>
      )}
      <Past agent_id={agent_id} check_id={check_id} />
    </article>
  )
}
