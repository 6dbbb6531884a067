import { numberSchema } from "@tocsin/core/model/numberTables"
import type { Migration } from "@tocsin/core/ports/Migration"

export const migration: Migration = {
  id: 9,
  name: "numbers",
  compatibility: "compatible",
  sql: numberSchema.replaceAll(/^( {2}\w+ text)\b/gm, '$1 COLLATE "C"'),
}
