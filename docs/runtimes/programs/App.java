// Two hot methods: one that tells primes, one that counts them.
public class App {
    static boolean isPrime(int n) {
        for (int i = 2; i * i <= n; i++) {
            if (n % i == 0) return false;
        }
        return n > 1;
    }

    static int countPrimes(int limit) {
        int count = 0;
        for (int n = 0; n < limit; n++) {
            if (isPrime(n)) count++;
        }
        return count;
    }

    public static void main(String[] args) {
        int total = 0;
        for (int i = 0; i < 60; i++) total += countPrimes(60000);
        System.out.println(total);
    }
}
