import type { NotifierTest, PolicyInForce } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { changePolicy, firingsText } from "./policyActions.ts"
import type { Entry } from "./receiverForms.ts"
import { call } from "./session.ts"

/** The receivers that the policy defines. */
export const entriesOf = ({ policy }: PolicyInForce): Readonly<Record<string, Entry>> =>
  policy.receivers ?? {}

const pathOf = (name: string): string => `ops/v1/receivers/${segment(name)}`

/** More than the 15 s for which the service waits for the receiver. */
const TEST_MILLIS = 20_000

const sendTest = async (path: string, body?: unknown): Promise<string> => {
  const { error, outcome } = await call<NotifierTest>("POST", path, { body, timeoutMillis: TEST_MILLIS })
  return `the test was ${outcome}${error === null ? "" : `, ${error}`}`
}

/** Sends a test message to a receiver in force, and says what came of it. */
export const testReceiver = (name: string): Promise<string> =>
  sendTest(`ops/v1/notifiers/${segment(name)}/test`)

/** A receiver with its secrets as a form has them. */
interface WrittenReceiver {
  readonly name: string
  readonly body: { readonly receiver: Entry; readonly values?: Readonly<Record<string, string>> }
}

/** Sends a test message to a receiver that is not saved. */
export const tryReceiver = ({ body, name }: WrittenReceiver): Promise<string> =>
  sendTest(`${pathOf(name)}/try`, body)

export const saveReceiver = async ({ hash }: PolicyInForce, { body, name }: WrittenReceiver) => {
  const saved = await changePolicy("PUT", pathOf(name), { body, ifMatch: hash })
  return saved && { text: `Saved ${name}${firingsText(saved.firings, "the policy")}` }
}

export const deleteReceiver = async ({ hash }: PolicyInForce, name: string) => {
  const left = await changePolicy("DELETE", pathOf(name), { ifMatch: hash })
  return left && { text: `Deleted ${name}${firingsText(left.firings, "the policy")}` }
}
