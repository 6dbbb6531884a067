import { useSignal } from "@preact/signals"
import type { PolicyInForce, PushState, Subscription } from "@tocsin/client"
import { now } from "../../state/clock.ts"
import { listOf, MOST } from "../../state/lists.ts"
import { refresh } from "../../state/revisions.ts"
import { mayAdminister, me } from "../../state/session.ts"
import { ActionButton } from "../../view/forms.tsx"
import { Time } from "../../view/states.tsx"
import { useRead, useResource } from "../../view/usePages.ts"
import { saveReceiver, testText } from "../receivers/receiverActions.ts"
import { notifyHere, obstacle, ownRow, readState, removeBrowser, testBrowser } from "./thisBrowser.ts"

const LOOK_MILLIS = 1_000
const LOOKS = 15
/** Before a browser of a person who signs in ends. */
const WARNED_MILLIS = 14 * 86_400_000

const shownAt = async (id: string): Promise<string | null | undefined> => {
  const { items } = await listOf<Subscription>("ops/v1/subscriptions", {}, MOST).read(undefined)
  return items.find((row) => row.id === id)?.shown_at
}

/** Waits until a browser has shown more than it had; whether it has. */
const isShown = async (id: string, before: string | null | undefined): Promise<boolean> => {
  for (let look = 0; look < LOOKS; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLIS))
    if (((await shownAt(id)) ?? null) !== (before ?? null)) return true
  }
  return false
}

const SHARED = "A shared token is nobody's. Sign in as an operator of your own, whom notifications can reach."

/** Why the reader cannot press the button, besides this browser. */
const reasonOf = ({ problem }: PushState): string | undefined => {
  if (me.value?.name.startsWith("token-") === true) return SHARED
  return problem === undefined ? obstacle() : `The server cannot notify browsers: ${problem}.`
}

interface BrowserProps {
  readonly row: Subscription
  readonly say: (text: string) => void
}

const Browser = ({
  row: { expires_at, id, last_error, name, operator, service, shown_at, taken_at },
  say,
}: BrowserProps) => {
  const test = async () => {
    const result = await testBrowser(id)
    say(`${name}: ${testText(result)}.`)
    if (result.outcome === "delivered" && (await isShown(id, shown_at))) say(`${name} has shown the test.`)
    return undefined
  }
  const remove = async () => {
    await removeBrowser(id)
    return { text: `Removed ${name}` }
  }
  return (
    <li class="row browser">
      <b>
        {name}
        {ownRow()?.id === id && " (this browser)"}
      </b>
      <span class="subject">
        <span>
          {operator === me.value?.name ? "" : `${operator}, `}
          {service}
        </span>
        <span>
          taken {taken_at === null ? "never" : <Time at={taken_at} />}, shown{" "}
          {shown_at === null ? "never" : <Time at={shown_at} />}
        </span>
        {last_error !== null && <span class="failure">{last_error}</span>}
        {expires_at !== undefined && Date.parse(expires_at) - now.value < WARNED_MILLIS && (
          <span class="failure">
            ends <Time at={expires_at} />, unless {operator} signs in again
          </span>
        )}
      </span>
      <span class="actions">
        <ActionButton describes={`Send a test to ${name}`} does={test}>
          Test
        </ActionButton>
        <ActionButton
          kind="danger"
          describes={`Remove ${name}`}
          confirms={[`Remove ${name}? It gets no notification any more.`, "Remove the browser"]}
          does={remove}
        >
          Remove
        </ActionButton>
      </span>
    </li>
  )
}

/** Offers an admin to name the reader in the policy; says to others what is missing. */
const NoReceiver = () => {
  const { value: policy } = useRead<PolicyInForce>("ops/v1/policy")
  const name = me.value?.name ?? ""
  const entry = { kind: "messenger", type: "browser", operator: name, acknowledge: "1h" }
  const receiver = `browser_${name.replaceAll(/[^a-z0-9_]/g, "_")}`
  return (
    <p class="lead">
      No receiver of the policy names {name}, so nothing is sent to your browsers but tests.{" "}
      {mayAdminister.value && policy !== undefined && policy.fixed === undefined ? (
        <ActionButton does={() => saveReceiver(policy, { name: receiver, body: { receiver: entry } })}>
          Make the receiver {receiver}
        </ActionButton>
      ) : (
        "Ask an administrator for one of type browser."
      )}
    </p>
  )
}

/** Makes this browser one that rings, and lists the reader's browsers; an admin sees everybody's. */
export const NotifyBrowser = () => {
  const said = useSignal("")
  const say = (text: string) => void (said.value = text)
  const { value: state } = useResource("push", ["operators", "policy"], readState)
  const { value: browsers } = useResource("browsers", ["operators"], () =>
    listOf<Subscription>("ops/v1/subscriptions", {}, MOST).read(undefined),
  )
  if (state === undefined) return <p class="lead">Loading…</p>
  const reason = reasonOf(state)
  const own = ownRow()
  const press = async () => {
    say("Asking this browser and its push service…")
    try {
      const row = await notifyHere(state)
      refresh()
      const result = await testBrowser(row.id)
      say(
        result.outcome === "delivered"
          ? "The push service took a test. Waiting until this browser shows it…"
          : `The push service did not take a test: ${testText(result)}.`,
      )
      if (result.outcome === "delivered")
        say(
          (await isShown(row.id, row.shown_at))
            ? "This browser has shown the test."
            : "The push service took the test, and this browser has not shown it yet. Look whether the system allows its notifications.",
        )
    } catch (failure) {
      say(failure instanceof Error ? failure.message : String(failure))
    }
    return undefined
  }
  const isOthers = own !== undefined && own.operator !== me.value?.name
  return (
    <section class="browsers" aria-label="Browsers that ring">
      {reason === undefined ? (
        <ActionButton kind="quiet" does={press}>
          Notify this browser
        </ActionButton>
      ) : (
        <p class="lead">{reason}</p>
      )}
      {isOthers && (
        <p class="lead">This browser notifies {own.operator}. Pressing the button moves it to you.</p>
      )}
      {said.value !== "" && said.value !== reason && <p role="status">{said}</p>}
      <ul class="plain" aria-label="Browsers">
        {browsers?.items.map((row) => (
          <Browser key={row.id} row={row} say={say} />
        ))}
      </ul>
      {state.receiver === undefined && reason !== SHARED && <NoReceiver />}
    </section>
  )
}
