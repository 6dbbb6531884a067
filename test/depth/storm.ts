import { AT_LENGTH } from "../properties/atLength.ts"
import { fullSize, partOfFullSize } from "../../bench/seed/SeedSize.ts"

const part = partOfFullSize(50)
const { incidents, outbox } = AT_LENGTH ? fullSize : part

/**
 * A million incidents, or a fiftieth: the plans are the same. Few lists show history, which most
 * rows would be.
 */
export const size = { ...part, history: part.history / 4, incidents, outbox }

/**
 * Makes a fifth of all incidents open and acknowledged, a third of the notifications held, and one
 * incident of a common check busy. A few acknowledgements have run out.
 */
export const storm: ReadonlyArray<string> = [
  `UPDATE incident SET state = 'open', kind = 'named', incident_key = id, resolved_at = NULL, ack_until = 9000000000000000
    WHERE state = 'resolved' AND opened_at / 1000000 % 5 = 0`,
  "UPDATE incident SET ack_until = 1 WHERE id IN (SELECT id FROM incident WHERE ack_until > 1 ORDER BY opened_at LIMIT 5)",
  "UPDATE outbox SET state = 'pending', next_evaluation_at = 1 WHERE state = 'sent' AND created_at / 1000000 % 3 = 0",
  `UPDATE incident SET member_changes = 101 WHERE id =
    (SELECT incident_id FROM incident_member WHERE check_id = 'check-00003' ORDER BY incident_id LIMIT 1)`,
]
