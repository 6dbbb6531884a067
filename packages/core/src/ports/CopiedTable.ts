/** How a column's values are carried between storages: as text, bigint, boolean, or JSON and UUID as their texts. */
export interface CopiedColumn {
  readonly name: string
  readonly type: "text" | "integer" | "boolean" | "json" | "uuid"
}

/** A table as all storages have it, without what each derives itself. */
export interface CopiedTable {
  readonly name: string
  readonly columns: ReadonlyArray<CopiedColumn>
  /** What makes its order total. */
  readonly key: ReadonlyArray<string>
}

/** A row, its values in the order of the columns. */
export type CopiedRow = ReadonlyArray<string | bigint | boolean | null>
