// Functions of many shapes. Each spends its time on one line, which a comment marks: see
// internal/truth. Lines around a marked one are cold, so that a shifted table shows.
// node truth.mjs [MILLISECONDS for each function]
import { mixed, square } from './other.mjs';

const N = 20000;
let sink = 0;

function declared(n) {
  let s = 1;
  if (n < 0) throw new Error('negative');
  for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; // hot: declared
  if (s === 7) s++;
  return s;
}

const arrow = (n) => {
  let s = 2;
  if (n < 0) throw new Error('negative');
  for (let i = 0; i < n; i++) s = (s * 33 + i) | 0; // hot: arrow
  if (s === 7) s++;
  return s;
};

const expressed = function (n) {
  let s = 3;
  if (n < 0) throw new Error('negative');
  for (let i = 0; i < n; i++) s = (s * 35 + i) | 0; // hot: expressed
  if (s === 7) s++;
  return s;
};

class Point {
  constructor(x) {
    this.x = x;
    this.y = 0;
  }

  methodOf(n) {
    let s = this.x;
    this.y++;
    for (let i = 0; i < n; i++) s = (s * 37 + i) | 0; // hot: methodOf
    this.x = s & 7;
    return s;
  }

  get measured() {
    let s = this.x;
    this.y++;
    for (let i = 0; i < N; i++) s = (s * 39 + i) | 0; // hot: measured
    this.x = s & 7;
    return s;
  }

  set adjusted(n) {
    let s = this.x;
    this.y++;
    for (let i = 0; i < n; i++) s = (s * 41 + i) | 0; // hot: adjusted
    this.x = s & 7;
  }

  static standing(n) {
    let s = 4;
    sink++;
    for (let i = 0; i < n; i++) s = (s * 43 + i) | 0; // hot: standing
    sink--;
    return s;
  }

  #concealed(n) {
    let s = this.x;
    this.y++;
    for (let i = 0; i < n; i++) s = (s * 45 + i) | 0; // hot: reach > concealed, concealed
    this.x = s & 7;
    return s;
  }

  reach(n) {
    return this.#concealed(n);
  }
}

class Made {
  constructor(n) {
    let s = n;
    this.n = n;
    for (let i = 0; i < n; i++) s = (s * 47 + i) | 0; // hot: Made
    this.s = s;
    this.done = true;
  }
}

class Heir extends Point {
  inherited(n) {
    const s = super.methodOf(1);
    let t = s + 1;
    for (let i = 0; i < n; i++) t = (t * 49 + i) | 0; // hot: inherited
    this.x = t & 7;
    return t;
  }
}

function adder(k) {
  return function closure(n) {
    let s = k;
    if (n < 0) throw new Error('negative');
    for (let i = 0; i < n; i++) s = (s * 51 + i + k) | 0; // hot: closure
    k = s & 7;
    return s;
  };
}

function* generator(n) {
  let s = 5;
  yield s;
  for (let i = 0; i < n; i++) s = (s * 53 + i) | 0; // hot: generator
  yield s;
  s++;
  return s;
}

async function asynchronous(n) {
  let s = 6;
  await null;
  for (let i = 0; i < n; i++) s = (s * 55 + i) | 0; // hot: asynchronous
  await null;
  return s;
}

async function* asyncGenerator(n) {
  let s = 7;
  yield s;
  for (let i = 0; i < n; i++) s = (s * 57 + i) | 0; // hot: asyncGenerator
  yield s;
}

function caught(n) {
  let s = 8;
  try {
    for (let i = 0; i < n; i++) s = (s * 59 + i) | 0; // hot: caught
    throw new Error('thrown');
  } catch (e) {
    s ^= e.message.length;
  } finally {
    s++;
  }
  return s;
}

function recursive(n) {
  if (n <= 0) return sink & 1;
  let s = 0;
  for (let i = 0; i < 2000; i++) s = (s * 61 + i) | 0; // hot: recursive
  return s ^ recursive(n - 2000);
}

