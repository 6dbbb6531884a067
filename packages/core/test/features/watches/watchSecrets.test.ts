import { assert, it } from "@effect/vitest"
import { Commits } from "../../../src/kernel/engine/commits/Commits.ts"
import { Storage } from "../../../src/kernel/ports/Storage.ts"
import { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { watchSecrets } from "../../../src/features/watches/watchSecrets.ts"
import type { ReplicaRecord } from "../../../src/heart/model/ReplicaRecord.ts"
import { ReplicaVersion } from "../../../src/heart/usecases/Replicas.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Layer, Redacted } from "effect"
import { orderColumns } from "../../../src/lists/ListDefinitions.ts"

const replicaOf = (version: string, seen_at: Instant.Instant): ReplicaRecord => ({
  id: version,
  version,
  policy_hash: "",
  receivers: [],
  probes: true,
  agent_sha256: undefined,
  known_names: undefined,
  started_at: seen_at,
  seen_at,
  ended_at: undefined,
})

const cipher: SecretCipher = {
  keyIds: ["first"],
  encrypt: () => "ciphertext",
  decrypt: () => ({ text: Redacted.make("{}"), isFormer: false }),
}

/** Encrypts the header fields of no watch, beside a server of a version. */
const sealBeside = Effect.fnUntraced(function* (version: string) {
  const replicas = Effect.succeed([replicaOf(version, yield* Instant.now)])
  const page = () => Effect.succeed([])
  const sealing = Effect.flatMap(watchSecrets, ({ seal }) => Effect.result(seal))
  return yield* sealing.pipe(
    Effect.provide(
      Layer.mergeAll(Layer.mock(Storage, { orderOf: orderColumns, page, replicas }), Layer.mock(Commits, {})),
    ),
    Effect.provideService(SecretCipher, cipher),
    Effect.provideService(ReplicaVersion, "0.4.0"),
  )
})

it.effect("header fields wait for the end of a server of another version, which may still store some", () =>
  Effect.gen(function* () {
    assert.strictEqual((yield* sealBeside("0.3.0"))._tag, "Failure")
    assert.strictEqual((yield* sealBeside("0.4.0"))._tag, "Success")
  }),
)
