/** Leaves while the compilers have much to do. */
public class Exit {
    public static void main(String[] args) {
        Thread busy = new Thread(() -> {
            for (int i = 0;; i++) {
                String.format("%d %s %x", i, "text", i * 31L).chars().map(c -> c ^ 7).sorted().sum();
            }
        });
        busy.setDaemon(true);
        busy.start();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        while (System.nanoTime() < end) {
        }
        System.out.println("done true");
        System.exit(0);
    }
}
