import { type Signal, useSignal } from "@preact/signals"
import type { AgentDownload, HeldOutboxItem, PolicyInForce } from "@tocsin/client"
import { asFailure } from "../../api/ApiFailure.ts"
import type { Query } from "../../api/request.ts"
import { naturally } from "../../state/names.ts"
import { countText } from "../../format/times.ts"
import { faultOf } from "../../state/health.ts"
import { MOST } from "../../state/lists.ts"
import type { Answered } from "../../state/Pages.ts"
import { NotifyBrowser } from "../push/NotifyBrowser.tsx"
import { MailServer } from "./MailServer.tsx"
import { deleteReceiver, entriesOf, TESTING, testReceiver } from "./receiverActions.ts"
import { typeNameOf } from "./receiverForms.ts"
import { linkTo } from "../../state/Route.ts"
import { base } from "../../state/base.ts"
import { call, mayAdminister, mayRespond } from "../../state/session.ts"
import { ActionButton, QuietButton } from "../../view/forms.tsx"
import { Mark, ReadingNote, TimeAfter } from "../../view/states.tsx"
import { type Reading, useRead, useResource } from "../../view/usePages.ts"
import { ReceiverForms } from "./ReceiverForm.tsx"

/** Notifications that have not arrived, by the tab of the outbox that lists them. */
const LETTERS = [
  ["pending", "waiting"],
  ["retry", "to be tried again"],
  ["failed", "failed"],
] as const

type Letters = ReadonlyArray<readonly [tab: string, words: string, items: ReadonlyArray<HeldOutboxItem>]>

interface Sendings {
  readonly letters: Letters
  /** When a notification last arrived, as far as the newest of those that were sent show. */
  readonly arrived: ReadonlyMap<string, string>
}

const readOutbox = async (query: Query) =>
  (await call<Answered<HeldOutboxItem>>("GET", "ops/v1/outbox", { query: { limit: MOST, ...query } })).items

const readSendings = async (): Promise<Sendings> => {
  const sent = await readOutbox({ state: "sent", sort: "updated_at" })
  const letters = await Promise.all(
    LETTERS.map(async ([state, words]) => [state, words, await readOutbox({ state })] as const),
  )
  const arrived = new Map(
    sent.toReversed().flatMap(({ receiver, updated_at: at }) => (at === undefined ? [] : [[receiver, at]])),
  )
  return { letters, arrived }
}

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
  /** Undefined until they are read. */
  readonly sendings: Sendings | undefined
  /** The name of the one that the form changes. */
  readonly changed: Signal<string | undefined>
  /** The outcomes of tests of this page, by the names of receivers. */
  readonly tested: Signal<Readonly<Record<string, string>>>
}

const test = async (name: string, tested: ReceiverProps["tested"]) => {
  const show = (text: string) => (tested.value = { ...tested.value, [name]: text })
  show(TESTING)
  const text = await testReceiver(name).catch((error: unknown) => {
    show("")
    throw error
  })
  show(text)
  return { text: `${name}: ${text}` }
}

/** When a notification last arrived, and a test. */
const Arrived = ({
  name,
  sendings,
  tested_at,
}: Pick<ReceiverProps, "sendings"> & ReceiverProps["receiver"]) => {
  const at = sendings?.arrived.get(name)
  return (
    <small>
      {at === undefined ? (
        sendings !== undefined && "nothing arrived lately"
      ) : (
        <TimeAfter text="arrived " at={at} />
      )}
      {tested_at === undefined ? " · never tested" : <TimeAfter text=" · tested " at={tested_at} />}
    </small>
  )
}

