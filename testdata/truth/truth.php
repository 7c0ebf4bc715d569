<?php
// Functions of many shapes. Each spends its time on one line, which a comment marks: see
// internal/truth. PHP's dump has names only.
// php -d opcache.enable_cli=1 ... truth.php [MILLISECONDS for each function]
require __DIR__ . '/other.php';

const N = 20000;

function declared(int $n): int {
    $s = 1;
    for ($i = 0; $i < $n; $i++) $s = ($s * 31 + $i) & 0xffffff; // hot: declared
    return $s;
}

trait Walks {
    function walk(int $n): int {
        $s = 2;
        for ($i = 0; $i < $n; $i++) $s = ($s * 33 + $i) & 0xffffff; // hot: walk
        return $s;
    }
}

abstract class Shape {
    abstract function area(): int;

    function inherited(int $n): int {
        $s = $this->area();
        for ($i = 0; $i < $n; $i++) $s = ($s * 35 + $i) & 0xffffff; // hot: inherited
        return $s;
    }
}

final class Point extends Shape {
    use Walks;
    private int $x = 1;

    function __construct(int $n = 1) {
        $s = 3;
        for ($i = 0; $i < $n; $i++) $s = ($s * 37 + $i) & 0xffffff; // hot: __construct
        $this->x = $s;
    }

    function area(): int {
        return 7;
    }

    function method(int $n): int {
        $s = $this->x;
        for ($i = 0; $i < $n; $i++) $s = ($s * 39 + $i) & 0xffffff; // hot: method
        return $s;
    }

    function __get(string $name): int {
        $s = 4;
        for ($i = 0; $i < N; $i++) $s = ($s * 41 + $i) & 0xffffff; // hot: __get
        return $s;
    }

    function __call(string $name, array $more): int {
        $s = 5;
        for ($i = 0; $i < $more[0]; $i++) $s = ($s * 43 + $i) & 0xffffff; // hot: __call
        return $s;
    }

    static function still(int $n): int {
        $s = 6;
        for ($i = 0; $i < $n; $i++) $s = ($s * 45 + $i) & 0xffffff; // hot: still
        return $s;
    }

    function __invoke(int $n): int {
        $s = 8;
        for ($i = 0; $i < $n; $i++) $s = ($s * 47 + $i) & 0xffffff; // hot: __invoke
        return $s;
    }
}

function generator(int $n): Generator {
    $s = 9;
    for ($i = 0; $i < $n; $i++) $s = ($s * 49 + $i) & 0xffffff; // hot: generator
    yield $s;
}

function drained(int $n): int {
    foreach (generator($n) as $s) {
    }
    return $s;
}

function caught(int $n): int {
    $s = 10;
    try {
        for ($i = 0; $i < $n; $i++) $s = ($s * 51 + $i) & 0xffffff; // hot: caught
        throw new Exception('thrown');
    } catch (Exception $e) {
        $s++;
    } finally {
        $s--;
    }
    return $s;
}

function recursive(int $n): int {
    if ($n <= 0) return 0;
    $s = 11;
    for ($i = 0; $i < 2000; $i++) $s = ($s * 53 + $i) & 0xffffff; // hot: recursive
    return $s ^ recursive($n - 2000);
}

function callback(int $x): int {
    $s = $x;
    for ($i = 0; $i < 2000; $i++) $s = ($s * 55 + $i) & 0xffffff; // hot: callback
    return $s;
}

function higherOrder(int $n): int {
    return count(array_map('callback', range(1, 10)));
}

function compare(int $a, int $b): int {
    $s = $a;
    for ($i = 0; $i < 6000; $i++) $s = ($s * 57 + $i) & 0xffffff; // hot: compare
    return $a - $b;
}

function ordered(int $n): int {
    $kept = [3, 1, 2];
    usort($kept, 'compare');
    return $kept[0];
}

function referenced(int &$s, int $n): int {
    $t = $s;
    for ($i = 0; $i < $n; $i++) $t = ($t * 59 + $i) & 0xffffff; // hot: referenced
    return $s = $t;
}

function floats(int $n): float {
    $s = 0.5;
    for ($i = 0; $i < $n; $i++) $s = $s * 0.999 + 0.25; // hot: floats
    return $s;
}

function arrays(int $n): int {
    $a = [1, 2, 3, 4, 5, 6, 7, 8];
    $s = 12;
    for ($i = 0; $i < $n; $i++) $s = ($s + $a[$i & 7]) & 0xffffff; // hot: arrays
    return $s;
}

function whiled(int $n): int {
    $s = 13;
    while ($n > 0) $s = ($s * 61 + $n--) & 0xffffff; // hot: whiled
    return $s;
}

function done(int $n): int {
    $s = 14;
    do $s = ($s * 63 + $n) & 0xffffff; while (--$n > 0); // hot: done
    return $s;
}

function matched(int $n): int {
    $s = 15;
    for ($i = 0; $i < $n; $i++) $s = match ($s & 3) { 0 => $s + $i, 1 => $s ^ $i, 2 => $s - 5, 3 => ($s * 7) & 0xffffff }; // hot: matched
    return $s;
}

function nested(int $n): int {
    $s = 16;
    for ($i = 0; $i < 100; $i++) for ($k = 0; $k < $n / 100; $k++) $s = ($s * 65 + $k) & 0xffffff; // hot: nested
    return $s;
}

function variadic(int ...$more): int {
    $s = count($more);
    for ($i = 0; $i < $more[0]; $i++) $s = ($s * 67 + $i) & 0xffffff; // hot: variadic
    return $s;
}

$closure = function (int $n): int {
    $s = 17;
    for ($i = 0; $i < $n; $i++) $s = ($s * 69 + $i) & 0xffffff; // hot: closure
    return $s;
};

$point = new Point();
$functions = [
    'declared', [$point, 'walk'], [$point, 'inherited'], fn(int $n) => new Point($n), [$point, 'method'], fn(int $n) => $point->read,
    fn(int $n) => $point->absent($n), ['Point', 'still'], $point, 'drained', 'caught', 'recursive', 'higherOrder', 'ordered',
    function (int $n) { static $s = 1; return referenced($s, $n); }, 'floats', 'arrays', 'whiled', 'done', 'matched', 'nested', 'variadic',
    $closure, 'Other\square', 'Other\inlining',
];
$milliseconds = (int) ($argv[1] ?? 40);
foreach ($functions as $f)
    for ($end = hrtime(true) + $milliseconds * 1000000; hrtime(true) < $end;) $f(N);
echo count($functions), " functions\n";
