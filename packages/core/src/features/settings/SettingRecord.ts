import type { SettingName } from "@tocsin/contract/settings/Settings"
import { instant, keyedTable, text } from "../../kernel/model/TableShape.ts"

/** A setting that an admin has changed (docs/rules.md#stored-settings). */
export const setting = keyedTable({
  name: "setting",
  key: ["name"],
  locks: "rows",
  columns: {
    name: text<SettingName>(),
    /** JSON. */
    value: text(),
    changed_by: text(),
    changed_at: instant,
  },
})
