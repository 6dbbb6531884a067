import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { ALL_AGENTS, ALL_CHECKS, eachPage } from "../engine/lists/readPage.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"

/** Agents change hostnames and labels unnoticed: they are read this often. */
const READ_EVERY = Duration.minutes(5)

/** A digest of the hostnames and labels that matchers compare, at most five minutes old. */
export type LabelDigest = Effect.Effect<string, StorageError>

export const makeLabelDigest = (
  storage: Storage["Service"],
  sha256: (text: string) => string,
): LabelDigest => {
  const read = Effect.gen(function* () {
    let digest = ""
    const add = (facts: ReadonlyArray<unknown>) => {
      if (facts.length > 0) digest = sha256(`${digest}${JSON.stringify(facts)}`)
    }
    yield* eachPage(storage, ALL_AGENTS, (agents) =>
      add(agents.map(({ agent_id, hostname, labels }) => [agent_id, hostname, labels])),
    )
    yield* eachPage(storage, ALL_CHECKS, (checks) =>
      Effect.map(storage.expectations(checks), (expectations) => {
        const labelled = expectations.filter(({ labels }) => labels !== undefined)
        // They come in no order.
        add(
          labelled
            .map(({ agent_id, check_id, labels }) => JSON.stringify([agent_id, check_id, labels]))
            .toSorted(),
        )
      }),
    )
    return digest
  })
  let last: { readonly digest: string; readonly at: Instant.Instant } | undefined
  return Effect.gen(function* () {
    const at = yield* Instant.now
    if (last === undefined || !Instant.isRecent(last.at, READ_EVERY, at)) last = { digest: yield* read, at }
    return last.digest
  })
}
