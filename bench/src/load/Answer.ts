const HEAD_END = Buffer.from("\r\n\r\n")
const STATUS_START = 9
const STATUS_END = 12

/** An HTTP answer with a Content-Length, as far as a load generator cares. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/**
 * Reads one whole answer, or says that more of it is to come. Anything else than one answer is a
 * defect of the server.
 */
export const readAnswer = (bytes: Buffer): Answer | undefined => {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return undefined
  const head = bytes.toString("latin1", STATUS_START, end)
  const status = Number(head.slice(0, STATUS_END - STATUS_START))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) return { status, body: "(an answer without a Content-Length)" }
  const start = end + HEAD_END.length
  if (bytes.length < start + Number(length)) return undefined
  return { status, body: bytes.toString("latin1", start, start + Number(length)) }
}

/** The error of an answer with another status than this, or undefined. */
export const faultOf =
  (expected: number) =>
  (_step: unknown, { body, status }: Answer): string | undefined =>
    status === expected ? undefined : `answered ${status} ${body}`
