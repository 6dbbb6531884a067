import pg from "pg"

type Parse = (text: string) => unknown

/** Types by their oids (pg_type.dat), which never change once assigned. Not `as const`: the driver declares fewer. */
const oid = {
  bytea: 17,
  int8: 20,
  byteaArray: 1001,
  textArray: 1009,
  int8Array: 1016,
  date: 1082,
  timestamp: 1114,
  timestampArray: 1115,
  dateArray: 1182,
  timestamptz: 1184,
  timestamptzArray: 1185,
  numericArray: 1231,
  xid8: 5069,
}

const parseBytes = pg.types.getTypeParser(oid.bytea) as Parse

/** Copied out of the driver's Buffer, which may share its memory with others. */
const toBytes: Parse = (text) => Uint8Array.from(parseBytes(text) as Uint8Array)

const asText: Parse = (text) => text

type Elements = ReadonlyArray<string | null | Elements>

const parseElements = pg.types.getTypeParser(oid.textArray) as (text: string) => Elements

const mapElements = (elements: Elements, parse: Parse): ReadonlyArray<unknown> =>
  elements.map((element) =>
    element === null ? null : typeof element === "string" ? parse(element) : mapElements(element, parse),
  )

const arrayOf =
  (parse: Parse): Parse =>
  (text) =>
    mapElements(parseElements(text), parse)

const parsers: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [oid.int8, BigInt],
  [oid.int8Array, arrayOf(BigInt)],
  [oid.xid8, BigInt],
  [oid.bytea, toBytes],
  [oid.byteaArray, arrayOf(toBytes)],
  // A JavaScript Date would cut microseconds, and read `date` in the time zone of this machine.
  [oid.date, asText],
  [oid.dateArray, arrayOf(asText)],
  [oid.timestamp, asText],
  [oid.timestampArray, arrayOf(asText)],
  [oid.timestamptz, asText],
  [oid.timestamptzArray, arrayOf(asText)],
  // As a single numeric: as text, since a double would round it.
  [oid.numericArray, arrayOf(asText)],
])

/**
 * How values come out of PostgreSQL: int8 and xid8 as bigint, bytea as Uint8Array, json and jsonb parsed, numeric and
 * dates as text, arrays as arrays of these, NULL as null, everything else as the driver does (int4 and float8 as
 * number, boolean as boolean, the rest as text).
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: (id, format) =>
    (format === "binary" ? undefined : parsers.get(id)) ?? pg.types.getTypeParser(id, format),
}
