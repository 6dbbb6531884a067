import type { Effect, Result } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { type SecretValues, storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { StorageError } from "../../kernel/ports/Storage.ts"

/** The secrets that a policy names, each with its receiver; its mail server counts as one. */
export const namedSecrets = ({ mail, receivers = {} }: Pick<PolicyDocument, "mail" | "receivers">) =>
  new Map(
    [...Object.entries(receivers), ...Object.entries(mail === undefined ? {} : { mail })].flatMap(
      ([receiver, definition]) => {
        const name = storedNameOf(definition)
        return name === undefined ? [] : [[name, receiver] as const]
      },
    ),
  )

/** The values of the secrets that a policy names by their names, or why a receiver cannot have them. */
export type OpenedSecrets = ReadonlyMap<NotifierName, Result.Result<SecretValues, string>>

/** Reads the secrets that a policy names, each with the mark of its encryption. They are decrypted when they are opened. */
export type ReadSecrets = (
  document: PolicyDocument,
) => Effect.Effect<
  { readonly marks: ReadonlyMap<NotifierName, string>; readonly open: () => OpenedSecrets },
  StorageError
>
