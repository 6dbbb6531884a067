/** The command to paste on a host: it starts an agent there, which the token admits. */
export const enrolmentLine = (server: string, token: string): string =>
  `TOCSIN_ENROLMENT_TOKEN=${token} npx tocsin-agent start --server ${server}`
