import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net"

/**
 * How long each address of a name may take to connect before the next one is tried: long enough for a
 * first packet that was lost, and sent again after a second. Node.js allows 250 ms, in which a slow link
 * reaches none of them. Imported early, for all that connects.
 */
const ADDRESS_MILLIS = 2_500

setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_MILLIS)
