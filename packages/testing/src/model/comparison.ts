import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { KeyFingerprint } from "@tocsin/contract/formats/Identifiers"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect, Layer } from "effect"
import { assertSame } from "../assertSame.ts"
import { keyHashOf } from "../records.ts"
import type { Replica } from "../Replica.ts"
import { type Deed, keyName } from "./commandOf.ts"
import { AGENTS } from "./ModelNames.ts"

/** The settings of scenarios. */
export const rules: Partial<RuleOptions> = {
  notifiers: ["debug", "alert_router"],
  maxPendingAgents: 3,
  acceptFingerprints: new Set(
    AGENTS.map((agent) => KeyFingerprint.make(keyHashOf(keyName(agent, "listed")).slice(0, 16))),
  ),
}

/** The storage that others are compared with. */
export const memory = { name: "memory", place: Layer.empty, client: MemoryStorage.layer }

/** A storage's outcome of a deed. */
export const outcomeOf = (deed: Deed, replica: Replica): Effect.Effect<unknown> =>
  Effect.match(deed(replica), {
    onSuccess: (reply): unknown => ({ reply }),
    onFailure: ({ _tag, reason }) => ({ refused: _tag, reason }),
  })

/** Without the ends of leases: those are by the storage's own clock. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === "leased_until" && part !== undefined ? "leased" : comparable(part),
    ]),
  )
}

/** Compares the replies of two storages. */
export const assertAlike = (found: unknown, expected: unknown, message: string): void =>
  assertSame(comparable(found), comparable(expected), message)
