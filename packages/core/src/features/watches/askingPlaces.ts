import { Duration, Effect, type Redacted, Result, Struct } from "effect"
import { durationText } from "@tocsin/contract/formats/durationMillis"
import type { AgentId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { AskedWatch } from "@tocsin/contract/watches/Watches"
import { secretNames, withoutSecrets } from "@tocsin/contract/watches/watchSecrets"
import { recognise } from "../../heart/admission/agentKeys.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { blocked, notAccepted, tooMany, unlessOperatorToken } from "../../heart/usecases/ingestReplies.ts"
import { BUCKETS_KEPT } from "../../heart/usecases/takingHeartbeats.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { TokenBuckets } from "../../kernel/engine/limits/TokenBuckets.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { SecretCipher } from "../../kernel/ports/SecretCipher.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { WatchProbes } from "../../kernel/ports/WatchProbes.ts"
import { commandOf, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { openedProbe, policySecrets } from "./openedProbe.ts"
import { namesOf } from "./watchHeaders.ts"
import { isPlaced } from "./watchPlaces.ts"
import { ALL_WATCHES, isPaused, type WatchRecord } from "./WatchRecord.ts"

/** Notes that an agent asks what it is to probe, at most this often. */
const NOTED_EVERY = Duration.seconds(10)

/** Notes that an agent asks; one that is not accepted is refused. */
const askPlace = commandOf(function* (
  unit,
  asking: { readonly agent_id: AgentId; readonly key_hash: KeyHash },
) {
  const { standing } = yield* recognise(unit, asking)
  if (standing === "blocked") return "agent_blocked"
  if (standing !== "accepted") return "agent_not_accepted"
  const { agent_id } = asking
  const before = yield* loadRow(unit, "place", agent_id)
  if (before === undefined || !Instant.isRecent(before.asked_at, NOTED_EVERY, unit.now))
    unit.of("place").put({ agent_id, leaving: {}, ...before, asked_at: unit.now })
  return "asked"
})

/** The watches that agents are to probe as places (docs/rules.md#places). */
export const askingPlaces = Effect.gen(function* () {
  const storage = yield* Storage
  const { transact } = yield* Commits
  const { identify, sha256 } = yield* Hashing
  const policy = yield* PolicyInForce
  const cipher = yield* SecretCipher
  // A process without probes has no secrets of its policy.
  const probes = (yield* WatchProbes) ?? { open: () => Result.fail("") }
  const limits = new TokenBuckets((yield* RuleSettings).heartbeatRate, BUCKETS_KEPT)
  const answer = unlessOperatorToken(transact)

  const asked = (watch: WatchRecord, withValues: boolean) => {
    const { every_millis, headers, name, origin, probe } = watch
    const isOfPolicy = origin === "policy"
    const names = isOfPolicy
      ? secretNames(policySecrets(policy.current().document, name) ?? {})
      : namesOf(watch)
    const opened = isOfPolicy || withValues ? openedProbe({ cipher, policy }, probes, watch) : undefined
    const values = Result.getOrElse(opened ?? Result.fail(""), () => withoutSecrets(probe))
    const item: AskedWatch = {
      name,
      every: durationText(every_millis),
      confirm: Struct.pick(watch.confirm, ["bad", "good"]),
      ...(withValues ? values : withoutSecrets(probe)),
      ...(names.length > 0 && { secrets: names }),
    }
    // Encrypted secrets change with each one that is stored.
    return { item, version: [item, isOfPolicy ? values : probe, headers?.ciphertext] }
  }

  return {
    /** The watches of an agent, with a tag that changes with them and with their secrets. Limited like heartbeats. */
    askedBy: Effect.fn("Watches.askedBy")(function* (
      presented: Redacted.Redacted,
      { agent_id, withValues }: { readonly agent_id: AgentId; readonly withValues: boolean },
    ) {
      const { key_hash } = identify(presented)
      const now = yield* Instant.now
      const permission = limits.take(key_hash, now)
      if (!permission.allowed) return yield* tooMany.watches(permission.retryAfterSeconds)
      const outcome = yield* transact(askPlace({ agent_id, key_hash }))
      if (outcome !== "asked")
        return yield* outcome === "agent_blocked"
          ? blocked
          : answer(notAccepted, { outcome, presented, key_hash })
      const found: Array<ReturnType<typeof asked>> = []
      yield* eachPage(storage, ALL_WATCHES, (rows) => {
        for (const watch of rows)
          if (isPlaced(watch) && watch.places.from.includes(agent_id) && !isPaused(watch, now))
            found.push(asked(watch, withValues))
      })
      // With the hash of the key, nobody tries out secrets by the tag.
      const tag = sha256(JSON.stringify([key_hash, found.map(({ version }) => version)]))
      return { items: found.map(({ item }) => item), tag }
    }),
  }
})
