/* Two functions: one tells primes, one counts them. A loop that calls, so that the
   engine's optimizing compiler has a reason to take it. */
__attribute__((noinline)) static int is_prime(int n)
{
	for (int i = 2; i * i <= n; i++)
		if (n % i == 0)
			return 0;
	return n > 1;
}

__attribute__((export_name("countPrimes"))) int count_primes(int limit)
{
	int count = 0;
	for (int n = 0; n < limit; n++)
		count += is_prime(n);
	return count;
}
