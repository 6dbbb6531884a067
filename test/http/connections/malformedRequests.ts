/** A request that would be answered if another one ended earlier, or later, than the service thinks. */
export const SMUGGLED = "GET /api/v1/smuggled HTTP/1.1\r\nHost: tocsin\r\n\r\n"

const post = (...headers: ReadonlyArray<string>): string =>
  [
    "POST /api/v1/heartbeat HTTP/1.1",
    "Host: tocsin",
    "Authorization: Bearer an-agent-key",
    ...headers,
    "",
    "",
  ].join("\r\n")

const chunked = (text: string): string => post("Transfer-Encoding: chunked") + text

/** Bytes that are no whole request, or could be taken for more than one. */
export const malformedRequests: ReadonlyArray<readonly [name: string, bytes: string]> = [
  ["a length and chunks", `${post("Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n`],
  ["chunks and a length", `${post("Transfer-Encoding: chunked", "Content-Length: 4")}0\r\n\r\n`],
  ["two lengths", `${post("Content-Length: 2", "Content-Length: 4")}{}{}`],
  ["a length twice", `${post("Content-Length: 2", "Content-Length: 2")}{}`],
  ["a list of lengths", `${post("Content-Length: 2, 2")}{}`],
  ["a signed length", `${post("Content-Length: +2")}{}`],
  ["a negative length", `${post("Content-Length: -2")}{}`],
  ["a length in hex", `${post("Content-Length: 0x2")}{}`],
  ["a length with a fraction", `${post("Content-Length: 2.0")}{}`],
  ["two words for a length", `${post("Content-Length: 2 2")}{}`],
  ["a length beyond 64 bits", `${post("Content-Length: 99999999999999999999")}{}`],
  ["no length after its name", `${post("Content-Length: ")}{}`],
  ["an encoding that only resembles chunks", `${post("Transfer-Encoding: xchunked")}0\r\n\r\n`],
  ["chunks inside another encoding", `${post("Transfer-Encoding: chunked, gzip")}0\r\n\r\n`],
  ["chunks and then none", `${post("Transfer-Encoding: chunked", "Transfer-Encoding: identity")}0\r\n\r\n`],
  ["an encoding without chunks", `${post("Transfer-Encoding: identity")}0\r\n\r\n`],
  ["a space before the colon", `${post("Transfer-Encoding : chunked")}0\r\n\r\n`],
  ["a control character before chunked", `${post("Transfer-Encoding: \u000bchunked")}0\r\n\r\n`],
  ["a folded header", `${post("X-A: b", " Transfer-Encoding: chunked")}0\r\n\r\n`],
  ["a header without a colon", post("Nonsense")],
  ["a header without a name", post(": value")],
  ["NUL in a header", post("X-A: a\u0000b")],
  ["NUL in the name of a header", post("X\u0000A: b")],
  ["a bare CR in a header", post("X-A: a\rX-B: b")],
  ["a bare LF at the end of a header", "GET /api/v1/health HTTP/1.1\nHost: tocsin\n\n"],
  ["chunks whose size is no number", chunked("zz\r\n{}\r\n0\r\n\r\n")],
  ["chunks of a negative size", chunked("-2\r\n{}\r\n0\r\n\r\n")],
  ["chunks whose size is written 0x2", chunked("0x2\r\n{}\r\n0\r\n\r\n")],
  ["chunks beyond 64 bits", chunked("fffffffffffffffff\r\n{}\r\n0\r\n\r\n")],
  ["chunks longer than they say", chunked("1\r\n{}\r\n0\r\n\r\n")],
  ["chunks without an end of line", chunked("2\r\n{}0\r\n\r\n")],
  ["chunks that end their lines with LF", chunked("2\n{}\n0\n\n")],
  ["chunks without a size", chunked("\r\n{}\r\n0\r\n\r\n")],
  ["a method that is none", "NONSENSE /api/v1/health HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["a method in small letters", "get /api/v1/health HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["no path", "GET HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["a path with a space", "GET /api/v1/health now HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["a path with NUL", "GET /api/v1/health\u0000 HTTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["another protocol", "GET /api/v1/health FTP/1.1\r\nHost: tocsin\r\n\r\n"],
  ["another version", "GET /api/v1/health HTTP/3.0\r\nHost: tocsin\r\n\r\n"],
  ["the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["the beginning of TLS", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
  ["nothing of HTTP", "hello\r\n\r\n"],
]
