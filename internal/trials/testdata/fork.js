// The hot function runs in a child process.
'use strict';
const { fork } = require('child_process');
fork(`${__dirname}/hot.js`).on('exit', (code, signal) => {
  if (signal) process.kill(process.pid, signal);
  process.exitCode = code;
});
