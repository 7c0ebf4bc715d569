/* Two hot functions: one that tells primes, one that counts them. */
#include <stdio.h>

static int is_prime(int n)
{
	for (int i = 2; i * i <= n; i++)
		if (n % i == 0)
			return 0;
	return n > 1;
}

static int count_primes(int limit)
{
	int count = 0;
	for (int n = 0; n < limit; n++)
		count += is_prime(n);
	return count;
}

int main(void)
{
	printf("%d\n", count_primes(2000000));
	return 0;
}
