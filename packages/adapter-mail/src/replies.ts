/** The answer to a client. */
export interface Reply {
  readonly code: 250 | 421 | 450 | 451 | 452 | 550 | 552
  readonly text: string
}

export const TAKEN: Reply = { code: 250, text: "OK: stored" }
export const UNKNOWN: Reply = { code: 550, text: "no such address" }
export const UNKNOWN_AGAIN: Reply = { code: 421, text: "too many unknown addresses" }
export const UNAVAILABLE: Reply = { code: 451, text: "cannot be stored now; try again later" }
export const TOO_MANY_RECIPIENTS: Reply = { code: 452, text: "too many recipients; send to 100 at once" }
export const TOO_LARGE: Reply = { code: 552, text: "message exceeds 10 MiB" }
export const TOO_LONG_CONNECTED: Reply = { code: 421, text: "connected for 10 minutes; connect again" }
export const MAKES_ROOM: Reply = { code: 421, text: "too many connections; try again later" }
export const SHUTS_DOWN: Reply = { code: 421, text: "the server shuts down; try again later" }

const isTransient = ({ code }: Reply): boolean => code >= 400 && code < 500

/**
 * The one reply of SMTP about several recipients: to be repeated if any is, since whoever took the mail finds it
 * unchanged then; else taken if any took it, else the refusal.
 */
export const replyToAll = (replies: ReadonlyArray<Reply>): Reply => {
  const [first = UNKNOWN] = replies
  if (replies.length < 2) return first
  if (replies.some(isTransient)) return UNAVAILABLE
  return replies.find(({ code }) => code === TAKEN.code) ?? first
}
