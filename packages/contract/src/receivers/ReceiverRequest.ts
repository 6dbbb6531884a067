import { Schema } from "effect"
import { closedStruct, named, optional } from "../formats/Fields.ts"
import { NotifierName } from "../formats/Status.ts"
import { StoredValues } from "./ReceiverSecrets.ts"

export const ReceiverPath = Schema.Struct({
  name: NotifierName.annotateKey({ description: "The name of the receiver in the policy." }),
})

export const ReceiverRequest = closedStruct({
  // A problem of the entry is one of the policy, with its path.
  receiver: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "Its whole entry, as a policy has it: a `Receiver`.",
  }),
  values: optional(
    StoredValues,
    "All its secrets, to store under the name that the entry has as `secrets`, or else the receiver's. Without them, the stored ones of that name stay.",
  ),
}).annotate(named("ReceiverRequest", "A receiver to define or to replace."))
