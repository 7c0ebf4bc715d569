<?php
// A program for the step test: what PHP's tracing JIT compiles in different ways, in rounds,
// until the file that its argument names exists.
function fib(int $n): int { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function many($a, $b, $c, $d = 4, $e = 5, $f = 6, $g = 7, $h = 8, ...$rest) {
    return $a + $b * 2 + $c + $d + $e + $f + $g + $h + count($rest);
}
function thrower(int $n): int {
    if ($n === 0) throw new RangeException('bottom');
    return thrower($n - 1) + 1;
}
function catcher(int $n): int {
    try { return thrower($n); } catch (RangeException $e) { return strlen($e->getMessage()); } finally { $n++; }
}
function counter(int $step): Closure {
    $n = 0;
    return function () use (&$n, $step) { $n += $step; return $n; };
}
function spilled(int $n): float {
    $a = $n; $b = $n + 1; $c = $n + 2; $d = $n + 3; $e = $n + 4; $f = $n + 5; $g = $n + 6; $h = $n + 7;
    $p = $n * 0.5; $q = $n * 0.25; $r = $n * 0.125; $s = $n * 1.5;
    for ($i = 0; $i < 40; $i++) {
        $a += $b & 3; $b += $a & 5; $c ^= $b; $d += $c & 7; $e ^= $d; $f += $e & 1; $g ^= $f; $h += $g & 3;
        $p += $q * $a; $q -= $r; $r += $s * 0.001; $s += many($a, $b, $c, $d, $e, $f, $g, $h, $i) * 1e-9;
    }
    return $a + $b + $c + $d + $e + $f + $g + $h + $p + $q + $r + $s;
}
function numbers(int $n) { for ($i = 0; $i < $n; $i++) { $got = yield $i; if ($got) $i += $got; } }
function generators(int $n): int {
    $s = 0;
    foreach (numbers($n) as $x) $s += $x;
    $g = numbers(9);
    $g->current();
    return $s + $g->send(2);
}
class Shape {
    public function __construct(protected int $w, protected int $h) {}
    public function area(): int { return $this->w * $this->h; }
    public static function compare(Shape $a, Shape $b): int { return $a->area() <=> $b->area(); }
    public function __get($name) { return strlen($name) + $this->w; }
}
class Square extends Shape {
    public function __construct(int $w) { parent::__construct($w, $w); }
    public function area(): int { return parent::area() + 1; }
    public function __toString(): string { return 'square ' . $this->area(); }
}
function loop(array $a): int {
    $s = 0;
    foreach ($a as $i => $x) {
        if ($x & 1) $s += $x * $i; else $s -= $x;
        $s &= 0xffff;
    }
    return $s;
}
function callbacks(int $k): float {
    $a = [];
    for ($i = 0; $i < 40; $i++) $a[] = ($i * 7919 + $k) % 101;
    $body = function ($x) { $s = 0; for ($i = 0; $i < 12; $i++) $s += ($x ^ $i) & 7; return $s; };
    $s = array_sum(array_map($body, $a));
    $s += array_reduce(array_filter($a, fn($x) => $x % 3 === 0), fn($x, $y) => $x + $y, 0);
    usort($a, function ($x, $y) { $d = 0; for ($i = 0; $i < 4; $i++) $d += ($x - $y); return $d <=> 0; });
    array_walk($a, function (&$x, $i) { $x = $x + $i; });
    $s += strlen(preg_replace_callback('/[0-9]+/', fn($m) => $m[0] . 'x', 'a1b22c333'));
    return $s + call_user_func_array('many', [1, 2, 3]) + call_user_func('loop', $a);
}
function shapes(int $k): int {
    $list = [new Shape(1, $k), new Square($k & 7), new Shape($k & 3, 4)];
    usort($list, ['Shape', 'compare']);
    $s = 0;
    foreach ($list as $x) $s += $x->area() + $x->missing;
    return $s + strlen((string) new Square(3));
}
function strings(int $k): int {
    $s = '';
    for ($i = 0; $i < 20; $i++) { $s .= chr(97 + ($i + $k) % 26); if ($s[$i] === 'c') $s .= 'x'; else $s .= $i; }
    switch ($s[0]) { case 'a': return 1; case 'b': return 2; default: return ord($s[1]) + intdiv($k, 3); }
}
$count = counter(3);
for ($k = 0, $sum = 0; ; $k++) {
    $sum += fib(10) + $count() + spilled($k) + callbacks($k) + shapes($k) + generators(20) + strings($k);
    for ($i = 0; $i < 4; $i++) $sum += catcher($i);
    if ($k % 64 === 0 && file_exists($argv[1])) break;
    clearstatcache();
}
