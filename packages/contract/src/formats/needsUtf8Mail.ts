/** Whether only a mail server with SMTPUTF8 takes an address; a domain has a form in ASCII. */
export const needsUtf8Mail = (address: string): boolean =>
  /[\u0080-\u{10ffff}]/u.test(address.slice(0, address.lastIndexOf("@")))
