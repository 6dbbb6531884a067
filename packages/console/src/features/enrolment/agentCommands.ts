/** An address within single quotes of a shell. */
const quotable = (address: string): string => address.replace(/\/$/, "").replaceAll("'", "%27")

export const isLocal = (server: string): boolean =>
  /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(server).hostname)

interface CloneOptions {
  /** By which the server accepts the agent. */
  readonly token?: string
  /** The targets that it may probe as a place; none without. */
  readonly allow?: string
}

/** The commands that run the agent of a clone, whose state is not that of an installed one. */
export const cloneCommand = (server: string, { allow, token }: CloneOptions = {}): string => {
  const place = allow === undefined ? "" : ` place: { allow: [${allow}] },`
  const checks = "{ disk: { disk: {} }, load: { load: {} }, memory: { memory: {} } }"
  return `mkdir -p data/agent
echo '{ server: "${quotable(server)}",${place} checks: ${checks} }' > data/agent/config.yaml
${token === undefined ? "" : `TOCSIN_ENROLMENT_TOKEN=${token} `}npm run -s agent -- start --config data/agent/config.yaml --state data/agent/state`
}

/** The command that sends one result without the agent. */
export const shellCommand = (server: string): string =>
  `TOCSIN_URL='${quotable(server)}' sh agent.sh load sh -c 'uptime; exit 0'`

const CONFIG = "/etc/tocsin-agent/config.yaml"
const PRIVATE = "public, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7"

/** The targets of a place, as its form offers them. */
export const REACHES = [
  ["public", "what is public"],
  [PRIVATE, "that, and private networks"],
  [`${PRIVATE}, 127.0.0.0/8, ::1`, "that, and its own host"],
] as const

/** Makes an installed agent a place. A configuration that it refuses is taken back. */
export const placeCommand = (allow: string): string =>
  [
    `sudo sed -i.old -e '$a place: { allow: [${allow}] }' -e '/^place: *\\(true\\|false\\|{.*}\\) *$/d' ${CONFIG}`,
    "sudo tocsin-agent check",
    "sudo systemctl reload-or-restart tocsin-agent",
  ].join(" && ") + ` || sudo mv ${CONFIG}.old ${CONFIG}`
