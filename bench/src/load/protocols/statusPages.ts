import { faultOf } from "../Answer.ts"
import { Connection } from "../Connection.ts"
import type { Protocol } from "./Protocol.ts"

/** The page that readers ask for. */
export const STATUS_PAGE = "/status/bench"

/** Readers of a public page, as browsers ask for it. */
export const statusPages: Protocol = {
  operationsOf: () => 1,
  open: (port, listener) => Connection.open({ port }, listener),
  render: (_step, _status, host) => () =>
    Buffer.from(
      `GET ${STATUS_PAGE} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Mozilla/5.0\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate\r\nAccept-Language: en\r\n\r\n`,
    ),
  faultOf: faultOf(200),
}
