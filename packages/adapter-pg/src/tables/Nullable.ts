/** A row as PostgreSQL gives it back, where these columns may be NULL. */
export type Nullable<Row, Columns extends keyof Row> = Omit<Row, Columns> & {
  readonly [Column in Columns]: Exclude<Row[Column], undefined> | null
}
