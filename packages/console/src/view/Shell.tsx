import type { ComponentChildren } from "preact"
import { numberText, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { route } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { summary } from "../state/summary.ts"
import { contact, me, signOut } from "../state/session.ts"
import { isOutdated } from "../state/upgrade.ts"
import { act, actFailure, message } from "../state/useAct.ts"
import { FailureNote } from "./states.tsx"

const LINKS = [
  ["incidents", "Incidents"],
  ["agents", "Agents"],
  ["admission", "Admission"],
  ["checks", "Checks"],
  ["silences", "Silences"],
  ["outbox", "Outbox"],
  ["audit", "Audit"],
  ["operators", "Operators"],
  ["system", "System"],
] as const

/** More than the time between two reads of the summary, so that nothing is drawn while they succeed. */
const RECENT_MILLIS = 5_000
const STALE_MILLIS = 7_000

/** How current the page is; amber when it no longer is. */
const Updated = () => {
  // The clock makes it count.
  const moves = now.value > 0
  const { at, isLost } = contact.value
  const age = moves && at > 0 ? performance.now() - at : 0
  const isLate = isLost || age > STALE_MILLIS
  return (
    <p class={isLate ? "updated late" : "updated"}>
      {at === 0 ? "connecting …" : `updated ${age < RECENT_MILLIS ? "now" : `${spanText(age)} ago`}`}
    </p>
  )
}

const Lost = () =>
  contact.value.isLost ? (
    <div class="lost" role="alert">
      <strong>Connection lost.</strong> What you see may be out of date. Trying again until the server
      answers.
    </div>
  ) : null

const Outdated = () =>
  isOutdated.value ? (
    <div class="lost" role="status">
      <strong>The server has another version of this page.</strong>{" "}
      <button type="button" class="quiet" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  ) : null

const Done = () => {
  const shown = message.value
  return (
    <div class="done" role="log" aria-label="Last action">
      {shown !== undefined && (
        <p>
          {shown.text}
          {shown.undo !== undefined && (
            <button
              type="button"
              onClick={() => {
                const { undo } = shown
                message.value = undefined
                void act(async () => {
                  await undo?.()
                  return { text: "Undone" }
                })
              }}
            >
              Undo
            </button>
          )}
        </p>
      )}
    </div>
  )
}

const skip = (event: Event): void => {
  // The address keeps its page.
  event.preventDefault()
  document.getElementById("main")?.focus()
}

/** The frame of every page: the navigation, the state of the connection, and what was last done. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  const counts = summary.value
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header>
        <a class="brand" href={linkTo("incidents")} aria-label="Tocsin, home">
          <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
            <path d="M16 4a8 8 0 0 0-8 8v6l-3 5h22l-3-5v-6a8 8 0 0 0-8-8zM12.5 25a3.5 3.5 0 0 0 7 0z" />
          </svg>
          <span>Tocsin</span>
        </a>
        <nav aria-label="Pages">
          {LINKS.map(([page, name]) => (
            <a key={page} href={linkTo(page)} aria-current={route.value.page === page ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <div class="who">
          <p class="counts">
            <b>{numberText(counts?.open_incidents ?? 0)}</b> open ·{" "}
            <b>{numberText(counts?.agents_online ?? 0)}</b> alive
          </p>
          <Updated />
          <p>
            {me.value?.name ?? "…"} <small>{me.value?.role}</small>
          </p>
          <button type="button" class="quiet" onClick={() => signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Lost />
        <Outdated />
        {actFailure.value !== undefined && <FailureNote failure={actFailure.value} />}
        {children}
      </main>
      <Done />
    </div>
  )
}
