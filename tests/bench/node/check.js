// Checks job files as OpenPAI's server did: js-yaml, then Ajv.
// Usage: node check.js SCHEMA ROUNDS FILE...   With more than one round it
// prints the milliseconds of the fastest, which is a warm one.
'use strict';
const fs = require('fs');
const yaml = require('js-yaml');
const Ajv = require('ajv');

const [schema, rounds, ...files] = process.argv.slice(2);
const validate = new Ajv({allErrors: true}).compile(
  JSON.parse(fs.readFileSync(schema, 'utf8')));
let best = Infinity;
let invalid = 0;

for (let round = 0; round < Number(rounds); round++) {
  const start = process.hrtime.bigint();
  invalid = 0;
  for (const file of files) {
    if (!validate(yaml.safeLoad(fs.readFileSync(file, 'utf8')))) {
      invalid++;
    }
  }
  best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e6);
}
if (Number(rounds) > 1) {
  console.log(best);
}
process.exit(invalid > 0 ? 1 : 0);
