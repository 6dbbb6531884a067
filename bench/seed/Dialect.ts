/**
 * Where the SQL of two storages differs, as far as seeding goes. All arguments are SQL expressions.
 */
export interface Dialect {
  /** A table `name` of one column `n`: the numbers from `from` up to, but without, `to`. */
  readonly series: (name: string, from: string | number, to: string | number) => string
  /** A number that is not negative as lower-case hexadecimal digits, `width` of them or more. */
  readonly hex: (number: string, width: number) => string
  /** A number in decimal digits, `width` of them or more. */
  readonly digits: (number: string, width: number) => string
  readonly uuid: (text: string) => string
  readonly json: (text: string) => string
  readonly boolean: (isTrue: boolean) => string
  /** The column that marks the newest history row of a check, if any, and its value. */
  readonly latest: { readonly column: string; readonly value: (isLatest: string) => string } | undefined
}

export const postgresDialect: Dialect = {
  series: (name, from, to) => `generate_series(${from}::bigint, ${to}::bigint - 1) AS ${name} (n)`,
  hex: (number, width) => `lpad(to_hex(${number}), ${width}, '0')`,
  digits: (number, width) => `lpad((${number})::text, ${width}, '0')`,
  uuid: (text) => `(${text})::uuid`,
  json: (text) => `(${text})::json`,
  boolean: (isTrue) => `${isTrue}`,
  latest: undefined,
}

export const sqliteDialect: Dialect = {
  series: (name, from, to) =>
    `(WITH RECURSIVE counted (n) AS (
       SELECT ${from} WHERE ${from} < ${to} UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < ${to}
     ) SELECT n FROM counted) AS ${name}`,
  hex: (number, width) => `printf('%0${width}x', ${number})`,
  digits: (number, width) => `printf('%0${width}d', ${number})`,
  uuid: (text) => `(${text})`,
  json: (text) => `(${text})`,
  boolean: (isTrue) => (isTrue ? "1" : "0"),
  latest: { column: "is_kept", value: (isLatest) => `(${isLatest})` },
}
