import { useSignal, useSignalEffect } from "@preact/signals"
import { useCallback, useEffect, useRef } from "preact/hooks"
import { type ApiFailure, isUnreached, messageOf } from "../api/ApiFailure.ts"
import { clockText, momentText } from "../format/times.ts"
import { keepAwake } from "../state/browser.ts"
import { now } from "../state/clock.ts"
import { isOutdated, lookForUpgrade } from "../state/live.ts"
import { HOME, linkTo } from "../state/Route.ts"
import { me, signOut, wallToken } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { QuietButton } from "../view/forms.tsx"
import { OnWall } from "../view/Part.tsx"
import { Time } from "../view/states.tsx"
import type { Reading } from "../view/usePages.ts"
import { Changes, Figures, Health, Late, OnCallNow, Open } from "./Overview.tsx"

/** When a part was last read, by the steady clock and by the service's. */
interface Read {
  readonly revision: number | undefined
  readonly steady: number
  readonly at: number
  readonly failure: ApiFailure | undefined
}
type Reads = Map<string, Read>

/**
 * Each part is read again every 15 s. A request that is not answered takes 8 s, so this much is an outage, which
 * shows within 30 s of its begin.
 */
const STALE_MILLIS = 25_000

const WAITING = "The server does not answer. This screen tries again until it does."

/** The part that was read least lately: all that is shown was last read then. */
const oldestOf = (reads: Reads): Read | undefined =>
  // The clock makes it look.
  now.value > 0 ? Array.from(reads.values()).toSorted((a, b) => a.steady - b.steady)[0] : undefined

const timeOf = ({ at }: Read) => <Time at={new Date(at).toISOString()} />

const Updated = ({ reads }: { readonly reads: Reads }) => {
  const oldest = oldestOf(reads)
  return <p class="updated">{oldest === undefined ? "connecting …" : <>updated {timeOf(oldest)}</>}</p>
}

/** Says since when the wall is not current, over all that it shows. */
const Stale = ({ reads }: { readonly reads: Reads }) => {
  const oldest = oldestOf(reads)
  if (oldest === undefined || performance.now() - oldest.steady < STALE_MILLIS) return null
  const { at, failure, revision } = oldest
  return (
    <div class="stale" role="alert">
      <strong>
        {revision === undefined ? "Not read since" : "Not all current since"} {momentText(at, now.peek())}
      </strong>{" "}
      {timeOf(oldest)}
      <p>{failure === undefined || isUnreached(failure) ? WAITING : messageOf(failure)}</p>
    </div>
  )
}

/** Twice in a row, so that no server that is about to stop again leaves the screen without a page. */
const LOOK_MILLIS = 20_000

/** Loads the page again once the server has another console. */
const useUpgrades = (): void =>
  useEffect(() => {
    const look = async (): Promise<void> => {
      const isSecond = isOutdated.peek()
      await lookForUpgrade()
      if (isSecond && isOutdated.peek()) location.reload()
    }
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MILLIS)
    return () => clearInterval(timer)
  }, [])

/** Keeps the screen on, where the browser lets a page do that; whether it does. */
const useAwake = () => {
  const isAwake = useSignal(false)
  useEffect(() => {
    let lock: WakeLockSentinel | undefined
    const take = async (): Promise<void> => {
      if (document.hidden) return
      lock = await keepAwake()
      isAwake.value = lock !== undefined
      // The browser takes it back from a page that is hidden.
      lock?.addEventListener("release", () => (isAwake.value = false))
    }
    const takeAgain = () => void take()
    takeAgain()
    document.addEventListener("visibilitychange", takeAgain)
    return () => {
      document.removeEventListener("visibilitychange", takeAgain)
      void lock?.release()
    }
  }, [])
  return isAwake
}

/** Whose token the screen has, and how it forgets it. */
const Foot = () => {
  const isAwake = useAwake()
  const isKept = wallToken() !== undefined
  const { name = "…", role } = me.value ?? {}
  return (
    <footer>
      <a href={linkTo(HOME)}>Console</a>
      <span>{isKept ? `token of ${name}, kept on this device` : `signed in as ${name}, ${role ?? "…"}`}</span>
      {!isKept && <span>For an unattended screen, sign out and keep a token of the role read.</span>}
      <QuietButton does={() => signOut()}>{isKept ? "Forget the token" : "Sign out"}</QuietButton>
      {!isAwake.value && <span>The browser may let this screen sleep.</span>}
    </footer>
  )
}

const Clock = () => <time class="clock">{clockText(now.value)}</time>

/** The page of an unattended screen: the parts of a glance, as large as it is, without scrolling. */
export const Wall = () => {
  const reads = useRef<Reads>(new Map()).current
  useUpgrades()
  const note = useCallback((title: string, { failure, revision }: Reading<unknown>) => {
    const before = reads.get(title)
    const isRead = before === undefined || before.revision !== revision
    const read = isRead ? { revision, steady: performance.now(), at: now.peek() } : before
    reads.set(title, { ...read, failure })
  }, [])
  // An effect, because a wall that took the counts itself would be drawn again with each of them.
  useSignalEffect(() => {
    const { value } = summary
    if (value !== undefined)
      note("Figures", { value, failure: undefined, revision: Date.parse(value.generated_at) })
  })
  return (
    <OnWall.Provider value={note}>
      <main class="wall">
        <header>
          <h1 class="unseen">Wall</h1>
          <Figures />
          <div>
            <Clock />
            <Updated reads={reads} />
          </div>
        </header>
        <Stale reads={reads} />
        <div class="parts">
          <Open />
          <div>
            <OnCallNow />
            <Late />
            <Health />
            <Changes most={1} />
          </div>
        </div>
        <Foot />
      </main>
    </OnWall.Provider>
  )
}
