// Conway's Game of Life on a torus, and a report about it: several functions, some of them inlined.
const width = 256, height = 256;

function cell(board, x, y) {
  return board[((y + height) % height) * width + ((x + width) % width)];
}

function neighbours(board, x, y) {
  let n = 0;
  for (let dy = -1; dy <= 1; dy++)
    for (let dx = -1; dx <= 1; dx++)
      if (dx || dy) n += cell(board, x + dx, y + dy);
  return n;
}

function step(board, next) {
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const n = neighbours(board, x, y);
      next[y * width + x] = n === 3 || (n === 2 && cell(board, x, y)) ? 1 : 0;
    }
}

function hash(board) {
  let h = 2166136261;
  for (let i = 0; i < board.length; i++) h = Math.imul(h ^ board[i], 16777619);
  return h >>> 0;
}

function render(board) {
  const lines = [];
  for (let y = 0; y < height; y++) {
    let line = '';
    for (let x = 0; x < width; x++) line += cell(board, x, y) ? '#' : '.';
    lines.push(line);
  }
  return lines.join('\n');
}

function summary(text) {
  const runs = new Map();
  for (const run of text.match(/#+/g) || []) runs.set(run.length, (runs.get(run.length) || 0) + 1);
  return JSON.stringify([...runs].sort((a, b) => a[0] - b[0]));
}

function play(generations) {
  let board = new Uint8Array(width * height), next = new Uint8Array(width * height);
  for (let i = 0, seed = 1; i < board.length; i++) {
    seed = Math.imul(seed, 48271) >>> 0;
    board[i] = (seed >>> 16) % 3 === 0 ? 1 : 0;
  }
  let report = '';
  for (let g = 0; g < generations; g++) {
    step(board, next);
    [board, next] = [next, board];
    if (g % 2 === 0) report = hash(board) + ' ' + summary(render(board));
  }
  return report;
}

console.log(play(600).length);
