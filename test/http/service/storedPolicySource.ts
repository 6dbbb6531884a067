import { openEditedText } from "@tocsin/adapter-http/features/receivers/editReceiver"
import { patchPolicyText } from "@tocsin/adapter-http/policy/patchPolicyText"
import { readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type Notifier, refusedHere } from "@tocsin/core/heart/notifications/Notifiers"
import type { PolicySource } from "@tocsin/core/heart/usecases/PolicySource"
import type { OpenedSecrets } from "@tocsin/core/heart/policy/namedSecrets"
import { Effect, Result } from "effect"

/** Receivers whose secrets, which have their names, are missing. */
const lackingSecrets = (stored: OpenedSecrets): ReadonlyMap<NotifierName, string> =>
  new Map(
    Array.from(stored).flatMap(([name, opened]) =>
      Result.isFailure(opened) ? [[name, opened.failure]] : [],
    ),
  )

/** Policies are stored, and all their receivers are among the notifiers, which are those of the settings too. */
export const storedPolicySource = (
  notifiers: ReadonlyMap<NotifierName, Notifier>,
): Extract<PolicySource, { readonly source: "stored" }> => {
  const given = { notifiers: Array.from(notifiers.keys()), keepsNotifiers: false }
  const read = (text: string) => Effect.fromResult(readPolicyText(text, given))
  return {
    source: "stored",
    read,
    edit: (stored, change) =>
      Effect.fromResult(
        Result.flatMap(openEditedText(stored, change, given), ({ accept, text }) =>
          Result.map(accept([]), (document) => ({ document, text })),
        ),
      ),
    patch: (stored, patch) =>
      Effect.fromResult(
        Result.map(patchPolicyText(stored, patch), (text) => {
          if (text === "") return { text, document: {}, issues: [] }
          return Result.match(readPolicyText(text, given), {
            onSuccess: (document) => ({ text, document, issues: [] }),
            onFailure: (issues) => ({ text, issues }),
          })
        }),
      ),
    follow: (text) => Effect.map(read(text), (document) => ({ document, outdated: [] })),
    notifiers: (_, stored) => Effect.succeed({ made: notifiers, unavailable: lackingSecrets(stored) }),
    test: (document) =>
      Object.keys(document.receivers ?? {}).reduce(
        (found, name) => notifiers.get(name)?.test ?? found,
        Effect.succeed(refusedHere("it is no notifier")),
      ),
    unavailable: (_, stored) => Effect.succeed(lackingSecrets(stored)),
  }
}
