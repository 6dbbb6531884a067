import { numberSchema } from "@tocsin/core/model/numberTables"
import type { Migration } from "@tocsin/core/ports/Migration"

export const migration: Migration = {
  id: 10,
  name: "numbers",
  compatibility: "compatible",
  sql: numberSchema
    .replace("bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT")
    .replaceAll(/\b(?:text|uuid)\b/g, "TEXT")
    .replaceAll(/\b(?:bigint|integer)\b/g, "INTEGER")
    .replaceAll("bytea", "BLOB")
    .replaceAll(/^\);$/gm, ") STRICT;"),
}
