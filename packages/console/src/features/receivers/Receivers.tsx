import { type Signal, useSignal } from "@preact/signals"
import type { AgentDownload, HeldOutboxItem, PolicyInForce } from "@tocsin/client"
import { countText } from "../../format/times.ts"
import { faultOf } from "../../state/health.ts"
import { byName, MOST } from "../../state/lists.ts"
import type { Answered } from "../../state/Pages.ts"
import { NotifyBrowser } from "../push/NotifyBrowser.tsx"
import { deleteReceiver, entriesOf, testReceiver } from "./receiverActions.ts"
import { typeNameOf } from "./receiverForms.ts"
import { linkTo } from "../../state/Route.ts"
import { base } from "../../state/base.ts"
import { call, mayAdminister, mayRespond } from "../../state/session.ts"
import { ActionButton, QuietButton } from "../../view/forms.tsx"
import { Mark, ReadingNote } from "../../view/states.tsx"
import { type Reading, useRead, useResource } from "../../view/usePages.ts"
import { ReceiverForms } from "./ReceiverForm.tsx"

/** Notifications that have not arrived, by the tab of the outbox that lists them. */
const LETTERS = [
  ["pending", "waiting"],
  ["retry", "to be tried again"],
  ["failed", "failed"],
] as const

type Letters = ReadonlyArray<readonly [tab: string, words: string, items: ReadonlyArray<HeldOutboxItem>]>

const readLetters = (): Promise<Letters> =>
  Promise.all(
    LETTERS.map(async ([state, words]) => {
      const query = { state, limit: MOST }
      const { items } = await call<Answered<HeldOutboxItem>>("GET", "ops/v1/outbox", { query })
      return [state, words, items] as const
    }),
  )

/** How many notifications of a receiver have not arrived, as far as the first of each kind show. */
const LettersOf = ({ letters, name }: { readonly letters: Letters; readonly name: string }) => (
  <>
    {letters.map(([tab, words, items]) => {
      const [latest, ...others] = items.filter(({ receiver }) => receiver === name)
      if (latest === undefined) return null
      const count = others.length + 1
      return (
        <span key={tab}>
          <a href={linkTo("outbox", [], { tab })}>
            {items.length < MOST ? countText(count, "notification") : `${count} or more notifications`}{" "}
            {words}
          </a>
          {tab === "failed" && `, the latest: ${latest.last_error ?? "no reason known"}`}
        </span>
      )
    })}
  </>
)

interface ReceiverProps {
  readonly policy: PolicyInForce
  readonly receiver: PolicyInForce["receivers"][number]
  readonly letters: Letters
  /** The name of the one that the form changes. */
  readonly changed: Signal<string | undefined>
}

const Receiver = ({ changed, letters, policy, receiver: { name, notifier } }: ReceiverProps) => {
  const tested = useSignal("")
  const fault = faultOf(policy, name)
  const entry = entriesOf(policy)[name]
  const [state, word] =
    fault !== undefined
      ? ["critical", "unusable"]
      : entry?.["shadow"] === true
        ? ["past", "shadow"]
        : ["ok", "usable"]
  const test = async () => {
    tested.value = ""
    tested.value = await testReceiver(name)
    return { text: `${name}: ${tested.value}` }
  }
  return (
    <li class="row receiver">
      <b>{name}</b>
      <Mark state={state} word={word} />
      <span class="subject">
        <span>{entry === undefined ? `${notifier}, by the server's settings` : typeNameOf(entry)}</span>
        {fault !== undefined && <span class="failure">no server can use it: {fault}</span>}
        <LettersOf letters={letters} name={name} />
        {tested.value !== "" && <b role="status">{tested}</b>}
      </span>
      <span class="actions">
        {mayRespond.value && (
          <ActionButton describes={`Send a test message to ${name}`} does={test}>
            Test
          </ActionButton>
        )}
        {mayAdminister.value && policy.fixed === undefined && entry !== undefined && (
          <>
            <QuietButton describes={`Edit ${name}`} does={() => (changed.value = name)}>
              Edit
            </QuietButton>
            <ActionButton
              kind="danger"
              describes={`Delete ${name}`}
              confirms={[
                `Delete ${name} and its secrets? What waits for it is not sent.`,
                "Delete the receiver",
              ]}
              does={() => deleteReceiver(policy, name)}
            >
              Delete
            </ActionButton>
          </>
        )}
      </span>
    </li>
  )
}

export const ReceiverTable = ({ reading }: { readonly reading: Reading<PolicyInForce> }) => {
  const letters = useResource("letters of receivers", ["outbox"], readLetters, true).value ?? []
  const changed = useSignal<string | undefined>(undefined)
  const { value: policy } = reading
  const { value: download } = useRead<AgentDownload>("ops/v1/agent_download")
  if (policy === undefined) return <ReadingNote reading={reading} />
  return (
    <>
      <ReadingNote reading={reading} />
      <ul class="plain" aria-label="Receivers">
        {policy.receivers.toSorted(byName).map((receiver) => (
          <Receiver key={receiver.name} {...{ changed, letters, policy, receiver }} />
        ))}
      </ul>
      <h2>Browsers</h2>
      <NotifyBrowser />
      {mayAdminister.value && <ReceiverForms policy={policy} changed={changed} />}
      {mayAdminister.value && download?.url === null && (
        <p class="lead">
          <Mark state="warning" word="no links" /> Messages have no link that shows or acknowledges their
          incident: save <code>{base}</code> as the public address in <i>Settings</i>
        </p>
      )}
      <p class="lead">
        Where no route matches, every receiver is notified.{" "}
        <a href={linkTo("policy")}>Add routes to the policy</a> to choose what goes to whom;{" "}
        <a href={`${base}console/notifications.md`}>Notifications</a> describes each service.
      </p>
    </>
  )
}

export const Receivers = () => <ReceiverTable reading={useRead<PolicyInForce>("ops/v1/policy")} />