const Receiver = ({ changed, policy, receiver, sendings, tested }: ReceiverProps) => {
  const { hint, name, notifier, report } = receiver
  const fault = faultOf(policy, name)
  const entry = entriesOf(policy)[name]
  const [state, word] =
    fault !== undefined
      ? ["critical", "unusable"]
      : entry?.["shadow"] === true
        ? ["past", "shadow"]
        : ["ok", "usable"]
  return (
    <li class="row receiver">
      <b>{name}</b>
      <Mark state={state} word={word} />
      <span class="subject">
        <span>
          {entry === undefined ? `${notifier}, by the server's settings` : typeNameOf(entry)}
          {hint !== undefined && ` · ${hint}`}
        </span>
        <Arrived {...receiver} sendings={sendings} />
        {fault !== undefined && <span class="failure">no server can use it: {fault}</span>}
        {report?.last_error && (
          <span class="failure">
            report of {report.month}
            {report.state === "waiting" && ", tried again"}: {report.last_error}
          </span>
        )}
        {sendings !== undefined && <LettersOf letters={sendings.letters} name={name} />}
        {tested.value[name] && <b role="status">{tested.value[name]}</b>}
      </span>
      <span class="actions">
        {mayRespond.value && (
          <ActionButton describes={`Send a test message to ${name}`} does={() => test(name, tested)}>
            Test
          </ActionButton>
        )}
        {mayAdminister.value && entry !== undefined && (
          <QuietButton describes={`Edit ${name}`} does={() => (changed.value = name)}>
            Edit
          </QuietButton>
        )}
        {mayAdminister.value && entry !== undefined && policy.fixed === undefined && (
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
        )}
      </span>
    </li>
  )
}

/** Sends a test to each receiver, one after another, after a question that names them. */
const TestAll = ({ policy, tested }: Pick<ReceiverProps, "policy" | "tested">) => {
  const names = policy.receivers.map(({ name }) => name).toSorted()
  const testEach = async () => {
    let failed = 0
    for (const name of names) {
      const { text } = await test(name, tested).catch((cause: unknown) => {
        tested.value = { ...tested.value, [name]: asFailure(cause).message }
        return { text: "" }
      })
      if (!text.includes("the test was delivered")) failed += 1
    }
    return {
      text: `Tested ${countText(names.length, "receiver")}${failed === 0 ? "" : `, ${failed} did not take it`}`,
    }
  }
  return (
    <p class="actions after">
      <ActionButton
        does={testEach}
        confirms={[`Send a test message to each of these: ${names.join(", ")}?`, "Send the tests"]}
      >
        Test all
      </ActionButton>
    </p>
  )
}

export const ReceiverTable = ({ reading }: { readonly reading: Reading<PolicyInForce> }) => {
  const sendings = useResource("letters of receivers", ["outbox"], readSendings, true).value
  const tested = useSignal<Readonly<Record<string, string>>>({})
  const changed = useSignal<string | undefined>(undefined)
  const { value: policy } = reading
  const { value: download } = useRead<AgentDownload>("ops/v1/agent_download")
  if (policy === undefined) return <ReadingNote reading={reading} />
  return (
    <>
      <ReadingNote reading={reading} />
      <ul class="plain" aria-label="Receivers">
        {policy.receivers.toSorted(naturally(({ name }) => name)).map((receiver) => (
          <Receiver key={receiver.name} {...{ changed, policy, receiver, sendings, tested }} />
        ))}
      </ul>
      {mayRespond.value && policy.receivers.length > 1 && <TestAll policy={policy} tested={tested} />}
      {mayAdminister.value && policy.fixed === undefined && <MailServer policy={policy} />}
      <h2>Browsers</h2>
      <NotifyBrowser />
      {mayAdminister.value && <ReceiverForms policy={policy} changed={changed} />}
      {mayAdminister.value && download?.url === null && (
        <p class="lead">
          <Mark state="warning" word="no links" /> Messages have no link to their incident: save{" "}
          <code>{base}</code> as the public address in{" "}
          <button type="button" class="quiet" popovertarget="settings">
            Settings
          </button>
        </p>
      )}
      <p class="lead">
        Where no <a href={linkTo("policy")}>route</a> matches, every receiver is notified.{" "}
        <a href={`${base}console/notifications.md`}>Notifications</a> describes each service.
      </p>
    </>
  )
}

export const Receivers = () => <ReceiverTable reading={useRead<PolicyInForce>("ops/v1/policy")} />
