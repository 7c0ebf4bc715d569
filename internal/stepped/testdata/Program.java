// A program for the step test: what HotSpot compiles in different ways, in rounds, until the
// file that its argument names exists.
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;

public class Program {
    static volatile long sink;

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    static long many(long a, long b, long c, long d, long e, long f, long g, long h, int i, double p, double q, Object o) {
        return a + b * 2 + c * 3 + d + e + f + g * (h ^ i) + (long) (p * q) + (o == null ? 1 : 0);
    }

    static long spilled(long n) {
        long a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5, g = n + 6, h = n + 7, s = 0;
        for (int i = 0; i < 6; i++) {
            s += many(a, b, c, d, e, f, g, h, i, a * 0.5, b * 0.25, null);
            a += b & 3; b += a & 5; c ^= b; d += c & 7; e ^= d; f += e & 1; g ^= f; h += g & 3;
        }
        return a + b + c + d + e + f + g + h + s;
    }

    static int thrower(int n) {
        if (n == 0) throw new IllegalStateException("bottom");
        return thrower(n - 1) + 1;
    }

    static int catcher(int n) {
        try { return thrower(n); } catch (IllegalStateException e) { return e.getMessage().length(); } finally { sink++; }
    }

    // It has no stack trace, so that most of the time passes in compiled code.
    static final RuntimeException QUICK = new RuntimeException(null, null, false, false) { };

    static int deep(int n) {
        if (n == 0) throw QUICK;
        return deep(n - 1) + 1;
    }

    static int shallow(int n) {
        try { return deep(n); } catch (RuntimeException e) { return 1; }
    }

    static int implicit(int[] a, Object o, int k) {
        try { return a[k] + 10 / (k & 3) + o.hashCode(); } catch (RuntimeException e) { return -1; }
    }

    interface Shape { int area(int k); }
    static class Square implements Shape { int w = 3; public int area(int k) { return w * w + k; } }
    static class Line implements Shape { public int area(int k) { return 0; } }
    static class Circle implements Shape { double r = 1; public int area(int k) { return (int) (r * 3.14) + k; } }
    static final Shape[] SHAPES = {new Square(), new Line(), new Circle()};

    static synchronized int locked(int k) { synchronized (SHAPES) { return SHAPES[k % 3].area(k); } }

    static long callbacks(int k) {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < 24; i++) list.add((i * 7919 + k) % 101);
        list.sort(Comparator.comparingInt(x -> -x));
        Map<Integer, Integer> map = new HashMap<>();
        for (int x : list) map.merge(x & 7, 1, Integer::sum);
        IntUnaryOperator twice = x -> x * 2 + k;
        return list.stream().filter(x -> x % 3 == 0).mapToInt(Integer::intValue).map(twice).sum()
            + map.size() + Arrays.stream(new int[] {3, 1, k}).sorted().findFirst().getAsInt();
    }

    static int strings(int k) {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < 6; i++) s.append((char) ('a' + (i + k) % 26)).append(i);
        switch (s.substring(0, 1)) { case "a": return 1; case "b": return 2; default: return s.toString().hashCode(); }
    }

    static void rounds(String stop) {
        File file = new File(stop);
        long sum = 0;
        int[] a = {1, 2, 3};
        for (int k = 0; k % 256 != 0 || !file.exists(); k++) {
            sum += fib(7) + spilled(k) + callbacks(k) + locked(k) + strings(k) + implicit(a, k % 7 == 0 ? null : a, k & 3);
            sum += shallow(k & 7);
            if (k % 8 == 0) sum += catcher(k & 3);
        }
        sink = sum;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t = new Thread(() -> rounds(args[0]), "stepped");
        t.start();
        t.join();
    }
}
