import { CHECK_COLUMNS, OF_CHECK } from "../../../kernel/model/CheckRef.ts"
import {
  boolean,
  instant,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../../kernel/model/TableShape.ts"

/** A check that mails report, with its last applied mail. */
export const mailed_check = keyedTable({
  name: "mailed_check",
  ...OF_CHECK,
  columns: {
    ...CHECK_COLUMNS,
    /** Whether its name is that of its sender and a subject: it is forgotten, and not expected. */
    is_by_subject: boolean,
    sender: text(),
    /** The Date of the mail; absent if it has none that counts. */
    sent_at: orUndefined(instant),
    /** When it is looked at: it may become ok, or be forgotten. */
    next_evaluation_at: instant,
  },
})
export type MailedCheckRecord = RecordOf<typeof mailed_check>
