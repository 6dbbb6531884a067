import type { Effect } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { OpenedSecrets } from "../../kernel/ports/PolicySource.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"

/** The secrets that the receivers of a policy name, each with its receiver. */
export const namedSecrets = ({ receivers = {} }: Pick<PolicyDocument, "receivers">) =>
  new Map(
    Object.entries(receivers).flatMap(([receiver, definition]) => {
      const name = storedNameOf(definition)
      return name === undefined ? [] : [[name, receiver] as const]
    }),
  )

/** Reads the secrets that a policy names, each with the mark of its encryption. They are decrypted when they are opened. */
export type ReadSecrets = (
  document: PolicyDocument,
) => Effect.Effect<
  { readonly marks: ReadonlyMap<NotifierName, string>; readonly open: () => OpenedSecrets },
  StorageError
>
