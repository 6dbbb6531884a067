import type { FunctionComponent } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { Admission } from "../pages/Admission.tsx"
import { AgentPage } from "../pages/AgentPage.tsx"
import { Agents } from "../pages/Agents.tsx"
import { Audit } from "../pages/Audit.tsx"
import { CheckPage } from "../pages/CheckPage.tsx"
import { Checks } from "../pages/Checks.tsx"
import { IncidentPage } from "../pages/IncidentPage.tsx"
import { Incidents } from "../pages/Incidents.tsx"
import { Integrations } from "../pages/Integrations.tsx"
import { Operators } from "../pages/Operators.tsx"
import { Outbox } from "../pages/Outbox.tsx"
import { SignIn } from "../pages/SignIn.tsx"
import { Silences } from "../pages/Silences.tsx"
import { Start } from "../pages/Start.tsx"
import { Watches } from "../pages/Watches.tsx"
import { System } from "../pages/System.tsx"
import { linkTo } from "../state/Route.ts"
import { revisionOf } from "../state/revisions.ts"
import { question } from "../state/confirmation.ts"
import { route } from "../state/location.ts"
import { loadMe, token } from "../state/session.ts"
import { unacknowledged } from "../state/summary.ts"
import { Keyboard } from "./Keyboard.tsx"
import { Shell } from "./Shell.tsx"
import { Empty } from "./states.tsx"

const YES = "yes"

/**
 * Asks before an act that cannot be taken back. Escape means no, and so does an end of the page that
 * the question is about.
 */
const Confirmation = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useEffect(() => () => question.peek()?.answer(false), [])
  useEffect(() => {
    if (asked === undefined || dialog.current === null) return
    dialog.current.returnValue = ""
    dialog.current.showModal()
  }, [asked])
  if (asked === undefined) return null
  // The browser leads back to the button that asked when a dialog closes, but not when it is removed.
  const close = (answer?: string) => dialog.current?.close(answer)
  return (
    <dialog
      ref={dialog}
      class="ask"
      aria-labelledby="asked"
      onClose={() => asked.answer(dialog.current?.returnValue === YES)}
    >
      <p id="asked">{asked.text}</p>
      <div class="actions">
        <button type="button" class={asked.isDanger ? "main danger" : "main"} onClick={() => close(YES)}>
          {asked.goAhead}
        </button>
        <button type="button" class="quiet" onClick={() => close()}>
          Cancel
        </button>
      </div>
    </dialog>
  )
}

const PAGES: Readonly<Record<string, FunctionComponent>> = {
  incidents: Incidents,
  agents: Agents,
  admission: Admission,
  checks: Checks,
  silences: Silences,
  outbox: Outbox,
  audit: Audit,
  watches: Watches,
  integrations: Integrations,
  operators: Operators,
  start: Start,
  system: System,
}

/** Pages about one thing, by the number of names in their address. */
const SUBJECTS: Readonly<Record<string, readonly [names: number, page: FunctionComponent]>> = {
  incidents: [1, IncidentPage],
  agents: [1, AgentPage],
  checks: [2, CheckPage],
}

const pageOf = (page: string, names: number): FunctionComponent | undefined => {
  if (names === 0) return Object.hasOwn(PAGES, page) ? PAGES[page] : undefined
  const subject = Object.hasOwn(SUBJECTS, page) ? SUBJECTS[page] : undefined
  return subject?.[0] === names ? subject[1] : undefined
}

const Missing = () => (
  <>
    <h1>Not found</h1>
    <Empty title="This page does not exist">
      <a href={linkTo("incidents")}>Go home</a>
    </Empty>
  </>
)

/** The console: the sign-in, or the page that the address names. */
export const App = () => {
  const { page, subject } = route.value
  const key = [page, ...subject].join("/")
  const isSignedIn = token.value !== ""
  const now = revisionOf(["operators"])
  const waiting = unacknowledged.value ?? 0
  useEffect(() => {
    // Another administrator may change the role. A failure shows as a lost connection.
    if (isSignedIn) loadMe().catch(() => undefined)
  }, [isSignedIn, now])
  useEffect(() => {
    const name = subject.at(-1) ?? `${page.slice(0, 1).toUpperCase()}${page.slice(1)}`
    document.title = isSignedIn ? `${waiting === 0 ? "" : `(${waiting}) `}${name} · Tocsin` : "Tocsin"
  }, [isSignedIn, key, waiting])
  const opened = useRef(key)
  useEffect(() => {
    if (opened.current === key) return
    opened.current = key
    // The element that led here may be gone with its page. The next Tab must not start before the
    // navigation.
    if (document.activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true })
  }, [key])
  if (!isSignedIn) return <SignIn />
  const Page = pageOf(page, subject.length) ?? Missing
  return (
    <Shell>
      <Keyboard />
      <Confirmation key={`question of ${key}`} />
      <Page key={key} />
    </Shell>
  )
}
