/** An integration with its new key, as the API answers it. */
interface Made {
  readonly kind: string
  readonly options: { readonly methods?: ReadonlyArray<string> | undefined }
  readonly urls: ReadonlyArray<string>
  readonly key: string
}

/** A line to paste into a sender, and what it is. */
export type SenderLine = readonly [what: string, text: string]

/** The end of a crontab line: it reports how its command ended. Without a schedule, what is expected stays. */
const cronText = (address: string, { methods }: Made["options"], schedule: string): string => {
  const method = methods === undefined || methods.includes("GET") ? "" : ` -X ${methods[0]}`
  return `; curl -fsS -m 10 --retry 3 -o /dev/null${method} "${address}/$?${schedule === "" ? "" : `?${schedule}`}"`
}

/** The lines that a Prometheus needs: of its configuration, and of a file of rules. */
const prometheusLines = (address: string, key: string): ReadonlyArray<SenderLine> => {
  const [, scheme, host, path] = /^(https?):\/\/([^/]+)(.*)$/u.exec(address) ?? []
  return [
    [
      "prometheus.yml",
      `# prometheus.yml
alerting:
  alertmanagers:
    - scheme: ${scheme}
      path_prefix: ${path}
      authorization: {credentials: ${key}}
      static_configs: [{targets: ["${host}"]}]`,
    ],
    [
      "rules",
      `# a file of rules: one that always fires, for the option watchdog
groups:
  - name: watchdog
    rules: [{alert: Watchdog, expr: vector(1), labels: {severity: none}}]`,
    ],
  ]
}

/** Everything to paste into the senders of an integration that reach the server at an origin, the best first. */
export const senderLines = (
  { key, kind, options, urls }: Made,
  origin: string,
  schedule = "",
): ReadonlyArray<SenderLine> => {
  const addresses = urls.map((url) => (url.startsWith("/") ? `${origin}${url}` : url))
  const [first = ""] = addresses
  const withKey = addresses.map((address): SenderLine => [
    address.includes(key) ? "address" : "address, with the key in the header Authorization",
    address,
  ])
  if (kind === "ping") return [["end of a line in a crontab", cronText(first, options, schedule)], ...withKey]
  if (first.includes(key)) return withKey
  return [...(kind === "alertmanager" ? prometheusLines(first, key) : []), ...withKey, ["key", key]]
}
