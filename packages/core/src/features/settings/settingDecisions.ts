import type { SettingName, SettingValue } from "@tocsin/contract/settings/Settings"
import { recordAudit } from "../../heart/audit/recordAudit.ts"
import type { Signature } from "../../heart/audit/Signature.ts"
import { commandOf, type Decision } from "../../kernel/unitOfWork/Decision.ts"
import { loadRow } from "../../kernel/unitOfWork/load.ts"

/** Stores a setting. An equal value changes nothing. */
export const putSetting = commandOf(function* (
  unit,
  name: SettingName,
  given: SettingValue,
  by: Signature,
): Decision<void> {
  const value = JSON.stringify(given)
  if ((yield* loadRow(unit, "setting", name))?.value === value) return
  unit.of("setting").put({ name, value, changed_by: by.actor, changed_at: unit.now })
  recordAudit(unit, by, "setting.changed", [name], { value: String(given) })
})

/** Removes a setting, so that its default holds again. Returns how many rows there were. */
export const removeSetting = commandOf(function* (unit, name: SettingName, by: Signature): Decision<number> {
  const row = yield* loadRow(unit, "setting", name)
  if (row === undefined) return 0
  unit.of("setting").delete(name)
  recordAudit(unit, by, "setting.removed", [name], { value: String(JSON.parse(row.value)) })
  return 1
})
