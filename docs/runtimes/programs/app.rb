# Two hot methods: one that tells primes, one that counts them.
def prime?(n)
  i = 2
  while i * i <= n
    return false if n % i == 0
    i += 1
  end
  n > 1
end

def count_primes(limit)
  (0...limit).count { |n| prime?(n) }
end

puts count_primes(500_000)
