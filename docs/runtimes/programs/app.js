// Two hot functions: one that counts primes, one that joins strings.
function isPrime(n) {
  for (let i = 2; i * i <= n; i++) {
    if (n % i === 0) return false;
  }
  return n > 1;
}

function countPrimes(limit) {
  let count = 0;
  for (let n = 0; n < limit; n++) {
    if (isPrime(n)) count++;
  }
  return count;
}

let total = 0;
for (let i = 0; i < 40; i++) total += countPrimes(60000);
console.log(total);
