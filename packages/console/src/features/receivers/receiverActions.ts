import type { NotifierTest, PolicyInForce } from "@tocsin/client"
import { segment } from "../../api/request.ts"
import { type Entry as PolicyEntry, operationsOf } from "../../state/policyEntries.ts"
import { applyChange, changePolicy, firingsText } from "../../state/policyActions.ts"
import type { Entry } from "./receiverForms.ts"
import { call } from "../../state/session.ts"

export const entriesOf = ({ policy }: PolicyInForce): Readonly<Record<string, Entry>> =>
  policy.receivers ?? {}

const pathOf = (name: string): string => `ops/v1/receivers/${segment(name)}`

/** More than the 45 s for which the service waits for a mail server. */
const TEST_MILLIS = 50_000

const sendTest = (path: string, body?: unknown): Promise<NotifierTest> =>
  call<NotifierTest>("POST", path, { body, timeoutMillis: TEST_MILLIS })

/** While a test is on its way. */
export const TESTING = "Testing, for up to 45 s …"

export const testText = ({ error, outcome }: NotifierTest): string =>
  `the test was ${outcome}${error === null ? "" : `, ${error}`}`

/** Sends a test message to a receiver in force, and says what came of it. */
export const testReceiver = async (name: string): Promise<string> =>
  testText(await sendTest(`ops/v1/notifiers/${segment(name)}/test`))

/** A receiver with its secrets as a form has them. */
interface WrittenReceiver {
  readonly name: string
  readonly body: { readonly receiver: Entry; readonly values?: Readonly<Record<string, string>> }
}

/** Sends a test message to a receiver that is not saved. */
export const tryReceiver = ({ body, name }: WrittenReceiver): Promise<NotifierTest> =>
  sendTest(`${pathOf(name)}/try`, body)

/** A change of the policy, and what it did. */
const change = async (text: string, ...made: Parameters<typeof changePolicy>) => {
  const changed = await changePolicy(...made)
  return changed && { text: `${text}${firingsText(changed.firings, "the policy")}` }
}

/** Saves a receiver: new secrets with it, else the changes of its entry alone. */
export const saveReceiver = async (
  policy: PolicyInForce,
  { body, name }: WrittenReceiver,
  former?: PolicyEntry,
) => {
  const text = `Saved ${name}`
  if (former === undefined || body.values !== undefined)
    return change(text, "PUT", pathOf(name), { body, ifMatch: policy.hash })
  const operations = operationsOf(policy.policy, former.path, body.receiver, former)
  if (operations.length === 0) return { text }
  const changed = await applyChange(policy, operations)
  return changed && { text: `${text}${firingsText(changed.firings, "the policy")}` }
}

export const deleteReceiver = ({ hash }: PolicyInForce, name: string) =>
  change(`Deleted ${name}`, "DELETE", pathOf(name), { ifMatch: hash })
