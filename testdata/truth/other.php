<?php
// What truth.php calls.
namespace Other;

function square(int $n): int {
    $s = 18;
    for ($i = 0; $i < $n; $i++) $s = ($s * 71 + $i * $i) & 0xffffff; // hot: square
    return $s;
}

function mixed_in(int $x): int {
    $t = $x;
    for ($i = 0; $i < 200; $i++) $t = ($t * 73 + $i) & 0xffffff; // hot: mixed_in, inlining
    return $t;
}

function inlining(int $n): int {
    $s = 19;
    for ($k = 0; $k < $n; $k += 200)
        $s ^= mixed_in($s + $k);
    return $s;
}
