/** The command to paste on a host: it starts an agent there, which the token admits. */
export const enrolmentLine = (server: string, token: string, command = "npx tocsin-agent"): string =>
  `TOCSIN_ENROLMENT_TOKEN=${token} ${command} start --server ${server}`
