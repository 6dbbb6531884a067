import { errorBody, type Manner } from "./FaultyServer.ts"

/** Failures of a server instead of an answer, and the code and the message that the client gives each. */
export const failures: ReadonlyArray<readonly [name: string, manner: Manner, code: string, message: RegExp]> =
  [
    ["a cut connection", "cut", "connection", /there is no connection to http:\/\/127\.0\.0\.1:\d+/],
    ["half an answer", "cut half-way", "connection", /there is no connection/],
    ["silence", "silent", "timeout", /did not answer in time/],
    ["an answer without an end", "endless", "unexpected_answer", /answered with more than 16 MiB/],
    ["an answer of a terabyte", "large", "unexpected_answer", /answered with more than 16 MiB/],
    ["a redirect", { status: 308, headers: { location: "/" } }, "unexpected_answer", /sends elsewhere/],
    ["a gateway's complaint", { status: 503, body: "<html>" }, "unavailable", /cannot be reached by/],
    ["a proxy's own failure", { status: 500, body: "<html>" }, "unavailable", /cannot be reached by/],
    ["a content network's status", { status: 522, body: "<html>" }, "unavailable", /status 522/],
    ["a proxy's limit", { status: 429, body: "<html>" }, "rate_limited", /too many requests/],
    [
      "no JSON",
      { status: 200, body: "<html>" },
      "unexpected_answer",
      /something else than this contract says; .* at least as new as this client\?$/,
    ],
    ["JSON of something else", { status: 200, body: "{}" }, "unexpected_answer", /something else than/],
    ["nothing", { status: 200 }, "unexpected_answer", /something else than/],
    [
      "a status of something else",
      { status: 418, body: "{}" },
      "unexpected_answer",
      /answered 418.* at least as new as this client\?$/,
    ],
    [
      "an error of the contract",
      { status: 403, body: errorBody("forbidden") },
      "forbidden",
      /because of forbidden/,
    ],
    [
      "an error that the call does not know",
      { status: 409, body: errorBody("conflict") },
      "unexpected_answer",
      /409/,
    ],
  ]
