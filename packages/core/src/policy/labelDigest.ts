import { Effect } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { ALL_AGENTS, ALL_CHECKS, eachPage } from "../engine/lists/readPage.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"

/** Agents change hostnames and labels unnoticed: they are read this often, by the clock, in microseconds. */
const READ_EVERY = 300_000_000n

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
  let last: { readonly digest: string; readonly turn: bigint } | undefined
  return Effect.gen(function* () {
    // So a round in which nothing has changed never moves the next reading.
    const turn = (yield* Instant.now) / READ_EVERY
    if (last?.turn !== turn) last = { digest: yield* read, turn }
    return last.digest
  })
}
