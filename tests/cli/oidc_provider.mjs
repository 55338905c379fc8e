// A provider of OpenID Connect for a test: npm's oidc-provider, with users
// that are named on a form.  Says its issuer on a line.  On SIGHUP it signs
// with another key.  With the files of a key and a certificate it speaks TLS.
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import Provider from 'oidc-provider';

const users = JSON.parse(process.argv[2]);
const [key, cert] = process.argv.slice(3).map((path) => readFileSync(path));
let count = 0;

function newKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: `k${++count}`,
           use: 'sig', alg: 'ES256' };
}

function newRsa() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: `k${++count}`,
           use: 'sig', alg: 'RS256' };
}

function newProvider(issuer, key) {
  return new Provider(issuer, {
    clients: [{
      client_id: 'openpai', client_secret: 'a secret of the test, long enough',
      redirect_uris: ['http://127.0.0.1:9/api/v1/authn/oidc/return',
                      'http://127.0.0.1:9/api/v2/authn/oidc/return'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: key.alg,
    }],
    jwks: { keys: [key] },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'],
              groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    cookies: { keys: ['of a test'] },
    findAccount: (ctx, id) => users[id] && {
      accountId: id, claims: () => ({ sub: id, ...users[id] }),
    },
  });
}

const answer = (request, response) => current(request, response);
const server = key ? createSecureServer({ key, cert }, answer)
                   : createServer(answer);
let current;

server.listen(0, '127.0.0.1', () => {
  const issuer = `http${key ? 's' : ''}://127.0.0.1:${server.address().port}`;
  current = newProvider(issuer, newRsa()).callback();
  process.on('SIGHUP', () => {
    current = newProvider(issuer, newKey()).callback();
    console.log('another key');
  });
  console.log(issuer);
});
