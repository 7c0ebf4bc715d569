-- Two hot functions: one that tells primes, one that counts them.
local function isPrime(n)
  local i = 2
  while i * i <= n do
    if n % i == 0 then return false end
    i = i + 1
  end
  return n > 1
end

local function countPrimes(limit)
  local count = 0
  for n = 0, limit do
    if isPrime(n) then count = count + 1 end
  end
  return count
end

print(countPrimes(1500000))
