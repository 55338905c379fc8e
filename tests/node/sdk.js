// sdk.js - all that OpenPAI's own client can ask a server for, once.
//
// Usage: node sdk.js ADDRESS PASSWORD SWAGGER
// Each answer must be what the client's own document (SWAGGER) says of the
// call, and what is expected here by hand.
'use strict';

const assert = require('assert').strict;
const Ajv = require('ajv');
const parser = require('@apidevtools/swagger-parser');
const { PAIV1, PAIV2 } = require('@microsoft/openpai-js-sdk');

const [address, password, swagger] = process.argv.slice(2);
const ajv = new Ajv({ nullable: true });
const schemas = {}; // by the name of a call
const seen = new Set();

async function readSchemas() {
  const api = await parser.dereference(swagger);
  for (const methods of Object.values(api.paths)) {
    for (const operation of Object.values(methods)) {
      const good = Object.keys(operation.responses || {})
        .find(status => status.startsWith('2'));
      const content = good && operation.responses[good].content;
      if (content) {
        schemas[operation.operationId] = Object.values(content)[0].schema;
      }
    }
  }
}

function connect(more) {
  return new PAIV2.OpenPAIClient(
    { rest_server_uri: address, https: true, ...more });
}

// The answer of a call, as its document says.
async function call(client, tag, name, ...args) {
  const answer = await client[tag][name](...args);
  seen.add(name);
  if (schemas[name]) {
    assert.ok(ajv.validate(schemas[name], answer),
      `${name}: ${ajv.errorsText()} in ${JSON.stringify(answer)}`);
  }
  return answer;
}

async function refused(promise, status, code) {
  const error = await promise.then(
    answer => assert.fail(`not refused: ${JSON.stringify(answer)}`),
    thrown => thrown);
  // It reads no answers of some calls, so not their errors either.
  const data = typeof error.data === 'string' ? JSON.parse(error.data)
    : error.data;
  assert.deepEqual([error.status, data && data.code], [status, code],
    error.stack);
  return error;
}

function job(name, command, more) {
  return {
    protocolVersion: 2, name, type: 'job',
    prerequisites: [{ name: 'x', type: 'dockerimage', uri: 'host' }],
    taskRoles: {
      worker: {
        instances: 1, dockerImage: 'x', commands: [command],
        resourcePerInstance: { cpu: 1, memoryMB: 100, gpu: 0 }
      }
    },
    ...more
  };
}

