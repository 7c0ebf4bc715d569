# Two hot functions: one that tells primes, one that counts them.
def is_prime(n):
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return n > 1


def count_primes(limit):
    return sum(1 for n in range(limit) if is_prime(n))


print(count_primes(200000))
