<?php
// Two hot functions: one that tells primes, one that counts them.
function isPrime(int $n): bool
{
    for ($i = 2; $i * $i <= $n; $i++) {
        if ($n % $i === 0) {
            return false;
        }
    }
    return $n > 1;
}

function countPrimes(int $limit): int
{
    $count = 0;
    for ($n = 0; $n < $limit; $n++) {
        if (isPrime($n)) {
            $count++;
        }
    }
    return $count;
}

echo countPrimes(1500000), "\n";
