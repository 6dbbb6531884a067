import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useLayoutEffect } from "preact/hooks"
import { numberText, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { keyHelp } from "../state/keys.ts"
import { isOutdated } from "../state/live.ts"
import { route } from "../state/location.ts"
import { HOME, linkTo } from "../state/Route.ts"
import { contact, mayAdminister, mayRespond, me, signOut } from "../state/session.ts"
import { aliveAgents, summary, unacknowledged } from "../state/summary.ts"
import { act, actionFailure, message } from "../state/useAction.ts"
import { QuietButton } from "./forms.tsx"
import { decide } from "../pages/decide.ts"
import { Icon } from "./icons.tsx"
import { HELP, openPanel, useKeyboard } from "./Keyboard.tsx"
import { Loaded } from "./Script.tsx"
import { Menu } from "./Menu.tsx"
import { Bell, Facts, FailureNote } from "./states.tsx"

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

const Lost = () => {
  const { isGated, isLost } = contact.value
  if (!isLost) return null
  return (
    <div class="lost" role="alert">
      <strong>
        {isGated === true ? "A proxy before the server asks for a sign-in of its own." : "Connection lost."}
      </strong>{" "}
      What you see may be out of date.{" "}
      {isGated === true ? (
        <QuietButton does={() => location.reload()}>Load the page again</QuietButton>
      ) : (
        "Trying again until the server answers."
      )}
    </div>
  )
}

const Outdated = () =>
  isOutdated.value ? (
    <div class="lost" role="status">
      <strong>The server has another version of this page.</strong>{" "}
      <QuietButton does={() => location.reload()}>Reload</QuietButton>
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
            <button type="button" onClick={() => void act(undo)}>
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
const SHARED = "A token of the settings. Named operators are on the page Operators."

interface PanelProps {
  readonly id: string
  readonly title: string
  readonly children: ComponentChildren
}

/** A part of the window that a button opens. Escape, a click elsewhere and a way to another page close it. */
const Panel = ({ id, title, children }: PanelProps) => {
  const isOpen = useSignal(false)
  return (
    <section
      id={id}
      class={isOpen.value ? "help" : undefined}
      popover="auto"
      autofocus
      tabIndex={-1}
      role="dialog"
      aria-label={title}
      onBeforeToggle={({ newState }) => void (isOpen.value ||= newState === "open")}
      // The focus, which leads back to where it was, must be in the panel until it is closed.
      onToggle={({ newState }) => {
        isOpen.value = newState === "open"
        // From a panel that was opened within the menu, no browser leads back to its button.
        const menu = openPanel()
        if (newState === "closed" && menu?.contains(document.activeElement) === false)
          menu.querySelector<HTMLElement>(`[popovertarget=${id}]`)?.focus()
      }}
    >
      {isOpen.value && (
        <>
          <header>
            <h2>{title}</h2>
            <PanelButton of={id}>Close</PanelButton>
          </header>
          {children}
        </>
      )}
    </section>
  )
}

interface PanelButtonProps {
  readonly of: string
  readonly children: ComponentChildren
}

const PanelButton = ({ of: id, children }: PanelButtonProps) => (
  <button type="button" class="quiet" popovertarget={id}>
    {children}
  </button>
)

const knownText = (count: number | undefined): string => (count === undefined ? "–" : numberText(count))

/** Counts of what is open and alive, and when they were read. */
const Pulse = () => {
  const counts = summary.value
  const taken = counts?.acknowledged_incidents ?? 0
  // The page of incidents and the tab count these.
  const others = unacknowledged.value === 0 ? "all" : `${numberText(unacknowledged.value ?? 0)} not`
  return (
    <div class="pulse">
      <p>
        <span>
          <b>{knownText(counts?.open_incidents)}</b> open
        </span>
        {taken > 0 && (
          <span class="taken">
            <i>, </i>
            {others} acknowledged
          </span>
        )}
        <span class="alive">
          {" "}
          · <b>{knownText(counts && aliveAgents(counts))}</b> alive
        </span>
      </p>
      <Updated />
    </div>
  )
}

export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  useKeyboard()
  const closeFailure = () => (actionFailure.value = undefined)
  const { page, subject } = route.value
  useLayoutEffect(() => {
    // A failure concerns the page that it happened on.
    closeFailure()
    openPanel()?.hidePopover()
  }, [page, subject.join("/")])
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header>
        <a class="brand" href={linkTo(HOME)} aria-label="Tocsin, home">
          <Bell size={26} />
          <span>Tocsin</span>
        </a>
        <Pulse />
        <PanelButton of="menu">
          <Icon name="menu" /> Menu
        </PanelButton>
        <div id="menu" popover="auto">
          <Menu />
          <div class="who">
            <p title={me.value?.name.startsWith("token-") === true ? SHARED : undefined}>
              {me.value?.name ?? "…"} <small>{me.value?.role}</small>
            </p>
            <div class="actions">
              <PanelButton of="settings">Settings</PanelButton>
              <PanelButton of={HELP}>Shortcuts</PanelButton>
              <QuietButton does={() => signOut()}>Sign out</QuietButton>
            </div>
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
      <Panel id="settings" title="Settings">
        <Loaded of={decide} draw={({ Preferences }) => <Preferences />} />
      </Panel>
      <Panel id={HELP} title="Shortcuts">
        <Facts facts={Object.fromEntries(keyHelp(mayRespond.value, mayAdminister.value))} />
      </Panel>
    </div>
  )
}
