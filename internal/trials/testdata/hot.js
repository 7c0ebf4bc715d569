// The program of the trials: see README.md.
'use strict';
const fs = require('fs');
const mode = process.env.TRIAL_MODE || 'normal';
const sign = (name, text) => fs.appendFileSync(`${process.env.TRIAL_SIGNS}/${name}`, text);

function inner(x) { return (x * 31 + 7) % 1000003; }
function early(n) { let x = n; for (let i = 0; i < 20000; i++) x = inner(x); return x; }
function hot(n) { let x = n; for (let i = 0; i < 20000; i++) x = inner(x); return x; }

// Each is compiled before the signal, and hot after all others.
function warm(f, milliseconds) {
  let sum = 0;
  for (const end = Date.now() + milliseconds; Date.now() < end;) sum += f(sum & 1023);
  return sum;
}

function work(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += hot(i & 1023);
  return sum;
}

function main() {
  console.log('out: begin');
  console.error('err: begin');
  switch (mode) {
    case 'work':
      work(Number(process.env.TRIAL_WORK));
      return;
    case 'handler':
      for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => {
        sign('signals', name + '\n');
        setTimeout(() => process.exit(7), 400); // a second one would be counted
      });
      warm(early, 100);
      warm(hot, 300);
      sign('ready', `${process.pid}\n`);
      setInterval(() => warm(hot, 20), 1);
      return;
    case 'busy':
      warm(early, 100);
      warm(hot, 300);
      sign('ready', `${process.pid}\n`);
      for (;;) hot(1);
  }
  warm(early, 100);
  warm(hot, Number(process.env.TRIAL_TIME || 600));
  console.log('out: end');
  if (mode === 'code') process.exitCode = 7;
}

if (require.main === module) main();
module.exports = { main, warm, hot, sign, mode };
