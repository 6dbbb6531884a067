interface EnrolledBy {
  /** The address of the server, as hosts reach it. */
  readonly server: string
  readonly token: string
  /** Of the install.sh that the server hands out; absent if it hands out nothing. */
  readonly sha256?: string | undefined
}

/** A word of a shell that means itself. */
const PLAIN = /^[\w.:/@~%+,=-]+$/

/**
 * The texts to paste on a host whose agent the token admits: a line that installs it, and the token, for which that
 * asks. A shell goes on after a line that failed, so the script runs by the line that checks it. Where the server hands
 * out no agent, one line for a host that has it.
 */
export const enrolmentLines = ({ server, sha256, token }: EnrolledBy): ReadonlyArray<string> => {
  const address = server.replace(/\/$/, "")
  const word = (text: string) => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "%27")}'`)
  if (sha256 === undefined)
    return [`TOCSIN_ENROLMENT_TOKEN=${token} tocsin-agent start --server ${word(address)}`]
  const script = "tocsin-agent.sh"
  return [
    [
      `curl -fsSm 60 -o ${script} ${word(`${address}/agent/install.sh`)}`,
      `echo '${sha256}  ${script}' | sha256sum -c -`,
      `sudo sh ${script} --server ${word(address)}`,
    ].join(" && "),
    token,
  ]
}
