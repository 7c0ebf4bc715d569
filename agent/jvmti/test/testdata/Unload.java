import java.io.InputStream;
import java.util.function.IntUnaryOperator;

/** Threads that load copies of a class, get them compiled and drop them. */
public class Unload {
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
        final byte[] code;

        Loader(byte[] code) {
            this.code = code;
        }

        Class<?> work() {
            return defineClass("Unload$Work", code, 0, code.length);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] code;
        try (InputStream in = Unload.class.getResourceAsStream("Unload$Work.class")) {
            code = in.readAllBytes();
        }
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        Thread[] threads = new Thread[6];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                try {
                    for (int round = 0; System.nanoTime() < end; round++) {
                        var work = (IntUnaryOperator) new Loader(code).work().getDeclaredConstructor().newInstance();
                        for (int i = 0; i < 200; i++) {
                            work.applyAsInt(2000);
                        }
                        if (round % 16 == 0) {
                            System.gc();
                        }
                    }
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
            threads[t].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("done true");
    }
}
