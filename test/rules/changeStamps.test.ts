import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { assert, describe, it } from "@effect/vitest"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { OverrideId } from "@tocsin/contract/onCall/Rotas"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import type { ChangeStampRecord } from "@tocsin/core/kernel/model/ChangeStampRecord"
import { createOverride, endOverride } from "@tocsin/core/features/onCall/overrideDecisions"
import { createSilence, editSilence, expireSilence } from "@tocsin/core/features/silences/silenceDecisions"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import { signedBy } from "@tocsin/testing/signedBy"
import { start, START_MILLIS } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

const RULES = { longestSilence: Duration.days(30) }
const SILENCE = SilenceId.make(uuidV7(0n, "silence"))
const OVERRIDE = OverrideId.make(uuidV7(0n, "override"))
const ROTA = NotifierName.make("primary")
const BOB = NotifierName.make("bob")
const LATER = Instant.plus(start, Duration.hours(2))

type Act = (by: Signature) => Command<unknown>

const silence = { id: SILENCE, matchers: [], comment: "c", for: Duration.hours(1) }
const override = { id: OVERRIDE, rota: ROTA, receivers: [BOB], note: undefined, to: LATER }
const edit: Act = (by) => editSilence(SILENCE, { ends_at: LATER }, RULES, by)
const expire: Act = (by) => expireSilence(SILENCE, by)
const end: Act = (by) => endOverride(ROTA, OVERRIDE, by)

/** The acts of people, in order, and whether each changes what firings may be held by, or who is on call. */
const ACTS: Readonly<
  Partial<
    Record<
      Exclude<ChangeStampRecord["name"], `tested ${string}`>,
      ReadonlyArray<readonly [what: string, act: Act, changes: boolean]>
    >
  >
> = {
  silences: [
    ["a silence is created", (by) => createSilence(silence, RULES, by), true],
    ["its end is edited", edit, true],
    ["its end is edited to the same", edit, false],
    ["it is expired", expire, true],
    ["it is expired again", expire, false],
    ["it is edited after its end", edit, false],
  ],
  overrides: [
    ["an override is created", (by) => createOverride(override, by), true],
    ["it is ended as that of another rota", (by) => endOverride(BOB, OVERRIDE, by), false],
    ["it is ended", end, true],
    ["it is ended again", end, false],
  ],
}

describe("the stamp that passes over incidents follow (docs/rules.md#evaluation)", () => {
  it.effect.each(Object.entries(ACTS))("of %s is another after each change, and only then", ([name, acts]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const tables = new MemoryTables()
      const storage = MemoryStorage.make(tables)
      for (const [what, act, changes] of acts) {
        const before = tables.keyed.change_stamp.get(name)?.stamp
        yield* transact(storage, act(signedBy("eva")))
        const after = tables.keyed.change_stamp.get(name)?.stamp
        assert.strictEqual(after !== before, changes, what)
        yield* TestClock.adjust("1 second")
      }
    }),
  )
})
