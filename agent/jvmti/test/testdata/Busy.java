import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Threads that load copies of a class, get it compiled with what it calls, and drop it.
 *
 * <p>Busy MILLISECONDS CLASSES END works until both are over: the time, and so many classes were
 * unloaded. Then it says so and ends, by END: return, exit (System.exit while the threads work),
 * halt, or sleep (until a signal comes). wait waits for the end of standard input, works on for as
 * long as before, and returns.
 */
public class Busy {
    public static class Work implements IntUnaryOperator {
        private int mix(int a) {
            return a * 31 ^ a >>> 7;
        }

        public int applyAsInt(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += mix(i) + Math.abs(mix(sum));
            }
            return sum;
        }
    }

    static class Loader extends ClassLoader {
        IntUnaryOperator work(byte[] code) throws Exception {
            return (IntUnaryOperator) defineClass("Busy$Work", code, 0, code.length).getDeclaredConstructor().newInstance();
        }
    }

    static volatile boolean stop;
    static volatile int result;

    static void work(byte[] code, int seed) {
        try {
            for (int round = seed; !stop; round++) {
                IntUnaryOperator own = new Loader().work(code);
                for (int i = 0; i < 100; i++) {
                    result += own.applyAsInt(2000);
                }
                List<String> texts = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    texts.add(String.format("%d %s", i + round, new StringBuilder("text").append(i).reverse()));
                }
                result += texts.stream().mapToInt(s -> s.chars().map(c -> c ^ 7).sum()).sum();
                if (round % 16 == 0) {
                    System.gc();
                }
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    static void run(long milliseconds, long classes) throws Exception {
        var loading = ManagementFactory.getClassLoadingMXBean();
        long end = System.nanoTime() + milliseconds * 1_000_000;
        long enough = loading.getUnloadedClassCount() + classes;
        while (System.nanoTime() < end || loading.getUnloadedClassCount() < enough) {
            Thread.sleep(10);
        }
        System.out.println("done true " + loading.getUnloadedClassCount());
    }

    public static void main(String[] args) throws Exception {
        byte[] code;
        try (InputStream in = Busy.class.getResourceAsStream("Busy$Work.class")) {
            code = in.readAllBytes();
        }
        Thread[] threads = new Thread[12];
        for (int t = 0; t < threads.length; t++) {
            int seed = t;
            threads[t] = new Thread(() -> work(code, seed));
            threads[t].start();
        }
        long milliseconds = Long.parseLong(args[0]), classes = Long.parseLong(args[1]);
        run(milliseconds, classes);
        switch (args[2]) {
            case "exit":
                System.exit(0);
            case "halt":
                Runtime.getRuntime().halt(0);
            case "sleep":
                Thread.sleep(60_000);
                System.exit(1);
            case "wait":
                while (System.in.read() >= 0) {
                }
                run(milliseconds, classes);
        }
        stop = true;
        for (Thread t : threads) {
            t.join();
        }
    }
}