async function until(client, name, state) {
  for (;;) {
    const detail = await call(client, 'job', 'getJob', 'ada', name);
    if (detail.jobStatus.state === state) {
      return detail;
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

async function people(admin) {
  const info = await call(admin, 'api', 'getClusterInfo');
  assert.equal(info.authnMethod, 'basic');
  const made = await call(admin, 'user', 'createUser', {
    username: 'ada', password: 'secret-1', email: 'ada@x.org',
    virtualCluster: ['default']
  });
  assert.equal(made.message, 'User is created successfully');
  await refused(admin.user.createUser(
    { username: 'ada', password: 'secret-1' }), 409, 'ConflictUserError');
  const all = await call(admin, 'user', 'getAllUser');
  assert.deepEqual(all.map(user => user.username).sort(), ['ada', 'admin']);
  await call(admin, 'user', 'updateUser',
    { username: 'ada', email: 'countess@x.org' });
  const ada = await call(admin, 'user', 'getUser', 'ada');
  assert.deepEqual([ada.email, ada.admin, ada.virtualCluster],
    ['countess@x.org', false, ['default']]);
  assert.equal(ada.password, undefined);
  await refused(admin.user.getUser('bob'), 400, 'NoUserError');
  await refused(admin.user.deleteUser('bob'), 404, 'NoUserError');
}

async function groups(admin) {
  await call(admin, 'group', 'createGroup', {
    groupname: 'lab', description: 'a lab', externalName: 'lab@x',
    extension: { acls: { admin: false, virtualClusters: ['default'] } }
  });
  assert.deepEqual((await call(admin, 'group', 'getAllGroup'))
    .map(group => group.groupname).sort(), ['admingroup', 'default', 'lab']);
  await call(admin, 'group', 'updateGroup',
    { patch: true, data: { groupname: 'lab', description: 'the lab' } });
  const lab = await call(admin, 'group', 'getGroup', 'lab');
  assert.deepEqual([lab.description, lab.externalName], ['the lab', 'lab@x']);
  await call(admin, 'user', 'updateUserGroup', 'ada', 'lab');
  assert.deepEqual(await call(admin, 'group', 'getGroupMembers', 'lab'),
    [{ username: 'ada', clusterAdmin: false }]);
  await call(admin, 'user', 'deleteUserGroup', 'ada', 'lab');
  await call(admin, 'user', 'updateUserGrouplist', 'ada', ['lab', 'default']);
  await call(admin, 'group', 'deleteGroup', 'lab');
  assert.deepEqual((await admin.user.getUser('ada')).grouplist, ['default']);
  assert.equal((await refused(admin.group.getGroup('lab'), 400,
    'NoGroupError')).message, 'Group lab is not found.');
}

async function tokens(ada) {
  const login = await call(ada, 'authn', 'basicLogin');
  assert.deepEqual([login.user, login.admin], ['ada', false]);
  await refused(ada.authn.basicLogin('ada', 'wrong-one'), 400,
    'IncorrectPasswordError');
  const made = await call(ada, 'token', 'createApplicationToken');
  assert.equal(made.application, true);
  const all = await call(ada, 'token', 'getTokens');
  assert.ok(all.tokens.includes(made.token) &&
            all.tokens.includes(login.token));
  const program = connect({ token: made.token });
  assert.equal((await program.user.getUser('ada')).username, 'ada');
  assert.equal((await refused(program.token.getTokens(), 403,
    'ForbiddenUserError')).message,
  'Applications are not allowed to do this operation.');
  await call(ada, 'token', 'deleteToken', made.token);
  assert.equal((await refused(program.user.getUser('ada'), 401,
    'UnauthorizedUserError')).message, 'Your token is invalid.');
  const browser = connect({ token: login.token });
  assert.equal((await call(browser, 'authn', 'basicLogout')).message,
    'Logout successfully');
  await refused(browser.token.getTokens(), 401, 'UnauthorizedUserError');
  await refused(ada.user.createUser({ username: 'eve', password: 'secret-1' }),
    403, 'ForbiddenUserError');
  // The old password once more: no token is lost by it.
  await call(ada, 'user', 'updateUserSelf', {
    username: 'ada', email: 'ada@x.org', oldPassword: 'secret-1',
    newPassword: 'secret-1'
  }, false);
  assert.equal((await ada.user.getUser('ada')).email, 'ada@x.org');
}

async function submit(ada) {
  await call(ada, 'job', 'createJob', job('hello', 'echo hello', {
    extras: { hivedScheduler: { jobPriorityClass: 'prod' } },
    secrets: { key: 'hidden' }
  }));
  await refused(ada.job.createJob(job('hello', 'true')), 409,
    'ConflictJobError');
  await refused(ada.job.createJob({ name: 'x' }), 400, 'InvalidProtocolError');
  await refused(ada.job.createJob(job('x', 'true',
    { defaults: { virtualCluster: 'none' } })), 403, 'ForbiddenUserError');
  // It is there from the first moment.
  await call(ada, 'job', 'getJob', 'ada', 'hello');
  await call(ada, 'jobHistory', 'getJobAttempt', 'ada', 'hello', 0);
  await call(ada, 'job', 'createJob', job('long', 'sleep 1000'));
  await until(ada, 'hello', 'SUCCEEDED');
  await until(ada, 'long', 'RUNNING');
  await call(ada, 'job', 'addTag', 'ada', 'hello', 'red');
  assert.deepEqual((await ada.job.getJob('ada', 'hello')).tags, ['red']);
}

// What the list has for a query, in its order.
async function lists(ada) {
  for (const [query, names] of [
    [undefined, ['long', 'hello']],
    [{ username: 'ada' }, ['long', 'hello']], [{ username: 'admin' }, []],
    [{ username: 'x,ada', vc: 'default' }, ['long', 'hello']],
    [{ vc: 'none' }, []], [{ state: 'RUNNING' }, ['long']],
    [{ state: 'SUCCEEDED,FAILED' }, ['hello']], [{ keyword: 'ell' }, ['hello']],
    [{ keyword: 'zzz' }, []], [{ jobPriority: 'prod' }, ['hello']],
    [{ jobPriority: 'default' }, ['long']],
    [{ tagsContain: 'red,blue' }, ['hello']],
    [{ tagsNotContain: 'red' }, ['long']], [{ limit: 1 }, ['long']],
    [{ offset: 1, limit: 5 }, ['hello']],
    [{ order: 'jobName,ASC' }, ['hello', 'long']],
    [{ order: 'submissionTime,ASC' }, ['hello', 'long']],
    [{ order: 'state,DESC', username: 'ada' }, ['hello', 'long']]
  ]) {
    const rows = await call(ada, 'job', 'listJobs', query);
    assert.deepEqual(rows.map(row => row.name), names, JSON.stringify(query));
  }
  const page = await call(ada, 'job', 'listJobs',
    { withTotalCount: true, limit: 1, order: 'jobName,ASC' });
  assert.equal(page.totalCount, 2);
  const row = page.data[0];
  assert.deepEqual([row.name, row.username, row.state, row.virtualCluster,
    row.totalTaskNumber, row.tags, row.appExitCode],
  ['hello', 'ada', 'SUCCEEDED', 'default', 1, ['red'], 0]);
  await refused(ada.job.listJobs({ limit: 50001 }), 400,
    'InvalidParametersError');
}

async function details(ada) {
  const detail = await call(ada, 'job', 'getJob', 'ada', 'hello', 0);
  const task = detail.taskRoles.worker.taskStatuses[0];
  assert.deepEqual([detail.jobStatus.appExitCode, task.taskState,
    task.containerExitCode], [0, 'SUCCEEDED', 0]);
  // Its secrets are hidden, which its schema does not know.
  const config = await ada.job.getJobConfig('ada', 'hello');
  assert.deepEqual([config.name, config.secrets], ['hello', '******']);
  assert.equal((await call(ada, 'job', 'getJobConfig', 'ada', 'long')).name,
    'long');
  const starts = await call(ada, 'job', 'getTask', 'ada', 'hello', 0, 'worker',
    0);
  assert.equal(starts.attempts.length, 1);
  for (const tail of [false, true]) {
    const logs = await call(ada, 'job', 'getTaskLogs', 'ada', 'hello', 0,
      'worker', 0, 0, tail);
    const place = logs.locations.find(one => one.name === 'stdout');
    assert.equal(await ada.httpClient.get(`https://${address}${place.uri}`),
      'hello\n');
  }
  await refused(ada.job.getTaskLogs('ada', 'hello', 0, 'worker', 0, 7), 404,
    'NoTaskLogError');
  const events = await call(ada, 'job', 'listEvents', 'ada', 'hello',
    { type: 'Normal' });
  assert.equal(events.totalCount, events.data.length);
  assert.ok(events.data.every(event => event.type === 'Normal'));
  assert.equal(await call(ada, 'jobHistory', 'getJobAttemptsHealthz', 'ada',
    'hello'), 'ok');
  const attempts = await call(ada, 'jobHistory', 'getJobAttempts', 'ada',
    'hello');
  assert.deepEqual(attempts.map(one => [one.state, one.isLatest]),
    [['SUCCEEDED', true]]);
  await refused(ada.job.getJob('ada', 'none'), 404, 'NoJobError');
  await refused(ada.job.getJobConfig('ada', 'none'), 404, 'NoJobError');
}

async function changes(ada, admin) {
  await call(ada, 'job', 'deleteTag', 'ada', 'hello', 'red');
  await refused(ada.job.deleteTag('ada', 'hello', 'red'), 404, 'NoTagError');
  await call(ada, 'job', 'updateJobExecutionType', 'ada', 'long', 'STOP');
  const detail = await until(ada, 'long', 'STOPPED');
  assert.equal(detail.jobStatus.executionType, 'STOP');
  await call(ada, 'job', 'updateJobExecutionType', 'ada', 'long', 'START');
  await admin.job.createJob(job('hers', 'sleep 1000'));
  await refused(ada.job.updateJobExecutionType('admin', 'hers', 'STOP'), 403,
    'ForbiddenUserError');
  await call(admin, 'job', 'updateJobExecutionType', 'admin', 'hers', 'STOP');
}

async function machines(ada, admin) {
  const vcs = await call(ada, 'virtualCluster', 'listVirtualClusters');
  assert.ok(vcs.default.resourcesTotal.cpu > 0);
  assert.deepEqual(Object.keys(await call(
    ada, 'virtualCluster', 'getVirtualCluster', 'default')).sort(),
  Object.keys(vcs.default).sort());
  await refused(ada.virtualCluster.getVirtualCluster('none'), 404,
    'NoVirtualClusterError');
  for (const standard of [undefined, true]) {
    const { storages } = await call(ada, 'storage', 'getStorages', standard);
    assert.deepEqual(storages.map(one => one.name), ['data']);
  }
  const storage = await call(ada, 'storage', 'getStorage', 'data');
  assert.deepEqual([storage.type, storage.data.server], ['nfs', 'nas']);
  await refused(ada.storage.getStorage('none'), 404, 'NoStorageError');
  assert.equal((await call(admin, 'kubernetes', 'getK8sNodes')).items.length,
    1);
  await call(admin, 'kubernetes', 'getK8sPods', { namespace: 'default' });
  await refused(ada.kubernetes.getK8sNodes(), 403, 'ForbiddenUserError');
  const alerts = await admin.httpClient.get(
    `https://${address}/api/v2/alerts`);
  assert.ok(Array.isArray(alerts));
}

// What its client of version 1 still finds.
async function older(ada) {
  const old = new PAIV1.OpenPAIClient({
    rest_server_uri: `https://${address}`, username: 'ada',
    password: 'secret-1'
  });
  const info = await old.authn.info();
  assert.deepEqual([info.authn_type, info.loginURIMethod], ['basic', 'post']);
  // It says nothing of who it is: its library tells so in its own way.
  const error = await old.job.list().catch(thrown => thrown);
  assert.deepEqual([error.statusCode, JSON.parse(error.error).code],
    [401, 'UnauthorizedUserError']);
  const { token } = await ada.authn.basicLogin();
  const { tokens: known } = JSON.parse(JSON.stringify(
    await old.authn.getTokens(token)));
  assert.ok(known.includes(token));
}

async function main() {
  await readSchemas();
  const admin = connect({ username: 'admin', password });
  const ada = connect({ username: 'ada', password: 'secret-1' });
  await people(admin);
  await groups(admin);
  await tokens(ada);
  await submit(ada);
  await lists(ada);
  await details(ada);
  await changes(ada, admin);
  await machines(ada, admin);
  await older(ada);
  await call(admin, 'user', 'deleteUser', 'ada');
  await refused(ada.token.getTokens(), 401, 'UnauthorizedUserError');
  console.log(`all is as expected: ${seen.size} calls`);
}

main().catch(error => {
  console.error(error.stack || error, error.data || '');
  process.exit(1);
});
