// The hot function runs in a worker thread.
'use strict';
const { Worker, isMainThread } = require('worker_threads');
const { warm, hot, sign, mode } = require('./hot.js');
if (isMainThread) {
  console.log('out: begin');
  console.error('err: begin');
  const worker = new Worker(__filename);
  worker.on('message', () => {
    if (mode !== 'busy') return;
    sign('ready', `${process.pid}\n`);
  });
  worker.on('exit', (code) => {
    console.log('out: end');
    process.exitCode = code;
  });
} else {
  warm(hot, 500);
  require('worker_threads').parentPort.postMessage('ready');
  while (mode === 'busy') hot(1);
  process.exit(mode === 'code' ? 7 : 0);
}
