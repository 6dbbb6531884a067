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

/** Writes the line that makes a place into a configuration, in place of a former one. */
const placeEdit = (allow: string, config: string): string =>
  `sed -i.old -e '$a place: { allow: [${allow}] }' -e '/^place: *\\(true\\|false\\|{.*}\\) *$/d' ${config}`

/** The commands that run the agent of a clone, whose state is not that of an installed one. A configuration that is there stays. */
export const cloneCommand = (server: string, { allow, token }: CloneOptions = {}): string => {
  const config = "data/agent/config.yaml"
  const checks = "{ disk: { disk: {} }, load: { load: {} }, memory: { memory: {} } }"
  const place = allow === undefined ? "" : `place: { allow: [${allow}] }\n`
  const edit = allow === undefined ? "" : `[ ! -e ${config} ] || ${placeEdit(allow, config)}\n`
  return `mkdir -p data/agent
${edit}[ -e ${config} ] || echo 'server: "${quotable(server)}"
${place}checks: ${checks}' > ${config}
${token === undefined ? "" : `TOCSIN_ENROLMENT_TOKEN=${token} `}npm run -s agent -- start --config ${config} --state data/agent/state`
}

/** The command that sends one result without the agent. */
export const shellCommand = (server: string): string =>
  `TOCSIN_URL='${quotable(server)}' sh agent.sh load sh -c 'uptime; exit 0'`

const CONFIG = "/etc/tocsin-agent/config.yaml"
const PRIVATE = "public, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7"

/** The targets of a place, as its form offers them. */
export const REACHES = [
  ["public", "the internet"],
  [PRIVATE, "the internet and private networks"],
  [`${PRIVATE}, 127.0.0.0/8, ::1`, "the internet, private networks and the host itself"],
] as const

/** Makes an installed agent a place. A configuration that it refuses, and no other, is taken back. */
export const placeCommand = (allow: string): string =>
  [
    `sudo ${placeEdit(allow, CONFIG)}`,
    `{ sudo tocsin-agent check || { sudo mv ${CONFIG}.old ${CONFIG}; false; }; }`,
    "sudo systemctl reload-or-restart tocsin-agent",
  ].join(" && ")
