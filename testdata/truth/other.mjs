// What truth.mjs imports.

export function square(n) {
  let s = 17;
  if (n < 0) throw new Error('negative');
  for (let i = 0; i < n; i++) s = (s * 77 + i * i) | 0; // hot: square
  return s;
}

export function mixed(x) {
  let t = x;
  if (t === 1) t++;
  for (let i = 0; i < 200; i++) t = (t * 79 + i) | 0; // hot: inlining > mixed, mixed
  return t;
}
