import type { PostingOptions } from "@tocsin/adapter-notify/http/HttpPost"
import { storedPolicySource } from "@tocsin/adapter-notify/storedPolicySource"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { Context, Effect, Layer } from "effect"
import { type NotifierOption, notifiersLayer } from "../notifiers/notifiers.ts"
import { patchOrRefusal, type PolicyReading, readHere } from "./policyReading.ts"

/** How a program's monitor follows the policy that its storage keeps. */
export interface OwnPolicyOptions {
  readonly notifiers: ReadonlyArray<NotifierOption>
  readonly outside: PolicyNotifiers
  readonly posting: PostingOptions
  readonly folder: string | undefined
}

const read = Effect.fnUntraced(function* (reading: PolicyReading) {
  const { document, issues, text = reading.text } = yield* readHere(reading)
  return document === undefined ? yield* Effect.fail(issues) : { document, outdated: issues, text }
})

/** The stored policy, for a program with its own notifiers. */
export const ownPolicySource = ({ folder, notifiers, outside, posting }: OwnPolicyOptions) =>
  storedPolicySource({
    readApplied: (text, elsewhere, change) =>
      read({
        text,
        given: { ...outside, elsewhere },
        as: "applied",
        isFolderMissing: folder === undefined,
        ...(change && { change }),
      }),
    readPatched: (text, patch, elsewhere) =>
      Effect.flatMap(
        readHere({
          text,
          patch,
          given: { ...outside, elsewhere },
          as: "applied",
          isFolderMissing: folder === undefined,
        }),
        patchOrRefusal,
      ),
    readStored: (text) => read({ text, given: outside, as: "stored", isFolderMissing: false }),
    places: () => ({ posting, folder }),
    outside: () => outside,
    withOutsiders: Effect.fnUntraced(function* (made) {
      if (made !== undefined && !outside.keepsNotifiers) return made
      // Their problems were found in the options.
      const own = yield* Effect.orDie(Layer.build(notifiersLayer(notifiers, posting)))
      return new Map([...Context.get(own, Notifiers), ...(made ?? [])])
    }),
    sends: true,
  })
