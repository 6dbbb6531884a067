import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { countText, numberText, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { route } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { MOST } from "../state/lists.ts"
import { summary } from "../state/summary.ts"
import { contact, mayAdminister, me, signOut } from "../state/session.ts"
import { isOutdated } from "../state/live.ts"
import { act, actionFailure, message } from "../state/useAction.ts"
import { HelpButton } from "./Keyboard.tsx"
import { Bell } from "./marks.tsx"
import { PreferencesButton } from "./Preferences.tsx"
import { FailureNote } from "./states.tsx"

const LINKS = [
  ["incidents", "Incidents"],
  ["agents", "Agents"],
  ["admission", "Admission"],
  ["checks", "Checks"],
  ["silences", "Silences"],
  ["outbox", "Outbox"],
  ["audit", "Audit"],
  ["watches", "Watches"],
  ["integrations", "Integrations"],
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
  const undo = shown?.undo
  return (
    <div class="done" role="log" aria-label="Last action">
      {shown !== undefined && (
        <p>
          {shown.text}
          {undo !== undefined && (
            <button
              type="button"
              onClick={() => {
                message.value = undefined
                void act(undo)
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

/** The meaning of a name that begins with `token-`. */
const SHARED = "A token of the settings. Operators with names of their own are on the page Operators."

/** The count of waiting decisions on a page, in its link. */
const Waiting = ({ count }: { readonly count: number }) =>
  count === 0 ? null : (
    <span class="count" aria-hidden="true">
      {count < MOST ? count : `${MOST}+`}
    </span>
  )

const Navigation = () => {
  const links = useRef<HTMLElement>(null)
  const { page: current } = route.value
  const { dead_letters: letters = 0, waiting_keys: keys = 0 } = summary.value ?? {}
  const waits: Readonly<Record<string, readonly [count: number, noun: string]>> = {
    admission: [keys, "pending key"],
    outbox: [letters, "dead letter"],
  }
  useEffect(() => {
    const link = links.current?.querySelector<HTMLElement>("[aria-current]")
    // On a narrow screen, the links scroll sideways.
    link?.parentElement?.scrollTo({
      left: link.offsetLeft - link.parentElement.clientWidth / 2 + link.offsetWidth / 2,
    })
  }, [current, mayAdminister.value])
  return (
    <nav ref={links} aria-label="Pages">
      {LINKS.filter(([page]) => page !== "operators" || mayAdminister.value).map(([page, name]) => {
        const [count, noun] = waits[page] ?? [0, ""]
        return (
          <a
            key={page}
            href={linkTo(page)}
            title={count === 0 ? undefined : countText(count, noun)}
            aria-current={current === page ? "page" : undefined}
          >
            {name}
            <Waiting count={count} />
          </a>
        )
      })}
    </nav>
  )
}

/** A count, or a dash until it is read. */
const knownText = (count: number | undefined): string => (count === undefined ? "–" : numberText(count))

/** The frame of every page: the navigation, the state of the connection, and what was last done. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  const counts = summary.value
  // A failure concerns the page that it happened on.
  const closeFailure = () => (actionFailure.value = undefined)
  const { page, subject } = route.value
  useEffect(() => void closeFailure(), [page, subject.join("/")])
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header>
        <a class="brand" href={linkTo("incidents")} aria-label="Tocsin, home">
          <Bell size={26} />
          <span>Tocsin</span>
        </a>
        <Navigation />
        <div class="who">
          <p class="counts">
            <b>{knownText(counts?.open_incidents)}</b> open · <b>{knownText(counts?.agents_online)}</b> alive
          </p>
          <Updated />
          <p title={me.value?.name.startsWith("token-") === true ? SHARED : undefined}>
            {me.value?.name ?? "…"} <small>{me.value?.role}</small>
          </p>
          <div class="actions">
            <PreferencesButton />
            <HelpButton />
            <button type="button" class="quiet" onClick={() => signOut()}>
              Sign out
            </button>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Lost />
        <Outdated />
        {actionFailure.value !== undefined && (
          <FailureNote failure={actionFailure.value} close={closeFailure} />
        )}
        {children}
      </main>
      <Done />
    </div>
  )
}
