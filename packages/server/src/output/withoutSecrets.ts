/** `text` without the user and password of addresses in it, which people put on command lines. */
export const withoutSecrets = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"]*@/gi, "$1…@")
