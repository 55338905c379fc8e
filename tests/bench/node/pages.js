// A page of 20 jobs from memory, by Express with what OpenPAI's server puts
// before each answer.
// Usage: node pages.js SOCKET JOBS.json
'use strict';
const fs = require('fs');
const express = require('express');
const compression = require('compression');
const cookieParser = require('cookie-parser');
const bodyParser = require('body-parser');
const cors = require('cors');
const morgan = require('morgan');
const limit = require('express-rate-limit');

const [socket, file] = process.argv.slice(2);
const jobs = JSON.parse(fs.readFileSync(file, 'utf8'));
const app = express();

app.set('trust proxy', true);
app.use(cors());
app.use(compression());
app.use(bodyParser.urlencoded({extended: true}));
app.use(bodyParser.json());
app.use(bodyParser.text({type: 'text/*'}));
app.use(cookieParser());
app.use(limit({max: 1e9, windowMs: 60000, keyGenerator: () => 'all'}));
app.use(morgan('dev', {stream: {write: () => undefined}}));
app.get('/api/v2/jobs', (req, res) => {
  const from = Number(req.query.offset || 0);
  res.status(200).json(jobs.slice(from, from + Number(req.query.limit)));
});
app.listen(socket, () => console.log('ready'));
