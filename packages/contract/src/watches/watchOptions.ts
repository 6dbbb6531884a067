const all = (names: string): ReadonlyArray<string> => `${names} timeout time`.split(" ")

/** The options of watches by the kinds of their probes: an agent runs no others for a server (docs/rules.md#places). */
export const watchOptions = {
  http: all("url method headers auth body status text expect secret redirects verify days"),
  tcp: all("host port send expect"),
  tls: all("host port name starttls verify days"),
  dns: all("name type servers expect"),
  ping: all("host count loss"),
  websocket: all("url headers send expect verify"),
}
