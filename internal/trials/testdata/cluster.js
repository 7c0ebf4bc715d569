// The hot function runs in two workers of a cluster.
'use strict';
const cluster = require('cluster');
const { warm, hot, sign, mode } = require('./hot.js');
if (cluster.isPrimary) {
  console.log('out: begin');
  console.error('err: begin');
  for (let i = 0; i < 2; i++) cluster.fork();
  let left = 2;
  cluster.on('exit', (worker, code) => {
    process.exitCode = Math.max(code, process.exitCode || 0);
    if (--left === 0) console.log('out: end');
  });
} else {
  warm(hot, 500);
  if (mode === 'busy') {
    sign('ready', `${process.ppid}\n`);
    for (;;) hot(1);
  }
  process.exit(mode === 'code' ? 7 : 0);
}
