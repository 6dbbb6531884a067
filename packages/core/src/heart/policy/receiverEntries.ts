import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import type { Policy } from "./compilePolicy.ts"

/** How each receiver is reached: its entry in the policy, and the mark of its stored secrets. */
export const entriesOf = ({
  browserMarks,
  receivers,
  secretMarks,
}: Policy): ReadonlyMap<NotifierName, string> =>
  new Map(
    Array.from(receivers, ([name, { definition }]) => {
      const stored = definition && storedNameOf(definition)
      return [name, JSON.stringify([definition, stored && secretMarks?.get(stored), browserMarks?.get(name)])]
    }),
  )

/** The receivers that other replicas reached in other ways alone. One of an earlier version does not say how. */
export const changedEntries = (
  entries: ReadonlyMap<NotifierName, string>,
  others: ReadonlyArray<ReplicaRecord>,
): ReadonlyArray<NotifierName> =>
  Array.from(entries).flatMap(([receiver, entry]) => {
    const known = others.flatMap(({ receivers }) =>
      receivers.flatMap((listing) => (listing.name === receiver ? (listing.entry ?? []) : [])),
    )
    return known.length > 0 && !known.includes(entry) ? [receiver] : []
  })