const nestedOnOneLine = (n) => { let s = 9; const innermost = (m) => { for (let i = 0; i < m; i++) s = (s * 63 + i) | 0; }; innermost(n); return s; }; // hot: nestedOnOneLine > innermost, innermost

function calledBack(x) {
  let s = x;
  if (x < 0) throw new Error('negative');
  for (let i = 0; i < 2000; i++) s = (s * 65 + i) | 0; // hot: higherOrder > calledBack, calledBack
  return s & 7;
}
const array = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const higherOrder = (n) => array.map(calledBack).length + n;

function ordered(n) {
  let s = 10;
  const kept = [3, 1, 2];
  kept.sort(function comparing(a, b) {
    let t = a - b;
    for (let i = 0; i < 7000; i++) t = (t * 67 + i) | 0; // hot: ordered > comparing, comparing
    s ^= t;
    return a - b;
  });
  return s;
}

function inlining(n) {
  let s = 11;
  for (let k = 0; k < n; k += 200)
    s ^= mixed(s + k);
  return s;
}

function inliningLocal(n) {
  let s = 12;
  for (let k = 0; k < n; k += 200)
    s ^= localTo(s + k);
  return s;
}

function localTo(x) {
  let t = x;
  for (let i = 0; i < 200; i++) t = (t * 69 + i) | 0; // hot: inliningLocal > localTo, localTo
  return t;
}

function floats(n) {
  let s = 0.5;
  const k = 1.000001;
  for (let i = 0; i < n; i++) s = s * k + 0.25; // hot: floats
  if (s > 1e300) s = 0;
  return s;
}

const bytes = new Uint8Array(4096);
function typedArray(n) {
  let s = 13;
  bytes[0] = n;
  for (let i = 0; i < n; i++) s = (s + bytes[(s + i) & 4095]) | 0; // hot: typedArray
  bytes[1] = s;
  return s;
}

function switched(n) {
  let s = 14;
  if (n < 0) throw new Error('negative');
  for (let i = 0; i < n; i++) switch (s & 3) { case 0: s += i; break; case 1: s ^= 3 * i; break; case 2: s -= 5; break; default: s = (s * 7) | 0; } // hot: switched
  return s;
}

function destructured({ start, n }, ...more) {
  let [s] = [start];
  s += more.length;
  for (let i = 0; i < n; i++) s = (s * 71 + i) | 0; // hot: destructured
  return s;
}

function labelled(n) {
  let s = 15;
  outer: while (n > 0) {
    n--;
    for (let i = 0; i < 500; i++) { s = (s * 73 + i) | 0; if (i > 498) continue outer; } // hot: labelled
  }
  return s;
}

const object = {
  shorthand(n) {
    let s = 16;
    this.calls = (this.calls | 0) + 1;
    for (let i = 0; i < n; i++) s = (s * 75 + i) | 0; // hot: shorthand
    return s;
  },
};

async function drained(n) {
  for await (const s of asyncGenerator(n)) sink ^= s;
}

// The call below has too many targets to be inlined.
const get = (name, kind) => Object.getOwnPropertyDescriptor(Point.prototype, name)[kind];
const point = new Point(1), heir = new Heir(2);
const functions = [
  declared, arrow, expressed, [point.methodOf, point], [get('measured', 'get'), point], [get('adjusted', 'set'), point],
  [Point.standing, Point], [point.reach, point], (n) => Reflect.construct(Made, [n]).s, [heir.inherited, heir], adder(3),
  (n) => Array.from(generator(n)).length, asynchronous, drained, caught, recursive, nestedOnOneLine, higherOrder, ordered,
  inlining, inliningLocal, floats, typedArray, switched, (n) => destructured({ start: 1, n }, 2, 3),
  [labelled, null, 40], [object.shorthand, object], square,
];
const milliseconds = Number(process.argv[2] || 40);
for (const entry of functions) {
  const [f, self, n = N] = [entry].flat();
  for (const end = performance.now() + milliseconds; performance.now() < end;) sink ^= await f.call(self, n);
}
console.log(functions.length, 'functions');
// Bun writes its dump from a thread, which the program's end would cut short.
await new Promise((resolve) => setTimeout(resolve, 1000));
