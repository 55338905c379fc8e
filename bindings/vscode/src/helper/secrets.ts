// secrets.ts - what must not be in the trace of messages, which a user may send to others

const SECRET = /("(?:password|newPassword|oldPassword|token|code|verifier|privateKey)"\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** A text with JSON in it, without the values of passwords and tokens. */
export const withoutSecrets = (text: string): string => text.replace(SECRET, '$1"******"');
