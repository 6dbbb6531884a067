// Before all others: it takes the return from an issuer out of the address.
import "./features/signIn/signIn.ts"
import { type FunctionComponent, render } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { decide } from "./pages/decide.ts"
import { Incidents } from "./pages/Incidents.tsx"
import { Overview } from "./pages/Overview.tsx"
import { SignIn } from "./features/signIn/SignIn.tsx"
import { dialog } from "./state/dialog.ts"
import { BROWSER_KEY, keptText } from "./state/kept.ts"
import { titleOfPage } from "./state/keys.ts"
import { startLive } from "./state/live.ts"
import { pageName } from "./state/names.ts"
import { route } from "./state/location.ts"
import { revisionOf } from "./state/revisions.ts"
import { HOME, linkTo } from "./state/Route.ts"
import { followStorage, loadMe, me, token, WALL } from "./state/session.ts"
import { startAlerting, startPulse, unacknowledged } from "./state/summary.ts"
import { question } from "./state/useAction.ts"
import { Dialog } from "./view/Dialog.tsx"
import { Loaded, scriptOf } from "./view/Script.tsx"
import { Shell } from "./view/Shell.tsx"
import { Missing } from "./view/states.tsx"

const YES = "yes"

/**
 * The form that is open, and the question before an act that cannot be taken back. Escape means no, and so does
 * an end of the page that the question is about.
 */
const Dialogs = () => {
  const asked = question.value
  useEffect(
    () => () => {
      question.peek()?.answer(false)
      dialog.value = undefined
    },
    [],
  )
  return (
    <>
      {dialog.value}
      {asked && (
        <Dialog
          name={asked.text}
          onClose={({ currentTarget }) => asked.answer(currentTarget.returnValue === YES)}
        >
          <p>{asked.text}</p>
          <form method="dialog" class="actions">
            <button class={asked.isDanger ? "main danger" : "main"} value={YES}>
              {asked.goAhead}
            </button>
            <button class="quiet">Cancel</button>
          </form>
        </Dialog>
      )}
    </>
  )
}

/** The pages besides the first ones, whose script comes while people read those. */
const others = scriptOf<{ readonly PAGES: ReadonlyMap<string, FunctionComponent> }>(
  () => import("./pages/otherPages.ts"),
)
/** The pages of the third script. */
const DECIDED = ["policy", "receivers", "pages", "report"]

/** Its link has a token, which no title shows. */
const INVITATION = "invitation"

const FIRST_PAGES: Readonly<Record<string, FunctionComponent>> = {
  "overview 0": Overview,
  "incidents 0": Incidents,
}

/** A page below its title, which is its name. Pages about one subject have another one. */
const Titled = ({ of: Page, page }: { readonly of: FunctionComponent; readonly page: string }) => (
  <>
    <h1>{titleOfPage(page)}</h1>
    <Page />
  </>
)

const App = () => {
  const { page, subject } = route.value
  const key = [page, ...subject].join("/")
  const isSignedIn = token.value !== ""
  const reader = me.value?.name
  const now = revisionOf(["operators"])
  const waiting = unacknowledged.value ?? 0
  useEffect(() => {
    // Another administrator may change the role. A failure shows as a lost connection.
    if (isSignedIn) loadMe().catch(() => undefined)
  }, [isSignedIn, now])
  useEffect(() => {
    const subjectName = pageName.value ?? subject.join("/")
    const name = subject.length === 0 || page === INVITATION ? titleOfPage(page) : subjectName
    document.title = isSignedIn ? `${waiting === 0 ? "" : `(${waiting}) `}${name} · Tocsin` : "Tocsin"
  }, [isSignedIn, key, pageName.value, waiting])
  useEffect(() => {
    // A browser that rings makes sure that it still can.
    if (reader !== undefined && keptText("localStorage", BROWSER_KEY) !== null) decide.load()
  }, [reader])
  const { value: loaded } = decide.module
  useEffect(() => {
    if (reader !== undefined && typeof loaded === "object") loaded.renew().catch(() => undefined)
  }, [reader, loaded])
  const opened = useRef(key)
  useEffect(() => {
    if (opened.current === key) return
    opened.current = key
    // The element that led here may be gone with its page. The next Tab must not start before the
    // navigation.
    if (document.activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true })
  }, [key])
  const [invitation] = subject
  if (page === INVITATION && invitation !== undefined)
    return <Loaded key={key} of={decide} draw={({ Invitation }) => <Invitation token={invitation} />} />
  if (!isSignedIn) return <SignIn key={page} />
  const place = `${page} ${subject.length}`
  const isWall = place === `${WALL} 0`
  const isTitled = subject.length === 0 && !isWall
  const First = FIRST_PAGES[place]
  const shown =
    First !== undefined ? (
      <Titled key={key} page={page} of={First} />
    ) : (
      <Loaded
        key={key}
        of={DECIDED.includes(page) ? decide : others}
        draw={({ PAGES }) => {
          const Page = PAGES.get(place)
          if (Page === undefined) return <Missing what="page" name={page} others={linkTo(HOME)} />
          return isTitled ? <Titled page={page} of={Page} /> : <Page />
        }}
      />
    )
  return isWall ? (
    shown
  ) : (
    <Shell>
      <Dialogs key={`? ${key}`} />
      {shown}
    </Shell>
  )
}

window.addEventListener("storage", followStorage)
startLive()
const place = document.getElementById("console")
// A sentence stands there for those whom no script reaches.
place?.replaceChildren()
if (place !== null) render(<App />, place)
// After the page has asked for its list, which people wait for.
others.load()
startPulse()
startAlerting()
