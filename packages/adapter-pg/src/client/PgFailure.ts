import { Schema } from "effect"

/**
 * What PostgreSQL, or the way to it, said: the cause inside every `SqlError` of this client.
 *
 * It is rebuilt from a few named fields of the driver's error. The rest stays behind, since the driver hangs clients
 * and addresses on its errors, and PostgreSQL repeats whole rows in `detail` and `where`.
 */
export class PgFailure extends Schema.TaggedError<PgFailure>()("PgFailure", {
  message: Schema.String,
  /** The SQLSTATE when PostgreSQL answered (`53100`: disk full), otherwise the code of Node.js (`ECONNREFUSED`). */
  code: Schema.optionalKey(Schema.String),
  hint: Schema.optionalKey(Schema.String),
  schema: Schema.optionalKey(Schema.String),
  table: Schema.optionalKey(Schema.String),
  column: Schema.optionalKey(Schema.String),
  constraint: Schema.optionalKey(Schema.String),
  routine: Schema.optionalKey(Schema.String),
}) {}
