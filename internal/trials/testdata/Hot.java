// The program of the trials: see README.md.
import java.io.IOException;
import java.nio.file.*;
import sun.misc.Signal;

public class Hot {
    static long inner(long x) { return (x * 31 + 7) % 1000003; }

    static long early(long n) { long x = n; for (int i = 0; i < 20000; i++) x = inner(x); return x; }

    static long hot(long n) { long x = n; for (int i = 0; i < 20000; i++) x = inner(x); return x; }

    static long sum;

    static void warm(boolean first, long milliseconds) {
        for (long end = System.currentTimeMillis() + milliseconds; System.currentTimeMillis() < end;)
            sum += first ? early(sum & 1023) : hot(sum & 1023);
    }

    static void sign(String name, String text) {
        try {
            Files.writeString(Path.of(System.getenv("TRIAL_SIGNS"), name), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new RuntimeException(e);
        }
    }

    static void handle(String name) {
        Signal.handle(new Signal(name), signal -> {
            sign("signals", "SIG" + name + "\n");
            new Thread(() -> {
                try {
                    Thread.sleep(400); // a second one would be counted
                } catch (InterruptedException e) {
                }
                System.exit(7);
            }).start();
        });
    }

    public static void main(String[] args) {
        String mode = System.getenv().getOrDefault("TRIAL_MODE", "normal");
        System.out.println("out: begin");
        System.err.println("err: begin");
        if (mode.equals("work")) {
            for (int i = 0, n = Integer.parseInt(System.getenv("TRIAL_WORK")); i < n; i++) sum += hot(i & 1023);
            return;
        }
        warm(true, 100);
        warm(false, Integer.parseInt(System.getenv().getOrDefault("TRIAL_TIME", "600")));
        if (mode.equals("handler")) {
            handle("INT");
            handle("TERM");
        }
        if (mode.equals("busy") || mode.equals("handler")) {
            sign("ready", ProcessHandle.current().pid() + "\n");
            for (;;) sum += hot(1);
        }
        System.out.println("out: end");
        if (mode.equals("code")) System.exit(7);
    }
}
