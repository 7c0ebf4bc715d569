// Two hot methods: one that tells primes, one that counts them.
using System;

public static class App {
    static bool IsPrime(int n) {
        for (int i = 2; i * i <= n; i++) {
            if (n % i == 0) return false;
        }
        return n > 1;
    }

    static int CountPrimes(int limit) {
        int count = 0;
        for (int n = 0; n < limit; n++) {
            if (IsPrime(n)) count++;
        }
        return count;
    }

    public static void Main(string[] args) {
        Console.WriteLine(CountPrimes(args.Length > 0 ? int.Parse(args[0]) : 1500000));
    }
}
