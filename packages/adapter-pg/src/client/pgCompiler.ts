import { Statement } from "effect/sql"

const placeholder = (index: number, value: unknown): string => {
  // The helpers for INSERT and UPDATE turn undefined into NULL after this call, so this is the place to see it.
  if (value === undefined) {
    throw new TypeError(`SQL parameter $${index} is undefined: pass null where NULL is meant`)
  }
  return `$${index}`
}

/** Renders `sql` templates for PostgreSQL: `$1` placeholders, names in double quotes. `undefined` is a defect. */
export const makePgCompiler = (): Statement.Compiler =>
  Statement.makeCompiler({
    dialect: "pg",
    placeholder,
    onIdentifier: Statement.defaultEscape('"'),
    onRecordUpdate: (placeholders, alias, columns, values, returning) => {
      const source = `(VALUES ${placeholders}) AS ${alias}${columns}`
      return returning === undefined
        ? [source, values.flat()]
        : [`${source} RETURNING ${returning[0]}`, [...values.flat(), ...returning[1]]]
    },
    onCustom: (segment) => {
      throw new TypeError(`The PostgreSQL client knows no SQL segment of kind ${segment.kind}`)
    },
  })
