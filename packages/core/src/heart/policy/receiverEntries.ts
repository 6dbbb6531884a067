import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Policy } from "./compilePolicy.ts"

/** How each receiver is reached: its entry in the policy, and the marks of its secrets, stored or in files. */
export const entriesOf = (
  { browserMarks, receivers, secretMarks }: Policy,
  notifiers: ReadonlyMap<NotifierName, { readonly mark?: string }>,
): ReadonlyMap<NotifierName, string> =>
  new Map(
    Array.from(receivers, ([name, { definition }]) => {
      const stored = definition && storedNameOf(definition)
      const marks = [stored && secretMarks?.get(stored), browserMarks?.get(name), notifiers.get(name)?.mark]
      return [name, JSON.stringify([definition, ...marks])]
    }),
  )
