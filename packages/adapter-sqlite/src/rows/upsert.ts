/** An INSERT of all `columns` that overwrites the row of the same key. Made of constants: the names of a table's columns. */
export const upsert = (table: string, columns: ReadonlyArray<string>, key: ReadonlyArray<string>): string => {
  const rest = columns.filter((column) => !key.includes(column))
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
    ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${rest.map((column) => `${column} = excluded.${column}`).join(", ")}`
}
