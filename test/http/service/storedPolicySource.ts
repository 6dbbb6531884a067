import { openEditedText } from "@tocsin/adapter-http/policy/editReceiver"
import { readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import type { NotifierName } from "@tocsin/contract/Status"
import { type Notifier, refusedHere } from "@tocsin/core/ports/Notifiers"
import type { PolicySource } from "@tocsin/core/ports/PolicySource"
import { Effect, Result } from "effect"

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
    follow: (text) => Effect.map(read(text), (document) => ({ document, outdated: [] })),
    notifiers: () => Effect.succeed({ made: notifiers, unavailable: new Map() }),
    test: (document) =>
      Object.keys(document.receivers ?? {}).reduce(
        (found, name) => notifiers.get(name)?.test ?? found,
        Effect.succeed(refusedHere("it is no notifier")),
      ),
    unavailable: () => Effect.succeed(new Map()),
  }
}
