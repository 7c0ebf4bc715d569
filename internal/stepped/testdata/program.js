// A program for the step test. It calls in every way that V8 compiles differently, in
// rounds, until the file that its argument names exists.
'use strict';
const fs = require('fs');

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function hanoi(n, from, to, by) { return n === 0 ? 0 : hanoi(n - 1, from, by, to) + 1 + hanoi(n - 1, by, to, from); }

function counter(step) {
  let n = 0;
  return () => { n += step; return n; };
}

// More arguments than there are registers, passed in full, too few and too many.
function many(a, b, c, d, e, f, g, h, i, j, k, l) {
  return a + b * 2 + c * 3 + (d | 0) + (e | 0) + (f | 0) + (g | 0) + (h | 0) + (i | 0) + (j | 0) + (k | 0) + (l | 0);
}
function argumentsOf() { let s = 0; for (let i = 0; i < arguments.length; i++) s += arguments[i]; return s; }
function rest(first, ...others) { return others.reduce((a, b) => a + b, first); }
function byDefault(a, b = a + 1, c = fib(3)) { return a + b + c; }

// More live values than there are registers.
function spilled(n) {
  let a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5, g = n + 6, h = n + 7;
  let p = n * 0.5, q = n * 0.25, r = n * 0.125, s = n * 1.5, t = n * 2.5, u = n * 3.5;
  for (let i = 0; i < 8; i++) {
    const x = many(a, b, c, d, e, f, g, h, i, a, b, c);
    a += x & 3; b += a & 5; c ^= b; d += c & 7; e ^= d; f += e & 1; g ^= f; h += g & 3;
    p += q * a; q -= r; r += s * 0.001; s += t * 0.01; t -= u * 0.1; u += p * 0.0001;
  }
  return a + b + c + d + e + f + g + h + p + q + r + s + t + u;
}

function thrower(n) {
  if (n === 0) throw new RangeError('bottom');
  return thrower(n - 1) + 1;
}
function catcher(n) {
  try { return thrower(n); } catch (e) { return e.message.length; } finally { n++; }
}
function rethrower(n) {
  try {
    try { return thrower(n); } finally { fib(3); }
  } catch (e) { return -n; }
}
// Builtins that throw, through a frame of the program.
function builtinThrows(x) {
  try { return null[x]; } catch (e) { try { return [1].reduce(undefined); } catch (f) { return 1; } }
}

class Shape {
  constructor(w, h) { this.w = w; this.h = h; }
  get area() { return this.w * this.h; }
  set width(w) { this.w = w; }
  scale(k) { return new Shape(this.w * k, this.h * k); }
  static compare(a, b) { return a.area - b.area; }
}
class Square extends Shape {
  constructor(w) { super(w, w); this.name = 'square'; }
  scale(k) { return new Square(super.scale(k).w); }
  toString() { return `${this.name} ${this.area}`; }
  valueOf() { return this.area; }
  [Symbol.toPrimitive](hint) { return hint === 'number' ? this.area : this.toString(); }
}

function* range(n) { for (let i = 0; i < n; i++) { const got = yield i; if (got) i += got; } }
function generators(n) {
  let s = 0;
  for (const x of range(n)) s += x;
  const g = range(9);
  g.next(); s += g.next(2).value;
  try { g.throw(new Error('x')); } catch (e) { s++; }
  const [p, ...q] = range(4);
  return s + p + q.length;
}

function callbacks(k) {
  const a = Array.from({ length: 24 }, (_, i) => (i * 7919 + k) % 101);
  let s = 0;
  a.map((x) => x * 2).filter((x) => x % 3 === 0).forEach((x) => { s += x; });
  s += a.reduce((x, y) => x + y, 0);
  s += a.slice().sort((x, y) => x - y)[3];
  s += a.findIndex((x) => x > 90);
  s += a.some((x) => x === 100) ? 1 : 0;
  s += a.every((x) => x >= 0) ? 1 : 0;
  s += a.flatMap((x) => [x, x]).length;
  s += 'a1b22c333'.replace(/[0-9]+/g, (m) => m.length).length;
  s += JSON.parse('[1,[2,{"x":3}]]', (key, v) => v).length;
  s += JSON.stringify({ toJSON() { return { k }; } }).length;
  new Map([[1, 2], [3, k]]).forEach((v, key) => { s += v + key; });
  new Set(a).forEach((v) => { s += v; });
  s += new Float64Array(a).map((x) => Math.hypot(x, 1)).sort((x, y) => y - x)[0];
  return s;
}

function applications(k) {
  const bound = many.bind(null, 1, 2, 3);
  let s = bound(k) + many(1) + many(k, 2, 3) + many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  s += many.call(null, 1, k) + many.apply(null, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, k]);
  s += Reflect.apply(argumentsOf, null, [1, 2, k]) + argumentsOf(1, 2, 3, 4, 5, 6, 7, 8, k);
  s += rest(...[1, 2, 3], ...[4, k]) + byDefault(k) + byDefault(1, 2) + byDefault(1, 2, 3, 4);
  const seen = new Proxy({ x: 1 }, { get: (o, key) => (key in o ? o[key] : k), has: () => true });
  s += seen.x + seen.y + ('z' in seen ? 1 : 0);
  s += Reflect.construct(Square, [3]).area;
  return s;
}

function shapes(k) {
  const list = [new Shape(1, k), new Square(k & 7), new Square(2).scale(3), new Shape(k & 3, 4)];
  list.sort(Shape.compare);
  list[0].width = 5;
  return list.reduce((s, x) => s + x.area, 0) + +list[1] + `${list[2]}`.length + (list[3] > list[0] ? 1 : 0);
}

function strings(k) {
  let s = '';
  for (let i = 0; i < 6; i++) s += String.fromCharCode(97 + (i + k) % 26) + i;
  switch (s.charAt(k % 5)) { case 'a': k += 1; break; case 'b': k += 2; break; case '1': k += 3; break; default: k += 4; }
  return s.split('').reverse().join('').indexOf('b') + k + parseInt('1' + (k & 7), 10) + (10n ** 3n > 5n ? 1 : 0);
}

// A loop that is compiled while it runs, and whose code is left when a type changes.
function loop(k) {
  let s = 0;
  for (let i = 0; i < 400; i++) s = add(s, i % 397 === 396 && k % 16 === 0 ? 0.5 : i);
  return s;
}
function add(a, b) { return a + b; }
function changing(k) { return add(k % 32 === 31 ? 'x' : 1, k).length | 0; }

async function waits(n) { let s = 0; for (let i = 0; i < n; i++) s += await i; return s; }

const count = counter(3);
function round(k) {
  let s = fib(9) + hanoi(4, 0, 1, 2) + count();
  for (let i = 0; i < 4; i++) s += catcher(i) + rethrower(i) + builtinThrows(i);
  s += spilled(k) + callbacks(k) + applications(k) + shapes(k) + generators(6) + strings(k) + loop(k) + changing(k);
  return s;
}

let k = 0, sum = 0;
function turn() {
  for (let i = 0; i < 8; i++) sum += round(k++);
  waits(3).then((s) => { sum += s; });
  if (!fs.existsSync(process.argv[2])) setImmediate(turn);
}
turn();
