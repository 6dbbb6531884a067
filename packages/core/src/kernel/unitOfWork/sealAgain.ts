import type { KeyedName, KeyedRows, Keys } from "../../lists/StoredTables.ts"
import { commandOf, type Decision, loadRow } from "./Decision.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

/** A text as an encryption made it, and the key. */
interface Sealed {
  readonly ciphertext: string
  readonly key_id: string
}

type SealedName = { [N in KeyedName]: KeyedRows[N] extends Sealed ? N : never }[KeyedName]

/** Puts what another key encrypted in the place of the former ciphertext of a row, unless that has changed. */
export const sealAgain = commandOf(function* <N extends SealedName>(
  unit: UnitOfWork,
  name: N,
  key: Keys[N],
  former: Pick<Sealed, "ciphertext">,
  sealed: Sealed,
): Decision<void> {
  const row = yield* loadRow(unit, name, key)
  if (row?.ciphertext === former.ciphertext) unit.of(name).put({ ...row, ...sealed })
})
